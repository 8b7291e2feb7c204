// Answers the threads of a program that come to a threshold, while it runs.
//
//   ThresholdKeeper keeper(shared, unit, events, thresholds, on_reached);
//   LOFT_CHECK(keeper.start());                    // before the program starts
//
// Who waits for a threshold's count may go on for as long as all threads together stay below it:
// each gets a part of what is left (engine/thresholds.hpp). When one has used up its part, the sums
// of all threads are read, exactly, and given to the counter unit, which says whether a threshold
// is reached. If not, what others did not use is taken back and given out again, ever less, down to
// the last event. So a threshold of one thread is met in the very block that crosses it; with
// several, the others may be a block further.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/shared.hpp"
#include "engine/tally.hpp"
#include "engine/thresholds.hpp"
#include "source/counting.hpp"
#include "source/virtual/event_unit.hpp"

namespace loft::source::virtual_pmu {

class ThresholdKeeper {
 public:
  // A counter of the unit, the event that it counts, and the count at which something happens.
  struct Watched {
    std::size_t counter = 0;
    engine::EventIndex event = 0;
    Threshold threshold;
  };
  // A threshold was reached, by the thread of that slot: which one, and all counts of that moment.
  using Reached = std::function<void(std::size_t watched, std::uint32_t slot,
                                     const std::vector<std::uint64_t>& counts)>;

  // `events` are those that the unit counts, in its order. `shared` and `unit` outlive this.
  ThresholdKeeper(engine::Shared& shared, EventUnit& unit, std::vector<engine::EventIndex> events,
                  std::vector<Watched> watched, Reached reached);
  // Lets go whoever waits, and whatever still runs.
  ~ThresholdKeeper();
  ThresholdKeeper(const ThresholdKeeper&) = delete;
  ThresholdKeeper& operator=(const ThresholdKeeper&) = delete;

  [[nodiscard]] Result<void> start();
  // Why it gave up, if it did: no threshold was watched from there on.
  [[nodiscard]] std::optional<Error> failure() const;

 private:
  struct State {
    bool is_reached = false;  // says the unit
    bool is_done = false;     // what was to happen has happened
  };

  void work(const std::stop_token& stop);
  void answer(std::uint32_t slot);
  [[nodiscard]] Result<int> serve(std::uint32_t slot);
  [[nodiscard]] Result<std::vector<std::uint64_t>> counts();
  [[nodiscard]] Result<int> act(std::uint32_t slot);
  [[nodiscard]] bool is_due(std::size_t watched) const {
    return states_[watched].is_reached && !states_[watched].is_done;
  }
  [[nodiscard]] Result<void> stop_counting();
  [[nodiscard]] std::uint64_t reserved(std::size_t watched);
  [[nodiscard]] bool share(std::uint32_t slot, const std::vector<std::uint64_t>& reserved,
                           const std::vector<std::uint64_t>& counts);
  [[nodiscard]] std::uint64_t part_of(std::size_t watched, std::uint64_t free);

  engine::Shared& shared_;
  EventUnit& unit_;
  std::vector<engine::EventIndex> events_;
  std::vector<Watched> watched_;
  Reached reached_;
  engine::Tally tally_;
  std::optional<engine::Thresholds> thresholds_;
  std::vector<State> states_;
  bool has_stopped_ = false;  // nothing is counted any more
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace loft::source::virtual_pmu
