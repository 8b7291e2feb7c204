// What the calling thread counts of itself, whoever counts it: the engine that runs the program for
// virtual events, perf_events for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "event/resolver.hpp"
#include "sample/count.hpp"
#include "source/perf_events/own_thread.hpp"
#include "source/virtual/own_counters.hpp"

namespace loft::api {

// Names as the program may use them here: the virtual PMU's first where it runs under the engine.
[[nodiscard]] event::ResolverOptions known_names();

class OwnThread {
 public:
  // At least one event must be countable; the others are missing, with their reason.
  // With a thread's number they are those of that thread, with 0 those of the whole process, by the
  // virtual PMU alone.
  [[nodiscard]] static Result<OwnThread> open(std::vector<event::Event> events,
                                              std::optional<std::uint32_t> thread = {});

  // The events as they are counted.
  [[nodiscard]] const std::vector<event::Event>& events() const { return events_; }

  // All fail in another thread than the one that opened it, and in a child of fork.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> stop();
  // Counts begin at 0 again, running or not.
  [[nodiscard]] Result<void> reset();
  [[nodiscard]] Result<std::vector<sample::Count>> read();
  // Reads plain numbers, without the heap where the engine counts all events. False when one is
  // missing, or in another thread.
  [[nodiscard]] bool read_plain(std::span<std::uint64_t> counts);
  // Of an event that the engine counts; see OwnCounters.
  [[nodiscard]] Result<void> set_threshold(std::size_t event, std::uint64_t every,
                                           source::virtual_pmu::OwnCounters::OnThreshold callback,
                                           void* data);

 private:
  OwnThread();
  [[nodiscard]] Result<void> check_owner() const;
  [[nodiscard]] Result<std::vector<sample::Count>> read_all();

  std::vector<event::Event> events_;
  std::optional<source::virtual_pmu::OwnCounters> engine_;
  std::optional<source::perf_events::OwnThreadCounters> kernel_;
  std::vector<std::size_t> of_engine_, of_kernel_;  // their places among the events
  std::vector<std::uint64_t> scratch_;
  std::vector<sample::Count> zero_;  // what the kernel had counted at the last reset
  const void* thread_;
  unsigned process_;
};

}  // namespace loft::api
