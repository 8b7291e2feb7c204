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
#include <memory>
#include <optional>
#include <span>
#include <utility>
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

  // All events must be such that counts() is true. Without a thread's number they are those of the
  // calling thread; with 0 those of all threads of the process, ended ones included.
  [[nodiscard]] static Result<OwnCounters> open(std::span<const event::Event> events,
                                                std::optional<std::uint32_t> thread = {});
  OwnCounters(OwnCounters&& other) noexcept;
  OwnCounters& operator=(OwnCounters&& other) noexcept;
  ~OwnCounters();

  // As close as can be to what is counted: last thing in start, first in stop.
  void start();
  void stop();
  void reset();
  // Called by the thread itself, in a signal handler, between two instructions of the program:
  // `count` is what the event has come to, `address` where the program goes on.
  using OnThreshold = void (*)(void* data, std::size_t event, std::uint64_t count, void* address);
  // While it runs, whenever the event's count comes to a multiple of `every`; 0 ends that. What the
  // callback does counts, too; multiples that it passes itself are left out.
  [[nodiscard]] Result<void> set_threshold(std::size_t event, std::uint64_t every,
                                           OnThreshold callback, void* data);

  // False when the engine does not answer; then the counts are those of before.
  [[nodiscard]] bool read(std::span<std::uint64_t> counts);
  [[nodiscard]] std::size_t size() const { return base_.size(); }

 private:
  struct Threshold;
  struct ThresholdDeleter {
    void operator()(Threshold* threshold) const;
  };
  explicit OwnCounters(std::uint64_t set, std::vector<std::uint32_t> events)
      : set_(set),
        events_(std::move(events)),
        base_(events_.size()),
        now_(events_.size()),
        sum_(events_.size()) {}
  void set_alarms();
  [[nodiscard]] bool ask(std::vector<std::uint64_t>& counts);

  std::uint64_t set_ = 0;
  std::optional<std::uint32_t> of_;    // another thread, or 0 for all
  std::vector<std::uint32_t> events_;  // of engine::event_table()
  bool is_running_ = false;
  std::vector<std::uint64_t> base_;  // the thread's counts at the last start
  std::vector<std::uint64_t> now_;
  std::vector<std::uint64_t> sum_;  // of what was counted until the last stop
  std::vector<std::unique_ptr<Threshold, ThresholdDeleter>> thresholds_;
};

}  // namespace loft::source::virtual_pmu
