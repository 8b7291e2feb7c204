// Counters without a machine behind them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "top/counters.hpp"

namespace loft::top {

// Counts its own calls; each reading is ten more.
class FakeCounters : public CoreCounters {
 public:
  explicit FakeCounters(std::uint64_t step = 10, bool can_start = true)
      : step_(step), can_start_(can_start) {}
  bool start() noexcept override { return is_on = can_start_; }
  bool stop() noexcept override {
    is_on = false;
    return true;
  }
  bool read(std::span<RawReading> readings) noexcept override {
    value_ += step_;
    for (RawReading& reading : readings)
      reading = {value_, std::chrono::milliseconds(value_), std::chrono::milliseconds(value_)};
    return true;
  }
  bool is_on = false;

 private:
  std::uint64_t step_;
  bool can_start_;
  std::uint64_t value_ = 0;
};

inline CoreSet set_of(std::vector<std::string> names, std::unique_ptr<CoreCounters> counters) {
  CoreSet set;
  for (const std::string& name : names) {
    event::Event event;
    event.name = name;
    set.request.events.push_back(event);
    set.frame.events.push_back(sample::CountedEvent::of(event));
  }
  set.why_missing.resize(names.size());
  set.counters = std::move(counters);
  return set;
}

}  // namespace loft::top
