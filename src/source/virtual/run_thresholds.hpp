// The thresholds of one run: from what was asked for to what became of it.
//
//   LOFT_CHECK(check_thresholds(request));
//   RunThresholds thresholds(request, shared, unit, events);
//   LOFT_CHECK(thresholds.start(now));                       // before the program starts
//   ... thresholds.outcomes()
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "source/virtual/threshold_keeper.hpp"

namespace loft::source::virtual_pmu {

// Whether each is on an event whose count is known within a block, and can be reached.
[[nodiscard]] Result<void> check_thresholds(const CountRequest& request);

class RunThresholds {
 public:
  // The unit has a counter for each of `events`, which are those of the request that the engine
  // counts, and one for each threshold behind them.
  RunThresholds(const CountRequest& request, engine::Shared& shared, EventUnit& unit,
                const std::vector<engine::EventIndex>& events);

  // `now` tells the time since the run began.
  [[nodiscard]] Result<void> start(std::function<Nanoseconds()> now);

  // Aligned with the thresholds of the request. Counts of snapshots are those of `events`.
  struct Outcome {
    sample::ThresholdOutcome what;
    std::vector<std::uint64_t> counts;
  };
  [[nodiscard]] std::vector<Outcome> outcomes() const;
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  void note_reached(std::size_t number, std::uint32_t slot,
                    const std::vector<std::uint64_t>& counts);

  const CountRequest& request_;
  engine::Shared& shared_;
  std::size_t events_;
  std::function<Nanoseconds()> now_;
  mutable std::mutex mutex_;
  std::vector<Outcome> outcomes_;
  std::optional<ThresholdKeeper> keeper_;  // last: its thread uses the others
};

}  // namespace loft::source::virtual_pmu
