// Metrics over the rows of a table of counts.
//
//   const TableColumns table(file);                       // a CountsFile that has rows
//   const MetricColumns columns = evaluate_table(programs, table);
//   columns.values[0][7]                                  // of its eighth row; NaN: not available
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metric/counts_file.hpp"
#include "metric/program.hpp"

namespace loft::metric {

// Columns by the names that formulas use for them.
class TableColumns {
 public:
  explicit TableColumns(const CountsFile& file);

  // Null when there is none, or several of the same plain name.
  [[nodiscard]] const Column* find(std::string_view name) const;
  [[nodiscard]] const CountsFile& file() const { return *file_; }

 private:
  const CountsFile* file_;
  std::map<std::string, const Column*, std::less<>> plain_;
};

// One column for each metric.
struct MetricColumns {
  std::vector<std::string> labels;  // of the rows; may be empty
  std::vector<std::string> names;
  std::vector<Unit> units;
  std::vector<std::vector<double>> values;  // in units; NaN is not available
  std::vector<std::string> kinds;           // of each metric
  // Of each metric, in its unit: half of the 95 % interval, where it is a model that knows it.
  std::vector<std::optional<double>> errors;
};

// Labels are those of the first column that is text.
[[nodiscard]] MetricColumns evaluate_table(std::span<const Program> programs,
                                           const TableColumns& table);

}  // namespace loft::metric
