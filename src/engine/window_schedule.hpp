// When windows of the address stream are opened: often at first, then ever more rarely, so that a
// short run is seen and a long one costs little. Times are jittered, so that no loop of the program
// keeps in step with them.
//
//   WindowSchedule schedule;
//   if (schedule.is_due(now)) open(schedule.bytes());
//   ... schedule.add_cost(now, what_it_took, of_that_reading);
//
// The first few windows follow each other quickly. Then they take a fifth of the time, at most a
// third, and all together never more than the budget, whatever the length of the run: the nearer
// the budget, the longer the pause.
#pragma once

#include <cstdint>
#include <random>

#include "base/clock.hpp"

namespace loft::engine {

struct WindowLimits {
  std::uint64_t bytes = 6u << 20;  // of one thread in one window: about a million instructions
  std::uint64_t first_bytes = 6u << 20;
  Nanoseconds first =
      std::chrono::milliseconds(10);  // until the first; 0: with the program's start
  std::uint32_t quick = 5;            // windows with short pauses between them
  Nanoseconds budget = std::chrono::seconds(5);
  std::uint64_t seed = 1;
};

class WindowSchedule {
 public:
  explicit WindowSchedule(const WindowLimits& limits = {});

  // The first call is the start of the run.
  [[nodiscard]] bool is_due(Nanoseconds now);
  // Whether another window may be opened at all.
  [[nodiscard]] bool has_budget() const { return spent_ < limits_.budget; }
  // Of the next window.
  [[nodiscard]] std::uint64_t bytes() const {
    return windows_ == 0 ? limits_.first_bytes : limits_.bytes;
  }
  // A window that was open until now took so much time, and so much CPU time to read. On a busy
  // machine the two differ: pauses follow the one, the budget the other.
  void add_cost(Nanoseconds now, Nanoseconds cost, Nanoseconds cpu);
  [[nodiscard]] Nanoseconds spent() const { return spent_; }

 private:
  WindowLimits limits_;
  std::mt19937_64 random_;
  bool has_started_ = false;
  std::uint32_t windows_ = 0;
  Nanoseconds start_{};
  Nanoseconds next_{};
  Nanoseconds spent_{};
};

}  // namespace loft::engine
