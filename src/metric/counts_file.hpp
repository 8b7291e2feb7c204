// Counts that were taken earlier, or by other tools.
//
//   LOFT_TRY(const CountsFile file, read_counts("run.csv", text));
//   program.evaluate(file.total)
//
// Understood are: what `loft stat` writes as CSV or JSON; `perf stat -x` (any separator, with -I
// too); `likwid-perfctr -O`; lines of a name and a value; and tables with one column for each event
// and one row for each slice, program or block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metric/counts.hpp"
#include "metric/uncertainty.hpp"

namespace loft::metric {

struct Column {
  std::string name;
  std::vector<double> numbers;     // NaN where the cell is empty or no number
  std::vector<std::string> texts;  // as written; only of columns that are not all numbers
};

struct CountsFile {
  std::string format;                 // "loft stat CSV", "perf stat", "LIKWID", "table", ...
  CountSet total;                     // of the whole run; empty for a table
  std::vector<GroupWindows> windows;  // where the file has intervals of multiplexed counts
  std::vector<Column> columns;        // of a table; all of the same length
  std::size_t rows = 0;

  [[nodiscard]] const Column* find_column(std::string_view name) const;
};

[[nodiscard]] Result<CountsFile> read_counts(const std::string& file_name, std::string_view text);

}  // namespace loft::metric
