// Metrics over the rows of a table of counts.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metric/counts_file.hpp"
#include "metric/program.hpp"
#include "view/metric.hpp"

namespace loft::cli {

// Columns by the names that formulas use for them.
class TableColumns {
 public:
  explicit TableColumns(const metric::CountsFile& file);

  // Null when there is none, or several of the same plain name.
  [[nodiscard]] const metric::Column* find(std::string_view name) const;
  [[nodiscard]] const metric::CountsFile& file() const { return *file_; }

 private:
  const metric::CountsFile* file_;
  std::map<std::string, const metric::Column*, std::less<>> plain_;
};

// Labels are those of the first column that is text.
view::MetricColumns evaluate_table(std::span<const metric::Program> programs,
                                   const TableColumns& table);

}  // namespace loft::cli
