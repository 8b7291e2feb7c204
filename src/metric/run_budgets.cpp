#include "metric/run_budgets.hpp"

#include <algorithm>

namespace loft::metric {
namespace {

Value value_of(const Quantity& quantity) {
  if (quantity.origin == sample::Origin::missing)
    return {.number = {}, .why = quantity.why, .ci95 = {}};
  return {.number = quantity.value, .kind = quantity.origin, .why = {}, .ci95 = {}};
}

Value value_of(const CountSet& counts, std::string_view name) {
  const Quantity* found = counts.find(name);
  return found == nullptr ? Value{.number = {}, .why = "it is not there", .ci95 = {}}
                          : value_of(*found);
}

Unit unit_of(std::string_view text) { return parse_unit(text).value_or(Unit{}); }

// An event of the run by the name that was asked for, in base units.
class EventValues {
 public:
  EventValues(const sample::RunCounts& run, const RunMetrics& metrics)
      : run_(run), metrics_(metrics), counts_(counts_of(run)) {}

  [[nodiscard]] std::pair<Value, Unit> of(std::string_view name) const {
    Value value = value_of(counts_, name);
    if (name == kTimeName) return {with_time_spread(std::move(value)), unit_of("s")};
    const std::string full = counts_.full_name(name);
    const auto event = std::ranges::find(run_.events, full, &sample::CountedEvent::name);
    if (event == run_.events.end()) return {std::move(value), Unit{}};
    const Unit unit = unit_of(event->unit);
    const auto index = static_cast<std::size_t>(event - run_.events.begin());
    if (const auto interval = interval_of(*event, metrics_, index))
      value.ci95 = Interval{interval->low * unit.factor, interval->high * unit.factor};
    return {std::move(value), unit};
  }

 private:
  [[nodiscard]] Value with_time_spread(Value value) const {
    if (value.number && run_.wall_spread)
      value.ci95 = Interval{run_.wall_spread->low, run_.wall_spread->high};
    return value;
  }

  const sample::RunCounts& run_;
  const RunMetrics& metrics_;
  CountSet counts_;
};

}  // namespace

std::vector<std::string> names_to_count(std::span<const Budget> budgets) {
  std::vector<std::string> names;
  for (const Budget& budget : budgets)
    if (budget.name != kTimeName && std::ranges::find(names, budget.name) == names.end())
      names.push_back(budget.name);
  return names;
}

bool needs_time(std::span<const Budget> budgets, const Request& request) {
  return request.needs_time() ||
         std::ranges::find(budgets, kTimeName, &Budget::name) != budgets.end();
}

std::vector<Verdict> hold_all(std::span<const Budget> budgets, const Request& request,
                              const sample::RunCounts& run, const RunMetrics& metrics,
                              const CountSet* base) {
  const CountSet none;
  const CountSet& earlier = base != nullptr ? *base : none;
  const std::vector<Evaluated> earlier_metrics = evaluate_all(request.programs, earlier);
  const EventValues events(run, metrics);
  std::vector<Verdict> verdicts;
  for (const Budget& budget : budgets) {
    const auto metric = std::ranges::find(metrics.total, budget.name, &Evaluated::name);
    if (metric != metrics.total.end()) {
      const auto index = static_cast<std::size_t>(metric - metrics.total.begin());
      verdicts.push_back(hold(budget, metric->unit, earlier_metrics[index].value, metric->value));
      continue;
    }
    const auto [now, unit] = events.of(budget.name);
    verdicts.push_back(hold(budget, unit, value_of(earlier, budget.name), now));
  }
  return verdicts;
}

}  // namespace loft::metric
