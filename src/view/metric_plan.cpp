#include "view/metric_plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "view/csv.hpp"

namespace loft::view {
namespace {

std::string counters_text(const metric::MetricPlan& plan) {
  std::string text;
  for (const auto& [pmu, count] : plan.counters.of_pmu)
    text += fmt::format(
        "{}: {} counters{}{}{}\n", pmu, count.general,
        count.fixed > 0 ? fmt::format(" and {} fixed", count.fixed) : "",
        plan.counters_without_smt > 0
            ? fmt::format(" with hyper-threading, {} without,", plan.counters_without_smt)
            : "",
        plan.counters_by_pfm ? " by libpfm4 (--counters N says otherwise)" : "");
  return text;
}

std::string sets_text(const metric::MetricPlan& plan) {
  if (plan.events.empty()) return "no event that is needed can be counted\n";
  return fmt::format(
      "{} event{} in {} {}\n", plan.events.size(), plan.events.size() == 1 ? "" : "s", plan.sets(),
      plan.sets() == 1 ? "set: no multiplexing is needed" : "sets: multiplexed, or so many runs");
}

std::string constants_text(const metric::MetricPlan& plan) {
  std::string text;
  for (const metric::Constant& constant : plan.constants)
    text += fmt::format("constant {} ({})\n", printable(constant.name), printable(constant.origin));
  return text;
}

}  // namespace

std::string plan_text(const metric::MetricPlan& plan) {
  if (plan.events.empty() && plan.missing.empty())
    return "no event is needed: constants are enough\n" + constants_text(plan);
  std::string text = sets_text(plan);
  text += counters_text(plan);
  for (std::size_t g = 0; g < plan.plan.groups.size(); ++g) {
    text += fmt::format("set {} on {}\n", g + 1, plan.plan.groups[g].pmu);
    for (const std::size_t member : plan.plan.groups[g].members) {
      const event::Event& event = plan.events[member];
      text += fmt::format("  {:<44} config 0x{:x}  {}\n", printable(event.name),
                          event.encoding.config, printable(event.origin));
    }
  }
  text += constants_text(plan);
  for (const metric::MissingOperand& missing : plan.missing)
    text += fmt::format("missing {}: {}\n", printable(missing.name), printable(missing.why));
  for (const std::string& pmu : plan.plan.unknown)
    text += fmt::format("the number of counters of {} is not known; --counters N says it\n", pmu);
  return text;
}

std::string plan_json(const metric::MetricPlan& plan) {
  using nlohmann::ordered_json;
  ordered_json json{{"schema", "loft.metric.plan/1"},
                    {"sets", plan.sets()},
                    {"events", ordered_json::array()},
                    {"groups", ordered_json::array()},
                    {"missing", ordered_json::array()}};
  for (const event::Event& event : plan.events)
    json["events"].push_back({{"name", event.name},
                              {"pmu", event.encoding.pmu},
                              {"config", event.encoding.config},
                              {"origin", event.origin}});
  for (const event::PlannedGroup& group : plan.plan.groups)
    json["groups"].push_back({{"pmu", group.pmu}, {"members", group.members}});
  for (const metric::MissingOperand& missing : plan.missing)
    json["missing"].push_back({{"name", missing.name}, {"why", missing.why}});
  for (const auto& [pmu, count] : plan.counters.of_pmu)
    json["counters"][pmu] = {{"general", count.general}, {"fixed", count.fixed}};
  for (const metric::Constant& constant : plan.constants)
    json["constants"].push_back({{"name", constant.name}, {"origin", constant.origin}});
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string plan_csv(const metric::MetricPlan& plan) {
  std::string text = "set,pmu,event,config,origin,why\n";
  for (std::size_t g = 0; g < plan.plan.groups.size(); ++g)
    for (const std::size_t member : plan.plan.groups[g].members) {
      const event::Event& event = plan.events[member];
      text += fmt::format("{},{},{},0x{:x},{},\n", g + 1, csv_field(event.encoding.pmu),
                          csv_field(event.name), event.encoding.config, csv_field(event.origin));
    }
  for (const metric::MissingOperand& missing : plan.missing)
    text += fmt::format(",,{},,,{}\n", csv_field(missing.name), csv_field(missing.why));
  return text;
}

}  // namespace loft::view
