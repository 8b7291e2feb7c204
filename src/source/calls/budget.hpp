// Finds the functions whose watching costs more than a share of the program's time.
//
//   Budget budget(request.budget, cost_of_call(false));
//   for (const auto& over : budget.look(tracer.calls(), tracer.cpu_time())) leave_alone(over);
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"

namespace loft::source::calls {

struct OverBudget {
  std::uint32_t function = 0;
  double share = 0;  // of the time since the last look
};

class Budget {
 public:
  // `share` of the program's time may go into one function.
  Budget(double share, double nanoseconds_per_call)
      : share_(share), nanoseconds_per_call_(nanoseconds_per_call) {}

  // What was called how often so far, and how much time all threads have had.
  [[nodiscard]] std::vector<OverBudget> look(const std::vector<std::uint64_t>& calls,
                                             Nanoseconds cpu_time);

 private:
  double share_;
  double nanoseconds_per_call_;
  std::vector<std::uint64_t> before_;
  Nanoseconds time_before_{0};
};

// What the processor's clock takes: a call's time holds it once, and its watching twice.
[[nodiscard]] double cost_of_clock();
// What watching a call costs, its time or its number alone.
[[nodiscard]] double cost_of_call(bool only_counts);

}  // namespace loft::source::calls
