// The target that reads metrics.
#include <cstdlib>

#include "fuzz/targets.hpp"
#include "metric/check.hpp"
#include "metric/counts_file.hpp"
#include "metric/reader.hpp"

namespace loft::fuzz {

// What was read must be written and read again without complaint.
void fuzz_metric(Bytes bytes) {
  using namespace metric;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Format format : {Format::loft, Format::papi, Format::papi_xml, Format::papi_csv,
                              Format::likwid, Format::perf}) {
    const MetricFile file = read_metrics("fuzz", text, format);
    Library library;
    library.add(file, Tier::command);
    (void)check_definitions(library, file, {});
    for (const Definition& definition : file.definitions) {
      const auto again = parse_infix(to_infix(definition.formula));
      // A name with both kinds of quotes cannot be written; everything else must come back.
      if (again && to_rpn(*again) != to_rpn(definition.formula)) {
        std::fprintf(stderr, "%s\nbecame %s\n", to_rpn(definition.formula).c_str(),
                     to_infix(definition.formula).c_str());
        std::abort();
      }
    }
    (void)write_papi(file);
    (void)write_papi_xml(file);
    (void)read_loft("again", write_loft(file));
  }
  (void)read_counts("fuzz", text);
}

}  // namespace loft::fuzz
