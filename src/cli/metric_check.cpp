// loft metric check: everything that is wrong with metric files.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "event/pfm.hpp"
#include "metric/check.hpp"
#include "metric/reader.hpp"

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

struct Report {
  std::vector<metric::Diagnostic> diagnostics;
  std::size_t definitions = 0;
  std::size_t expectations = 0;

  [[nodiscard]] std::size_t count(metric::Severity severity) const {
    return static_cast<std::size_t>(
        std::ranges::count(diagnostics, severity, &metric::Diagnostic::severity));
  }
};

metric::EventTest event_test(event::Resolver& resolver) {
  return [&resolver](const std::string& name) -> std::string {
    const auto events = resolver.resolve_list(name);
    return events ? std::string() : events.error().why;
  };
}

std::string report_text(const Report& report, bool verbose) {
  std::string text;
  for (const metric::Diagnostic& diagnostic : report.diagnostics)
    if (verbose || diagnostic.severity != metric::Severity::note)
      text += to_string(diagnostic) + "\n";
  return text + fmt::format("{} definitions, {} expectations held, {} errors, {} warnings\n",
                            report.definitions, report.expectations,
                            report.count(metric::Severity::error),
                            report.count(metric::Severity::warning));
}

std::string report_json(const Report& report) {
  using nlohmann::ordered_json;
  ordered_json json{{"schema", "loft.metric.check/1"},
                    {"definitions", report.definitions},
                    {"expectations", report.expectations},
                    {"diagnostics", ordered_json::array()}};
  for (const metric::Diagnostic& diagnostic : report.diagnostics)
    json["diagnostics"].push_back({{"severity", to_string(diagnostic.severity)},
                                   {"file", diagnostic.place.file},
                                   {"line", diagnostic.place.line},
                                   {"column", diagnostic.place.column},
                                   {"text", diagnostic.text}});
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<int> run_check(const CheckFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(metric::Library library, load_metrics(flags.metrics, terminal));
  event::ResolverOptions options = known_names();
  LOFT_TRY(options.pretended_pmu, event::core_pmu_of(flags.cpu));
  event::Resolver resolver(std::move(options));
  Report report;
  std::vector<metric::MetricFile> files;
  for (const std::string& path : flags.files) {
    LOFT_TRY(const auto text, read_file(path));
    files.push_back(metric::read_metrics(path, text));
    std::ranges::copy(files.back().diagnostics, std::back_inserter(report.diagnostics));
    const std::size_t before = library.diagnostics().size() + files.back().diagnostics.size();
    library.add(files.back(), metric::Tier::command);
    // What only shows among several files: names that two of them define.
    std::ranges::copy(library.diagnostics().begin() + static_cast<std::ptrdiff_t>(before),
                      library.diagnostics().end(), std::back_inserter(report.diagnostics));
  }
  const metric::EventTest test = flags.any_name ? metric::EventTest{} : event_test(resolver);
  for (const metric::MetricFile& file : files) {
    metric::CheckResult result = metric::check_definitions(library, file, test);
    std::ranges::move(result.diagnostics, std::back_inserter(report.diagnostics));
    report.definitions += result.definitions;
    report.expectations += result.expectations;
  }
  const std::string text =
      format == Format::json ? report_json(report) : report_text(report, flags.verbose);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return report.count(metric::Severity::error) > 0 ? 1 : 0;
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
