// The timing parameters of the core of a measured machine.
//
//   LOFT_TRY(const MeasuredCore core, core_of(machine));
//   use(core::time_window(window, core.parameters));
//
// It starts from the known core that is nearest (its origins stay "documented" and "assumed") and
// takes over what was measured here. What the machine file lacks is named.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/parameters.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

struct MeasuredCore {
  core::CoreParameters parameters;
  std::string base;                   // "zen4"
  std::vector<std::string> missing;   // parameters of the machine file that have no value
  std::vector<std::string> unlikely;  // that have one which no core can have: not taken over
};

[[nodiscard]] Result<MeasuredCore> core_of(const model::Machine& machine);

}  // namespace loft::machine
