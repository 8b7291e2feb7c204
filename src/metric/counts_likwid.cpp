// What `likwid-perfctr -O` writes: tables of raw counts, one column for each hardware thread.
#include <fmt/format.h>

#include "base/text.hpp"
#include "metric/counts_formats.hpp"

namespace loft::metric {
namespace {

// LIKWID prints 0 for what it could not count and "-" for what it did not; only the latter is told.
Quantity sum_of(const std::vector<std::string>& fields, std::size_t first) {
  Quantity sum{Number{}, sample::Origin::counted, {}};
  bool any = false;
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    const auto number = parse_number(fields[i]);
    if (!number) return Quantity::missing(fmt::format("LIKWID printed '{}'", fields[i]));
    const auto added = add(sum.value, *number);
    if (!added) return Quantity::missing("the sum is too large");
    sum.value = *added;
    any = true;
  }
  return any ? sum : Quantity::missing("no hardware thread counted it");
}

}  // namespace

Result<CountsFile> read_likwid_counts(const std::string& file_name, std::string_view text) {
  CountsFile file;
  file.format = "LIKWID";
  enum class Part { other, raw, metric } part = Part::other;
  bool has_time = false;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto fields = csv_fields(trim(line), ',');
    if (fields[0] == "TABLE") {
      const std::string& title = fields.size() > 1 ? fields[1] : fields[0];
      const bool statistics =
          title.find("STAT") != std::string::npos || title.find("Stat") != std::string::npos;
      part = statistics                                  ? Part::other
             : title.find("Raw") != std::string::npos    ? Part::raw
             : title.find("Metric") != std::string::npos ? Part::metric
                                                         : Part::other;
    } else if (fields[0] == "STRUCT") {
      part = Part::other;
    } else if (part == Part::raw && fields.size() > 2 && fields[0] != "Event") {
      // The line above the metrics: the program's run time, once for each hardware thread.
      if (fields[0] == "Runtime (RDTSC) [s]") continue;
      std::string name = fields[0];
      const auto colon = fields[1].find(':');
      if (colon != std::string::npos) name += fields[1].substr(colon);
      file.total.add(name, sum_of(fields, 2));
    } else if (part == Part::metric && fields[0] == "Runtime (RDTSC) [s]" && fields.size() > 1) {
      const auto seconds = parse_number(fields[1]);
      if (seconds && !has_time) file.total.add("time", Quantity::exact(*seconds));
      has_time = has_time || seconds.has_value();
    }
  }
  if (file.total.by_name().empty())
    return bad_counts(file_name, number, "no table of raw counts was found");
  return file;
}

}  // namespace loft::metric
