// Overflow: a program's function is called whenever an event of a running set comes to a multiple
// of a number. Exactly so for what the engine counts; by the thread's own timer for the time that
// stands for cycles. Outcomes of branches, which have no exact thresholds, are looked at by the
// timer.
//
//   Overflow overflow(0, event, 1000000, call, nullptr);   // of engine::event_table(), or time
//   if (overflow.start(set, 0, base)) work();              // the event's count at the set's start
//   overflow.stop();
//
// Profiles are overflows whose function counts addresses.
#pragma once

#include <time.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/own_alarm.hpp"

namespace loft::papi {

// While a thread is inside of the library, calls are put off.
class Inside {
 public:
  Inside() { ++depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --depth(); }
  static std::atomic<int>& depth();
};

class Overflow {
 public:
  using Call = void (*)(void* data, int index, void* address, void* context);

  Overflow(int index, std::uint32_t event, std::uint64_t threshold, Call call, void* data);
  Overflow(const Overflow&) = delete;
  Overflow& operator=(const Overflow&) = delete;
  ~Overflow();

  [[nodiscard]] int index() const { return index_; }
  // `set` is the engine's number of the set, `column` the event's place in it.
  [[nodiscard]] bool start(std::uint64_t set, std::size_t column, std::uint64_t base);
  void stop();

 private:
  static std::uint64_t on_alarm(void* data, const engine::OwnAlarm::Hit& hit);
  static void on_timer(int, siginfo_t* info, void* context);
  [[nodiscard]] bool start_timer();
  [[nodiscard]] bool has_passed();

  int index_;
  std::uint64_t threshold_;
  Call call_;
  void* data_;
  std::uint64_t set_ = 0;
  std::size_t column_ = 0;
  std::uint64_t base_ = 0;
  bool is_polled_ = false;    // the timer looks whether a multiple was passed
  std::uint64_t passed_ = 0;  // how many were
  std::uint64_t due_ = 0;     // the multiple that was reached inside of the library, or 0
  std::optional<engine::OwnAlarm> alarm_;
  std::optional<timer_t> timer_;
};

}  // namespace loft::papi
