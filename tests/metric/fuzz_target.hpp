// What is thrown at the readers of metrics and counts: any bytes, in every format. Nothing may
// crash, hang or recurse; what was read must be written and read again without complaint.
#pragma once

#include <cstdlib>
#include <string_view>

#include "metric/check.hpp"
#include "metric/counts_file.hpp"
#include "metric/reader.hpp"

namespace loft::metric {

inline void fuzz_metrics(std::string_view text) {
  for (const Format format : {Format::loft, Format::papi, Format::papi_xml, Format::papi_csv,
                              Format::likwid, Format::perf}) {
    const MetricFile file = read_metrics("fuzz", text, format);
    Library library;
    library.add(file, Tier::command);
    (void)check_definitions(library, file, {});
    for (const Definition& definition : file.definitions) {
      const auto again = parse_infix(to_infix(definition.formula));
      // A name with both kinds of quotes cannot be written; everything else must come back.
      if (again && to_rpn(*again) != to_rpn(definition.formula)) std::abort();
    }
    (void)write_papi(file);
    (void)write_papi_xml(file);
    (void)read_loft("again", write_loft(file));
  }
  (void)read_counts("fuzz", text);
}

}  // namespace loft::metric
