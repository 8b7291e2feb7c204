// The counters of one core: a set of events, opened on that CPU for whatever runs there.
//
//   LOFT_TRY(CoreSet opened, open_on_core(request, 3));
//   opened.why_missing[1]          // empty where the event is counted
//   opened.counters->start();      // from here on by the reader of the core
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metric/request.hpp"
#include "sample/counting.hpp"
#include "source/perf_events/group.hpp"

namespace loft::top {

using source::perf_events::RawReading;

// What a reader calls while it runs on its core: no allocation, no text, no exception.
class CoreCounters {
 public:
  CoreCounters() = default;
  CoreCounters(const CoreCounters&) = delete;
  CoreCounters& operator=(const CoreCounters&) = delete;
  virtual ~CoreCounters() = default;

  virtual bool start() noexcept = 0;
  virtual bool stop() noexcept = 0;
  // One reading for each event, since it was started. Those that cannot be counted stay as they
  // are.
  virtual bool read(std::span<RawReading> readings) noexcept = 0;
};

// What one core counts.
struct CoreSet {
  metric::Request request;
  // The events as they are counted (with the modifiers that permission left), and nothing counted.
  sample::RunCounts frame;
  std::vector<std::string> why_missing;  // aligned with the events; empty where one is counted
  std::unique_ptr<CoreCounters> counters;

  [[nodiscard]] bool counts_something() const;
};

// More would not be a sample but a survey.
inline constexpr std::size_t kMostEvents = 64;

// Opens the events on `cpu` by perf_events, not yet started. An event that cannot be counted is
// missing, with its reason. Fails for what concerns all of them.
[[nodiscard]] Result<CoreSet> open_on_core(metric::Request request, int cpu);

}  // namespace loft::top
