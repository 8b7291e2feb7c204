// Evaluated metrics as text, CSV or JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "metric/evaluation.hpp"

namespace loft::view {

// One line for each metric, what is missing and why, then the constants with their origins.
std::string metrics_text(std::span<const metric::Evaluated> metrics);
std::string metrics_csv(std::span<const metric::Evaluated> metrics);
std::string metrics_json(std::span<const metric::Evaluated> metrics);

// Metrics over the rows of a table: one column each.
struct MetricColumns {
  std::vector<std::string> labels;  // of the rows; may be empty
  std::vector<std::string> names;
  std::vector<metric::Unit> units;
  std::vector<std::vector<double>> values;  // in units; NaN is not available
  std::vector<std::string> kinds;           // of each metric
};
std::string metric_columns_csv(const MetricColumns& columns);
std::string metric_columns_json(const MetricColumns& columns);

}  // namespace loft::view
