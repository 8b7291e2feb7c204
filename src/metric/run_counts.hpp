// A counting run as operands of formulas, and the metrics that follow from it.
//
//   LOFT_TRY(const Request request, read_request(lists, resolver, load_library));
//   const RunMetrics metrics = evaluate_run(request, run);   // of counts of request.events
//   metrics.total[0]                 // of the whole run, with its interval where one is known
//   metrics.threads[t][0]            // the same metric of one thread
#pragma once

#include <span>
#include <vector>

#include "metric/evaluation.hpp"
#include "metric/request.hpp"
#include "metric/uncertainty.hpp"
#include "sample/counting.hpp"

namespace loft::metric {

// The total of an event in base units: seconds, not nanoseconds.
Quantity quantity_of(const sample::CountedEvent& event);

// Totals by event name in base units, and the wall-clock time as "time".
CountSet counts_of(const sample::RunCounts& run);

// What multiplexed groups counted in the intervals of the run. Events that ran for the same time in
// every interval were one group.
std::vector<GroupWindows> windows_of(const sample::RunCounts& run);

// Values of parts are aligned with the parts of the run, and each part's with `total`.
struct RunMetrics {
  std::vector<Evaluated> total;
  std::vector<std::optional<Interval>> events;  // 95 % of scaled counts, as `value()` gives them
  std::vector<std::vector<Value>> threads;
  std::vector<std::vector<Value>> cpus;
  std::vector<std::vector<Value>> functions;
  std::vector<std::vector<Value>> intervals;
};

// The run's events are those of the request, in its order.
RunMetrics evaluate_run(const Request& request, const sample::RunCounts& run);

// The 95 % interval of an event's total in its unit: from repeated runs, or of a scaled count.
std::optional<Interval> interval_of(const sample::CountedEvent& event, const RunMetrics& metrics,
                                    std::size_t index);

// The metrics of one interval, while the run goes on.
std::vector<Value> evaluate_interval(const Request& request, const sample::RunCounts& frame,
                                     const sample::IntervalCounts& interval);

// The counts and metrics that had to share counters and are not known to within `target` (0.05: the
// half-width of the interval is 5 % of the value). One without an interval is not known.
std::vector<std::string> uncertain(const sample::RunCounts& run, const RunMetrics& metrics,
                                   double target);

}  // namespace loft::metric
