// Counters of the calling thread by the engine that runs it, for programs that measure parts of
// themselves under the virtual PMU.
//
//   if (OwnCounters::are_here()) {
//     LOFT_TRY(auto counters, OwnCounters::open(events));
//     counters.start();
//     ...
//     counters.read(counts);   // exact, one for each event, since the first start
//   }
//
// A set belongs to the thread that started it, in the process that did.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::source::virtual_pmu {

class OwnCounters {
 public:
  // Whether this program runs under an engine that knows this library.
  [[nodiscard]] static bool are_here();
  // Whether the engine counts the event, exactly; models do not tell inside of a run.
  [[nodiscard]] static bool counts(const event::Event& event);

  // All events must be such that counts() is true.
  [[nodiscard]] static Result<OwnCounters> open(std::span<const event::Event> events);
  OwnCounters(OwnCounters&& other) noexcept;
  OwnCounters& operator=(OwnCounters&& other) noexcept;
  ~OwnCounters();

  // As close as can be to what is counted: last thing in start, first in stop.
  void start();
  void stop();
  void reset();
  // False when the engine does not answer; then the counts are those of before.
  [[nodiscard]] bool read(std::span<std::uint64_t> counts);
  [[nodiscard]] std::size_t size() const { return base_.size(); }

 private:
  explicit OwnCounters(std::uint64_t set, std::size_t size)
      : set_(set), base_(size), now_(size), sum_(size) {}
  [[nodiscard]] bool ask();

  std::uint64_t set_ = 0;
  bool is_running_ = false;
  std::vector<std::uint64_t> base_;  // the thread's counts at the last start
  std::vector<std::uint64_t> now_;
  std::vector<std::uint64_t> sum_;  // of what was counted until the last stop
};

}  // namespace loft::source::virtual_pmu
