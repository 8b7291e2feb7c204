// Why functions are as fast as they are: windows of a run timed with all causes, and without each;
// added up by function and judged against the measured time.
//
//   source::virtual_pmu::WindowKeeper keeper(machine::geometry_of(machine));
//   ... the run under the virtual PMU ...
//   LOFT_TRY(TimedMachine here, timed_machine(machine, conditions));
//   LOFT_TRY(const Account account, account_of(keeper.windows(), keeper.functions(), here));
//   explain(account, {machine.frequency_hz, wall}, subjects);     // sets Subject::why
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/parameters.hpp"
#include "core/timing.hpp"
#include "machine/conditions.hpp"
#include "model/machine_model.hpp"
#include "model/roof_points.hpp"
#include "model/verdict.hpp"
#include "roof/alternating.hpp"
#include "roof/counted_work.hpp"
#include "roof/window_timer.hpp"
#include "sample/run_slice.hpp"
#include "source/virtual/windows.hpp"

namespace loft::roof {

// What the timing model says, by function, and by loop where roof/loop_why.hpp added them.
struct Account {
  std::map<FunctionKey, model::TimedPart> functions;
  // The same with data that the warm-up did not see as near as they can be; empty where there are
  // none to speak of.
  std::map<FunctionKey, model::TimedPart> nearest;
  // The same with L3 as quick as on a quiet machine: what comes back to its lines soon enough finds
  // them there, whatever others evict. Empty where others did not disturb L3.
  std::map<FunctionKey, model::TimedPart> quiet_l3;
  // The same with branches predicted by what the warm-up taught alone: what was learned in earlier
  // pieces of the run may have been forgotten between them. Empty where that makes no difference.
  std::map<FunctionKey, model::TimedPart> relearned;
  Alternating alternating;
  std::string core;    // which core was modelled: "zen3, 47 parameters measured"
  std::string slowed;  // what others took of the machine meanwhile; empty: nothing to speak of
};

// A core as a run met it, with the windows that were timed on it.
struct TimedMachine {
  WindowTimer timer;
  std::string core, slowed;  // in words, as in Account
  double quiet_l3 = 0;       // cycles to L3 while others leave it alone
};
[[nodiscard]] Result<TimedMachine> timed_machine(const model::Machine& machine,
                                                 const machine::Conditions& met = {});

// Times all windows. Costs some milliseconds a window.
[[nodiscard]] Result<Account> account_of(
    const std::vector<source::virtual_pmu::KeptWindow>& windows,
    const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions,
    TimedMachine& machine);

// Adds what one window says to the parts of its functions. Nothing is taken away in `base`.
void add_window(const source::virtual_pmu::KeptWindow& kept, WindowTimer& timer,
                const WindowTimer::Scenario& base, std::vector<model::TimedPart>& by_function);

// By what the account knows a function or a loop.
[[nodiscard]] FunctionKey part_key(const model::Subject& subject);
[[nodiscard]] FunctionKey loop_key(const FunctionKey& function, const model::LoopFacts& loop);

struct Clock {
  double frequency_hz = 0;  // of the core
  double wall_seconds = 0;  // of the run
  // In which one of its threads ran, or could have if a CPU had been free. Nothing: not known.
  std::optional<double> able_seconds;
};
// How long one thread at least was on a CPU, or had lost it to somebody else. Nothing without a
// schedule.
[[nodiscard]] std::optional<double> able_seconds(const std::vector<sample::RunSlice>& schedule);
// Judges every function and loop among the subjects that has a time and instructions, the kernel,
// and a run that hardly runs or hardly leaves the kernel.
void explain(const Account& account, const Clock& clock, std::vector<model::Subject>& subjects);

}  // namespace loft::roof
