// loft metric: check, convert, list, show, plan and evaluate user-defined events.
#include <algorithm>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "metric/check.hpp"
#include "metric/program.hpp"
#include "metric/reader.hpp"
#include "view/metric_definitions.hpp"

namespace loft::cli {
namespace {

struct ConvertFlags {
  std::string file;
  std::string from;
  OutputFlags output;  // its format is --to
};

const std::vector<Output<metric::MetricFile>> kConverted{
    {{"loft", {".metrics", ".txt"}}, whole<metric::write_loft>},
    {{"papi", {".papi"}}, whole<metric::write_papi>},
    {{"xml", {".xml"}}, whole<metric::write_papi_xml>},
};

Result<int> run_convert(const ConvertFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto text, read_file(flags.file));
  metric::Format from = metric::detect_format(flags.file, text);
  if (!flags.from.empty()) {
    LOFT_TRY(from, metric::parse_format(flags.from));
  }
  LOFT_TRY(const auto* output, choose_output(kConverted, flags.output));
  const metric::MetricFile file = metric::read_metrics(flags.file, text, from);
  for (const metric::Diagnostic& diagnostic : file.diagnostics)
    terminal.note(to_string(diagnostic) + "\n");
  LOFT_CHECK(write_output(*output, file, flags.output, Stream::out, terminal));
  const bool failed = std::ranges::any_of(file.diagnostics, [](const metric::Diagnostic& d) {
    return d.severity == metric::Severity::error;
  });
  return failed ? 1 : 0;
}

struct ListFlags {
  std::vector<std::string> words;
  MetricFlags metrics;
  OutputFlags output;
};

std::string written(view::Definitions definitions, Format format) {
  return format == Format::json  ? view::definitions_json(definitions)
         : format == Format::csv ? view::definitions_csv(definitions)
                                 : view::definitions_text(definitions);
}

Result<int> run_list(const ListFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  const auto found = library.with_words(flags.words);
  LOFT_CHECK(write_result(flags.output, written(found, format), Stream::out, terminal));
  return 0;
}

struct ShowFlags {
  std::string name;
  MetricFlags metrics;
  OutputFlags output;
};

Result<int> run_show(const ShowFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  const auto variants = library.find(flags.name);
  if (variants.empty()) return tl::make_unexpected(metric::compile(library, flags.name).error());
  std::string text;
  if (format == Format::text) {
    for (const metric::Definition* definition : variants)
      text += view::definition_text(library, *definition);
  } else {
    text = written(variants, format);
  }
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_metric_convert(Command& metric, Action& action) {
  auto flags = std::make_shared<ConvertFlags>();
  auto command = metric.add_subcommand("convert", "Write a metric file in another format");
  command->add_option("FILE", flags->file, "the file to read")->required();
  command->add_option("--from", flags->from, "its format, when looking does not tell it");
  const auto forms = forms_of(kConverted);
  command
      ->add_option("--to,--format", flags->output.format,
                   join(names_of(forms), ", ") + " (default: by -o, else loft)")
      ->check(one_of(names_of(forms)));
  command->add_option("-o,--output", flags->output.file,
                      "write to this file; its ending picks the form: " + endings_of(forms));
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_convert(*flags, terminal); };
  });
}

void add_metric_list(Command& metric, Action& action) {
  auto flags = std::make_shared<ListFlags>();
  auto command = metric.add_subcommand("list", "List the metrics that are known");
  command->add_option("WORD", flags->words, "only those whose name, group or text has every word");
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_list(*flags, terminal); };
  });
}

void add_metric_show(Command& metric, Action& action) {
  auto flags = std::make_shared<ShowFlags>();
  auto command = metric.add_subcommand("show", "Show a metric: formula, origin, unit, constants");
  command->add_option("NAME", flags->name, "the metric")->required();
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_show(*flags, terminal); };
  });
}

void add_metric(Command& app, Action& action) {
  auto command = app.add_subcommand("metric", "Check, convert, plan and evaluate metrics");
  command->require_subcommand(1);
  add_metric_check(*command, action);
  add_metric_convert(*command, action);
  add_metric_list(*command, action);
  add_metric_show(*command, action);
  add_metric_plan(*command, action);
  add_metric_eval(*command, action);
}

}  // namespace loft::cli
