// Runs the program of a rank, once, and puts what was measured into its summary.
//
//   LOFT_CHECK(measure_time({"./app"}, {}, run.summary()));      // where its time goes, sampled
//   LOFT_CHECK(measure_work({"./app"}, events, run.summary()));  // what it does, exactly
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"
#include "job/summary.hpp"
#include "roof/counters.hpp"

namespace loft::job {

// As the program is, sampled; `events` are counted and sampled beside its time.
[[nodiscard]] Result<void> measure_time(const std::vector<std::string>& command,
                                        const std::vector<event::Event>& events,
                                        RankSummary& summary);
// Time and work in one run: by counters of the machine, or under the virtual PMU, whose time is an
// estimate.
[[nodiscard]] Result<void> measure_both(const std::vector<std::string>& command,
                                        const roof::WorkCounters& counters, RankSummary& summary);
[[nodiscard]] Result<void> measure_both_once(const std::vector<std::string>& command,
                                             RankSummary& summary);
// Under the virtual PMU, by function.
[[nodiscard]] Result<void> measure_work(const std::vector<std::string>& command,
                                        const std::vector<event::Event>& events,
                                        RankSummary& summary);

}  // namespace loft::job
