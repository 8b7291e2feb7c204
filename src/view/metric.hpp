// Evaluated metrics as text, CSV or JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metric/evaluation.hpp"
#include "metric/run_counts.hpp"
#include "metric/table.hpp"

namespace loft::view {

// One line for each metric, what is missing and why, then the constants with their origins.
std::string metrics_text(std::span<const metric::Evaluated> metrics);
std::string metrics_csv(std::span<const metric::Evaluated> metrics);
std::string metrics_json(std::span<const metric::Evaluated> metrics);

// Metrics over the rows of a table: one column each.
std::string metric_columns_csv(const metric::MetricColumns& columns);
std::string metric_columns_json(const metric::MetricColumns& columns);

}  // namespace loft::view
