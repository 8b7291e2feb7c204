// loft metric plan: which events metrics need, on how many counters, in how many sets.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "event/pfm.hpp"
#include "event/plan.hpp"
#include "metric/evaluation.hpp"
#include "metric/request.hpp"
#include "view/csv.hpp"

namespace loft::cli {
namespace {

struct PlanFlags {
  std::vector<std::string> names;
  std::string cpu;
  int counters = 0;
  MetricFlags metrics;
  OutputFlags output;
};

struct MissingEvent {
  std::string name;
  std::string why;
};

struct MetricPlan {
  std::vector<event::Event> events;
  std::vector<MissingEvent> missing;
  std::vector<metric::Constant> constants;
  event::Counters counters;
  bool counters_by_pfm = true;
  event::Plan plan;

  // Sets that must take turns, or runs without multiplexing: the most that one PMU needs.
  [[nodiscard]] std::size_t sets() const {
    std::map<std::string, std::size_t> groups;
    std::size_t most = 0;
    for (const event::PlannedGroup& group : plan.groups)
      if (group.pmu != "software") most = std::max(most, ++groups[group.pmu]);
    return std::max<std::size_t>(most, events.empty() ? 0 : 1);
  }
};

// How many counters the core PMU has, as libpfm4 knows it or the user says.
event::Counters counters_for(const PlanFlags& flags, const std::vector<event::Event>& events) {
  event::Counters counters;
  event::CounterCount count{flags.counters, 0};
  if (const auto pfm = event::Pfm::instance(); pfm && flags.counters == 0) {
    for (const event::PfmPmu& pmu : (*pfm)->pmus())
      if (pmu.present && pmu.core && pmu.counters > 0) count = {pmu.counters, pmu.fixed_counters};
    if (!flags.cpu.empty())
      if (const auto pmu = (*pfm)->find_pmu(flags.cpu))
        count = {pmu->counters, pmu->fixed_counters};
  }
  if (count.general <= 0) return counters;
  for (const event::Event& event : events)
    if (event.cpus.empty() && event.encoding.kind() != event::PmuKind::software &&
        !event.encoding.is_virtual())
      counters.of_pmu[event.encoding.pmu] = count;
  return counters;
}

Result<MetricPlan> make_plan(const PlanFlags& flags, const std::string& pretended,
                             const std::vector<metric::Program>& programs,
                             event::Resolver& resolver) {
  MetricPlan plan;
  for (const std::string& name : metric::needs(programs)) {
    auto events = resolver.resolve_list(name);
    if (!events) {
      plan.missing.push_back({name, events.error().why});
      continue;
    }
    for (event::Event& event : *events) {
      // The kernel's own names take counters of the CPU that is pretended.
      if (!pretended.empty() && event.encoding.pmu == "cpu") event.encoding.pmu = pretended;
      if (std::ranges::none_of(plan.events, [&](const event::Event& known) {
            return known.counts_the_same_as(event);
          }))
        plan.events.push_back(std::move(event));
    }
  }
  for (const metric::Program& program : programs)
    for (const metric::Constant& constant : program.constants())
      if (std::ranges::find(plan.constants, constant.name, &metric::Constant::name) ==
          plan.constants.end())
        plan.constants.push_back(constant);
  plan.counters = counters_for(flags, plan.events);
  plan.counters_by_pfm = flags.counters == 0;
  LOFT_TRY(plan.plan, event::plan_groups(plan.events, plan.counters));
  return plan;
}

std::string counters_text(const MetricPlan& plan) {
  std::string text;
  for (const auto& [pmu, count] : plan.counters.of_pmu)
    text += fmt::format("{}: {} counters{}{}\n", pmu, count.general,
                        count.fixed > 0 ? fmt::format(" and {} fixed", count.fixed) : "",
                        plan.counters_by_pfm ? " by libpfm4 (--counters N says otherwise)" : "");
  return text;
}

std::string plan_text(const MetricPlan& plan) {
  std::string text = fmt::format(
      "{} events in {} {}\n", plan.events.size(), plan.sets(),
      plan.sets() == 1 ? "set: no multiplexing is needed" : "sets: multiplexed, or so many runs");
  text += counters_text(plan);
  for (std::size_t g = 0; g < plan.plan.groups.size(); ++g) {
    text += fmt::format("set {} on {}\n", g + 1, plan.plan.groups[g].pmu);
    for (const std::size_t member : plan.plan.groups[g].members) {
      const event::Event& event = plan.events[member];
      text += fmt::format("  {:<44} config 0x{:x}  {}\n", printable(event.name),
                          event.encoding.config, printable(event.origin));
    }
  }
  for (const metric::Constant& constant : plan.constants)
    text += fmt::format("constant {} ({})\n", printable(constant.name), printable(constant.origin));
  for (const MissingEvent& missing : plan.missing)
    text += fmt::format("missing {}: {}\n", printable(missing.name), printable(missing.why));
  for (const std::string& pmu : plan.plan.unknown)
    text += fmt::format("the number of counters of {} is not known; --counters N says it\n", pmu);
  return text;
}

std::string plan_json(const MetricPlan& plan) {
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
  for (const MissingEvent& missing : plan.missing)
    json["missing"].push_back({{"name", missing.name}, {"why", missing.why}});
  for (const auto& [pmu, count] : plan.counters.of_pmu)
    json["counters"][pmu] = {{"general", count.general}, {"fixed", count.fixed}};
  for (const metric::Constant& constant : plan.constants)
    json["constants"].push_back({{"name", constant.name}, {"origin", constant.origin}});
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string plan_csv(const MetricPlan& plan) {
  std::string text = "set,pmu,event,config,origin,why\n";
  for (std::size_t g = 0; g < plan.plan.groups.size(); ++g)
    for (const std::size_t member : plan.plan.groups[g].members) {
      const event::Event& event = plan.events[member];
      text += fmt::format("{},{},{},0x{:x},{},\n", g + 1, view::csv_field(event.encoding.pmu),
                          view::csv_field(event.name), event.encoding.config,
                          view::csv_field(event.origin));
    }
  for (const MissingEvent& missing : plan.missing)
    text += fmt::format(",,{},,,{}\n", view::csv_field(missing.name), view::csv_field(missing.why));
  return text;
}

// The name of the PMU that --cpu means; a CPU that nobody knows would silently be this one.
Result<std::string> pretended_pmu(const std::string& cpu) {
  if (cpu.empty()) return std::string();
  LOFT_TRY(const auto pfm, event::Pfm::instance());
  LOFT_TRY(const auto pmu, pfm->find_pmu(cpu));
  return pmu.name;
}

Result<int> run_plan(const PlanFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto pretended, pretended_pmu(flags.cpu));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  event::ResolverOptions options = known_names();
  options.pretended_pmu = flags.cpu;
  event::Resolver resolver(std::move(options));
  std::vector<std::string> names;
  for (const std::string& list : flags.names)
    for (const std::string_view name : split(list, ',')) names.emplace_back(name);
  LOFT_TRY(const auto programs,
           metric::compile_all(library, names, metric::available_events(resolver)));
  LOFT_TRY(const auto plan, make_plan(flags, pretended, programs, resolver));
  const std::string text = format == Format::json  ? plan_json(plan)
                           : format == Format::csv ? plan_csv(plan)
                                                   : plan_text(plan);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return plan.missing.empty() ? 0 : 1;
}

}  // namespace

void add_metric_plan(Command& metric, Action& action) {
  auto flags = std::make_shared<PlanFlags>();
  auto command = metric.add_subcommand(
      "plan", "Say which events metrics need, on how many counters, in how many sets or runs");
  command->add_option("NAME", flags->names, "the metrics")->required();
  command->add_option("--cpu", flags->cpu, "plan for another CPU, such as zen3 or skylake");
  command->add_option("--counters", flags->counters, "how many counters the core PMU has")
      ->check(between(1, 1024));
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_plan(*flags, terminal); };
  });
}

}  // namespace loft::cli
