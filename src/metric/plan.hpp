// Which events metrics need, on how many counters, and in how many sets that take turns.
//
//   LOFT_TRY(const MetricPlan plan, plan_metrics(library, {"IPC", "GFLOPS"}, resolver, {}));
#pragma once

#include <string>
#include <vector>

#include "event/plan.hpp"
#include "event/resolver.hpp"
#include "metric/library.hpp"

namespace loft::metric {

struct PlanOptions {
  std::string pretended_pmu;  // the one that `resolver` pretends; empty for this machine
  int counters = 0;           // how many the core PMU has; 0: as libpfm4 knows it
};

// What a plan lacks: an event, a constant, or a metric with all its variants.
struct MissingOperand {
  std::string name;
  std::string why;
};

struct MetricPlan {
  std::vector<event::Event> events;
  std::vector<MissingOperand> missing;
  std::vector<Constant> constants;
  event::Counters counters;
  bool counters_by_pfm = true;
  int counters_without_smt = 0;  // where hyper-threading takes half of them; 0 where it does not
  event::Plan plan;

  // Sets that must take turns, or runs without multiplexing: the most that one PMU needs.
  [[nodiscard]] std::size_t sets() const;
};

[[nodiscard]] Result<MetricPlan> plan_metrics(const Library& library,
                                              const std::vector<std::string>& names,
                                              event::Resolver& resolver,
                                              const PlanOptions& options);

}  // namespace loft::metric
