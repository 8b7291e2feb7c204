#include "metric/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "event/pfm.hpp"
#include "metric/evaluation.hpp"
#include "metric/request.hpp"

namespace loft::metric {
namespace {

class Planner {
 public:
  Planner(const Library& library, event::Resolver& resolver, const PlanOptions& options)
      : library_(library),
        resolver_(resolver),
        options_(options),
        available_(available_events(resolver)) {}

  Result<MetricPlan> run(const std::vector<std::string>& names) {
    std::vector<Program> programs;
    for (const std::string& name : names) {
      LOFT_TRY(auto program, compile(library_, name, available_));
      if (has_variant(program))
        programs.push_back(std::move(program));
      else
        plan_.missing.push_back({name, variants_text(name)});
    }
    for (const std::string& name : needs(programs)) add(name);
    for (const Program& program : programs)
      for (const Constant& constant : program.constants())
        if (std::ranges::find(plan_.constants, constant.name, &Constant::name) ==
            plan_.constants.end())
          plan_.constants.push_back(constant);
    set_counters();
    LOFT_TRY(plan_.plan, event::plan_groups(plan_.events, plan_.counters));
    return std::move(plan_);
  }

 private:
  // A metric with variants for other machines alone has nothing to do with this one.
  bool has_variant(const Program& program) const {
    if (program.inputs().empty() || library_.find(program.name()).size() < 2) return true;
    return std::ranges::any_of(program.inputs(), [this](const std::string& name) {
      return name != "time" && available_(name);
    });
  }

  std::string variants_text(const std::string& name) const {
    std::vector<std::string> variants;
    for (const Definition* definition : library_.find(name))
      variants.push_back(definition->variant);
    return fmt::format("none of its variants is for this CPU: {}", join(variants, ", "));
  }

  void add(const std::string& name) {
    auto events = resolver_.resolve_list(name);
    if (!events) {
      plan_.missing.push_back(
          {name, looks_like_machine_constant(name)
                     ? "a constant of the machine; 'loft machine' measures it, --define sets it"
                     : events.error().why});
      return;
    }
    for (event::Event& event : *events) {
      // The kernel's own names take counters of the CPU that is pretended.
      if (!options_.pretended_pmu.empty() && event.encoding.kind() == event::PmuKind::core)
        event.encoding.pmu = options_.pretended_pmu;
      if (std::ranges::none_of(plan_.events, [&](const event::Event& known) {
            return known.counts_the_same_as(event);
          }))
        plan_.events.push_back(std::move(event));
    }
  }

  // How many counters the core PMU has, as libpfm4 knows it or the user says.
  void set_counters() {
    event::CounterCount count{options_.counters, 0};
    plan_.counters_by_pfm = options_.counters == 0;
    if (const auto pfm = event::Pfm::instance(); pfm && options_.counters == 0)
      for (const event::PfmPmu& pmu : (*pfm)->pmus()) {
        const bool is_it =
            options_.pretended_pmu.empty() ? pmu.present : pmu.name == options_.pretended_pmu;
        if (!is_it || !pmu.core || pmu.counters <= 0) continue;
        count = {pmu.counters_with_smt(), pmu.fixed_counters};
        plan_.counters_without_smt = pmu.counters == count.general ? 0 : pmu.counters;
      }
    if (count.general <= 0) return;
    for (const event::Event& event : plan_.events)
      if (event.cpus.empty() && (event.encoding.kind() == event::PmuKind::core ||
                                 event.encoding.kind() == event::PmuKind::device))
        plan_.counters.of_pmu[event.encoding.pmu] = count;
  }

  const Library& library_;
  event::Resolver& resolver_;
  const PlanOptions& options_;
  Available available_;
  MetricPlan plan_;
};

}  // namespace

std::size_t MetricPlan::sets() const {
  std::map<std::string, std::size_t> groups;
  std::size_t most = 0;
  for (const event::PlannedGroup& group : plan.groups)
    if (events[group.members.front()].encoding.kind() != event::PmuKind::software)
      most = std::max(most, ++groups[group.pmu]);
  return std::max<std::size_t>(most, events.empty() ? 0 : 1);
}

Result<MetricPlan> plan_metrics(const Library& library, const std::vector<std::string>& names,
                                event::Resolver& resolver, const PlanOptions& options) {
  return Planner(library, resolver, options).run(names);
}

}  // namespace loft::metric
