// loft metric check: everything that is wrong with metric files.
#include <memory>

#include "base/file.hpp"
#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "event/pfm.hpp"
#include "metric/check.hpp"
#include "metric/reader.hpp"
#include "view/metric_definitions.hpp"

namespace loft::cli {
namespace {

struct CheckFlags {
  std::vector<std::string> files;
  std::string cpu;
  bool verbose = false;
  bool any_name = false;
  MetricFlags metrics;
  OutputFlags output;
};

Result<int> run_check(const CheckFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(metric::Library library, load_metrics(flags.metrics, terminal));
  event::ResolverOptions options = known_names();
  LOFT_TRY(options.pretended_pmu, event::core_pmu_of(flags.cpu));
  event::Resolver resolver(std::move(options));
  std::vector<metric::MetricFile> files;
  for (const std::string& path : flags.files) {
    LOFT_TRY(const auto text, read_file(path));
    files.push_back(metric::read_metrics(path, text));
  }
  const metric::EventTest is_event =
      flags.any_name ? metric::EventTest{} : metric::events_known_to(resolver);
  const auto result = metric::check_files(std::move(library), files, is_event);
  const std::string text =
      format == Format::json ? view::check_json(result) : view::check_text(result, flags.verbose);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return result.count(metric::Severity::error) > 0 ? 1 : 0;
}

}  // namespace

void add_metric_check(Command& metric, Action& action) {
  auto flags = std::make_shared<CheckFlags>();
  auto command = metric.add_subcommand(
      "check", "Check metric files: syntax, names, cycles, units, divisors, expectations");
  command->add_option("FILE", flags->files, "the files")->required();
  command->add_option("--cpu", flags->cpu, "look event names up for another CPU, such as zen3");
  command->add_flag("--any-name", flags->any_name, "take every unknown name for an event");
  command->add_flag("-v,--verbose", flags->verbose, "also say when each metric is not available");
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_check(*flags, terminal); };
  });
}

}  // namespace loft::cli
