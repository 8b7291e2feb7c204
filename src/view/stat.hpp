// A counting run as text, CSV or JSON.
#pragma once

#include <span>
#include <string>

#include "metric/run_counts.hpp"
#include "sample/code_details.hpp"
#include "sample/counting.hpp"

namespace loft::view {

// Metrics are those that were asked for beside the events; details what else is to be shown.
// A table for people. Estimates carry "~" and the share of time they were counted.
std::string stat_text(const sample::RunCounts& run, const metric::RunMetrics& metrics = {},
                      const sample::CodeDetails& details = {});

// One line per event (and per thread, CPU or interval where these were asked for), with a header.
std::string stat_csv(const sample::RunCounts& run, const metric::RunMetrics& metrics = {},
                     const sample::CodeDetails& details = {});

// One object, schema "loft.stat/1".
std::string stat_json(const sample::RunCounts& run, const metric::RunMetrics& metrics = {},
                      const sample::CodeDetails& details = {});

// The lines of one interval, for printing while the program runs. `values` are those of the metrics
// that were asked for.
std::string interval_text(const sample::RunCounts& frame, const sample::IntervalCounts& interval,
                          std::span<const metric::Program> metrics = {},
                          std::span<const metric::Value> values = {});

}  // namespace loft::view
