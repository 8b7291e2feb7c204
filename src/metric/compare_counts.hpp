// Two results of `loft stat` or `loft roof` side by side, by event and by function.
//
//   LOFT_TRY(const CountedRun before, read_counted_run("a.json", text));
//   add_counts(before, after, comparison);
//
// What the virtual PMU counted is exact. What was counted in several runs has their interval. What
// one run counted otherwise has none: nobody knows how much it varies. The time of a function is
// sampled; of a roofline it has the interval that stands in the file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "sample/comparison.hpp"

namespace loft::metric {

struct CountedRun {
  std::map<std::string, sample::Amount> events;
  std::map<std::string, std::string> units;  // of those that are no plain counts: "s", "B"
  std::map<std::string, std::map<std::pair<std::string, std::string>, sample::Amount>> functions;
};

// JSON of `loft stat`, `loft check` or `loft roof`; any other text that read_counts() knows,
// without functions.
[[nodiscard]] Result<CountedRun> read_counted_run(const std::string& file_name,
                                                  std::string_view text);

void add_counts(const CountedRun& before, const CountedRun& after, sample::Comparison& comparison);

}  // namespace loft::metric
