// What finished trials of a plan say, in cycles.
#pragma once

#include <string>

#include "machine/plan.hpp"

namespace loft::machine {

// Cycles per unit of work (a link of a chain, an instruction of a stream).
struct Reading {
  double cycles = 0;  // 0: nothing was measured
  double median = 0;
  double spread = 0;
  double cycles_per_tick = 0;
  model::Verdict verdict = model::Verdict::unavailable;

  [[nodiscard]] bool is_known() const { return cycles > 0; }
};

const Item* item_named(const Plan& plan, const std::string& name);

// Of the item that was planned under this name.
Reading reading_of(const Plan& plan, const Workbench& bench, const std::string& name);

// (left - right) * factor; as uncertain as the more uncertain of both.
Reading difference(const Reading& left, const Reading& right, double factor = 1);

// Plans a kernel whose reading is asked for by its name. A kernel that cannot be made here is left
// out, and its reading is not known.
void plan_reading(Plan& plan, Workbench& bench, const std::string& name, TrialSetup setup,
                  double tolerance, double window_seconds);

}  // namespace loft::machine
