#include "machine/readings.hpp"

#include <algorithm>

namespace loft::machine {

const Item* item_named(const Plan& plan, const std::string& name) {
  for (const Item& item : plan.items)
    if (item.latency == name) return &item;
  return nullptr;
}

Reading reading_of(const Plan& plan, const Workbench& bench, const std::string& name) {
  const Item* item = item_named(plan, name);
  if (item == nullptr || item->trial.estimate.best() <= 0) return {};
  const Estimate& estimate = item->trial.estimate;
  const double per_tick = bench.clock_of(item->trial);
  return {per_tick / estimate.best(), per_tick / estimate.median(), estimate.spread(), per_tick,
          estimate.verdict(item->tolerance)};
}

Reading difference(const Reading& left, const Reading& right, double factor) {
  if (left.cycles <= 0 || right.cycles <= 0) return {};
  Reading out = left;
  out.cycles = std::max(0.0, left.cycles - right.cycles) * factor;
  out.median = std::max(0.0, left.median - right.median) * factor;
  out.verdict = std::max(left.verdict, right.verdict);
  const double error = left.spread * left.cycles + right.spread * right.cycles;
  out.spread = out.cycles > 0 ? error * factor / out.cycles : 0;
  return out;
}

void plan_reading(Plan& plan, Workbench& bench, const std::string& name, TrialSetup setup,
                  double tolerance, double window_seconds) {
  auto trial = bench.prepare(std::move(setup));
  if (trial) plan.items.push_back({*std::move(trial), tolerance, window_seconds, {}, name});
}

}  // namespace loft::machine
