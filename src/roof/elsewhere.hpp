// How a run would be on another machine: its windows, with the caches of that machine, timed with
// its core.
//
//   const double known = move_to({here, account}, {other, account_there}, subjects);
//
// A function takes as much longer or shorter there as the model says. What the model did not see
// has no time there. All of it is modelled.
#pragma once

#include <string>
#include <vector>

#include "model/machine_model.hpp"
#include "roof/why.hpp"

namespace loft::roof {

struct ModelledMachine {
  const model::Machine& machine;
  const Account& account;
};

// Changes times and causes of the run and of its functions; threads, slices and loops are left out.
// Gives the share of the run's time that could be modelled.
double move_to(const ModelledMachine& here, const ModelledMachine& there,
               std::vector<model::Subject>& subjects);

}  // namespace loft::roof
