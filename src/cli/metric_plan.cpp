// loft metric plan: which events metrics need, on how many counters, in how many sets.
#include <memory>

#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/source_flag.hpp"
#include "event/pfm.hpp"
#include "metric/plan.hpp"
#include "view/metric_plan.hpp"

namespace loft::cli {
namespace {

struct PlanFlags {
  std::vector<std::string> names;
  std::string cpu;
  int counters = 0;
  SourceFlag source;
  MetricFlags metrics;
  OutputFlags output;
};

Result<int> run_plan(const PlanFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  if (flags.source.is_virtual() && !flags.cpu.empty())
    return failure(ErrorKind::invalid_input, "plan metrics",
                   "the virtual PMU is the same on every CPU", "leave out --cpu or --source");
  event::ResolverOptions options = known_names(flags.source.is_virtual());
  LOFT_TRY(options.pretended_pmu, event::core_pmu_of(flags.cpu));
  const metric::PlanOptions plan_options{options.pretended_pmu, flags.counters};
  event::Resolver resolver(std::move(options));
  LOFT_TRY(const auto plan,
           metric::plan_metrics(library, split_names(flags.names), resolver, plan_options));
  const std::string text = format == Format::json  ? view::plan_json(plan)
                           : format == Format::csv ? view::plan_csv(plan)
                                                   : view::plan_text(plan);
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
  add_source_flag(*command, flags->source,
                  "plan for the virtual PMU (virtual), or for counters of the CPU (default)");
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_plan(*flags, terminal); };
  });
}

}  // namespace loft::cli
