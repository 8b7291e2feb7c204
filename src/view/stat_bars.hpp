// Metrics that add up, drawn as stacked bars: of the whole run and of each function what every
// metric contributes, as the LCPI categories do to the cycles per instruction.
//
//   LOFT_TRY(const std::string svg, stat_svg(run, metrics));    // of metrics of one unit
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metric/run_counts.hpp"
#include "sample/counting.hpp"

namespace loft::view {

struct StackedBars {
  struct Part {
    std::string name;
    std::string description;
  };
  struct Row {
    std::string name;
    std::vector<std::optional<double>> values;  // aligned with the parts, in the unit
    bool is_estimated = false;                  // one of them was scaled or modelled
    // Nothing where one of the values is not known.
    [[nodiscard]] std::optional<double> sum() const;
  };
  std::string title;
  std::string unit;
  std::vector<Part> parts;
  std::vector<Row> rows;           // the whole run first, then functions, those with most first
  std::vector<std::string> notes;  // what is not drawn, and why
};

// Of the metrics that have the unit of the first one with a value, and of the functions with at
// least 0.5 % of the first event. An error where no metric has a value.
[[nodiscard]] Result<StackedBars> stacked_bars(const sample::RunCounts& run,
                                               const metric::RunMetrics& metrics);
[[nodiscard]] std::string bars_svg(const StackedBars& bars);
[[nodiscard]] Result<std::string> stat_svg(const sample::RunCounts& run,
                                           const metric::RunMetrics& metrics);

}  // namespace loft::view
