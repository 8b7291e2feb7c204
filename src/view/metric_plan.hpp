// A plan of metrics as text, CSV or JSON.
#pragma once

#include <string>

#include "metric/plan.hpp"

namespace loft::view {

std::string plan_text(const metric::MetricPlan& plan);
std::string plan_csv(const metric::MetricPlan& plan);
// {"schema":"loft.metric.plan/1","sets","events","groups","missing","counters"?,"constants"?}
std::string plan_json(const metric::MetricPlan& plan);

}  // namespace loft::view
