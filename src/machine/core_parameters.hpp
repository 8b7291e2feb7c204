// The parameters of a core that a timing model needs, from the finished trials of a plan. Names
// carry their unit; docs/machine.md says how each is measured. What could not be measured is there
// with its reason, never with a value that was made up.
#pragma once

#include <vector>

#include "machine/core_estimates.hpp"
#include "machine/plan.hpp"

namespace loft::machine {

// Of the machine, its roofs, constants and levels must be known by now.
std::vector<model::Constant> core_parameters(const Plan& plan, const Workbench& bench,
                                             const model::Machine& machine,
                                             const std::vector<CostPoint>& extra_by_pages);

}  // namespace loft::machine
