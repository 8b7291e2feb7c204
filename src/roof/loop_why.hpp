// The time that the model gives loops: windows of a run with their blocks grouped by loop, as
// roof/why.hpp groups them by function. The rules are the same.
//
//   LOFT_TRY(Account account, account_of(windows, functions, machine));
//   LOFT_CHECK(add_loops({windows, functions}, counted.loops, machine, account));
//   explain(account, clock, subjects);                  // judges loops, too
#pragma once

#include <vector>

#include "base/result.hpp"
#include "roof/why.hpp"

namespace loft::roof {

struct KeptWindows {
  const std::vector<source::virtual_pmu::KeptWindow>& windows;
  const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions;
};

// The windows with the loops of one depth in the place of functions.
struct WindowsByLoop {
  std::vector<source::virtual_pmu::KeptWindow> windows;            // those that met any of them
  std::vector<source::virtual_pmu::WindowKeeper::Function> loops;  // by loop_key(); all other code
                                                                   // first, without a name
};
// Loops that the windows met too seldom to be judged are left out.
[[nodiscard]] WindowsByLoop by_loop(const KeptWindows& kept, const std::vector<LoopWork>& loops,
                                    int depth);

[[nodiscard]] Result<void> add_loops(const KeptWindows& kept, const std::vector<LoopWork>& loops,
                                     TimedMachine& machine, Account& account);

}  // namespace loft::roof
