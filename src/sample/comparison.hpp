// Two runs side by side, by function and event: what changed, and what may be chance.
//
//   const Comparison comparison = compare_reports({before}, {after});
//   for (const ComparedTable& table : comparison.tables)
//     for (const ComparedRow& row : table.rows)
//       use(row.change());                       // more, less, or within what chance does
//
// An amount carries half of its 99 % interval. That of samples follows from their number: a
// function with n samples would have n + 2.6 sqrt(n) in another look at the same run. Counts of the
// virtual PMU have none. How much runs differ from each other is not in it: only several runs tell
// that. So a sum that was counted, and not sampled, has an unknown interval: that of slices, for
// instance. Too few samples to exclude that a half was added or taken away say nothing either.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample/report.hpp"

namespace loft::sample {

struct Amount {
  double value = 0;
  std::optional<double> error = 0;  // half of the 99 % interval; nothing: not known
};

enum class Change { none, more, less, unknown };
const char* to_string(Change change);

struct ComparedRow {
  std::string name;    // of the function, without what the compiler added; of the event of a run
  std::string binary;  // of the function in the second run, or else in the first
  std::optional<Amount> before, after;  // nothing: not known

  [[nodiscard]] std::optional<double> difference() const;
  // Half of the interval of the difference; nothing: not known.
  [[nodiscard]] std::optional<double> error() const;
  [[nodiscard]] Change change() const;
  [[nodiscard]] std::optional<double> ratio() const;  // nothing where the first is 0 or unknown
};

struct ComparedTable {
  std::string by;      // what rows are: "function" or "run"
  std::string metric;  // the event; empty where rows are events
  std::string unit;    // "s", "J", or empty for counts
  ComparedRow whole;
  std::vector<ComparedRow> rows;  // largest difference first
};

struct Comparison {
  std::string before_path, after_path;
  std::vector<ComparedTable> tables;
  std::vector<std::string> notes;
};

// Without the suffixes of clones: "f.constprop.0", "f.isra.1.part.2", "f(int) [clone .cold]" are f.
[[nodiscard]] std::string plain_function_name(std::string_view name);

// Both are by function, with all rows. `is_exact` of a recording whose periods were counted, not
// sampled.
struct ComparedReport {
  const Report& report;
  bool is_exact = false;
};
[[nodiscard]] Comparison compare_reports(const ComparedReport& before, const ComparedReport& after);

// Half of the 99 % interval of a sum of samples. Where there is none, some may have been missed.
[[nodiscard]] double sampling_error(const Weight& weight, double mean_period);

}  // namespace loft::sample
