// loft metric: check, convert, list, show, plan and evaluate user-defined events.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "metric/program.hpp"
#include "metric/reader.hpp"
#include "view/csv.hpp"

namespace loft::cli {
namespace {

using nlohmann::ordered_json;

struct ConvertFlags {
  std::string file;
  std::string from;
  std::string to;
  OutputFlags output;
};

Result<int> run_convert(const ConvertFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto text, read_file(flags.file));
  metric::Format from = metric::detect_format(flags.file, text);
  if (!flags.from.empty()) {
    LOFT_TRY(from, metric::parse_format(flags.from));
  }
  const std::string by_name = flags.output.file.ends_with(".xml") ? "xml" : "loft";
  LOFT_TRY(const auto to, metric::parse_format(flags.to.empty() ? by_name : flags.to));
  const metric::MetricFile file = metric::read_metrics(flags.file, text, from);
  for (const metric::Diagnostic& diagnostic : file.diagnostics)
    terminal.note(to_string(diagnostic) + "\n");
  LOFT_TRY(const auto written, metric::write_metrics(file, to));
  LOFT_CHECK(write_result(flags.output, written, Stream::out, terminal));
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

bool matches(const metric::Definition& definition, const std::vector<std::string>& words) {
  return std::ranges::all_of(words, [&](const std::string& word) {
    return contains_ignoring_case(definition.name, word) ||
           contains_ignoring_case(definition.description, word) ||
           contains_ignoring_case(definition.group, word);
  });
}

ordered_json definition_json(const metric::Definition& definition) {
  return {{"name", definition.name},
          {"description", definition.description},
          {"unit", definition.unit ? definition.unit->text : ""},
          {"group", definition.group},
          {"variant", definition.variant},
          {"formula", metric::to_infix(definition.formula)},
          {"origin", to_string(definition.place)}};
}

std::string definitions_text(const std::vector<const metric::Definition*>& definitions,
                             Format format) {
  std::string text;
  ordered_json json{{"schema", "loft.metric.list/1"}, {"metrics", ordered_json::array()}};
  if (format == Format::csv) text = "name,variant,unit,group,description,formula,origin\n";
  for (const metric::Definition* definition : definitions) {
    if (format == Format::json) {
      json["metrics"].push_back(definition_json(*definition));
    } else if (format == Format::csv) {
      text +=
          fmt::format("{},{},{},{},{},{},{}\n", view::csv_field(definition->name),
                      view::csv_field(definition->variant),
                      view::csv_field(definition->unit ? definition->unit->text : ""),
                      view::csv_field(definition->group), view::csv_field(definition->description),
                      view::csv_field(metric::to_infix(definition->formula)),
                      view::csv_field(to_string(definition->place)));
    } else {
      text += fmt::format("{:<24} {:<16} {:<12} {}\n", printable(definition->name),
                          printable(definition->variant),
                          definition->unit ? printable(definition->unit->text) : "",
                          printable(definition->description));
    }
  }
  if (format != Format::json) return text;
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<int> run_list(const ListFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  std::vector<const metric::Definition*> shown;
  for (const std::string& name : library.names())
    for (const metric::Definition* definition : library.find(name))
      if (matches(*definition, flags.words)) shown.push_back(definition);
  LOFT_CHECK(write_result(flags.output, definitions_text(shown, format), Stream::out, terminal));
  return 0;
}

struct ShowFlags {
  std::string name;
  MetricFlags metrics;
  OutputFlags output;
};

std::string shown(const metric::Library& library, const metric::Definition& definition) {
  std::string text = fmt::format("{}{}{}\n", printable(definition.name),
                                 definition.variant.empty() ? "" : " for ", definition.variant);
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", label, printable(value));
  };
  line("what", definition.description);
  line("formula", metric::to_infix(definition.formula));
  line("RPN", metric::to_rpn(definition.formula));
  line("origin", to_string(definition.place));
  const auto program = metric::compile(library, definition);
  if (!program) {
    line("problem", program.error().why);
    return text;
  }
  line("unit", program->unit().text.empty() ? "none" : program->unit().text);
  std::vector<std::string> events;
  std::vector<std::string> unset;
  for (const std::string& name : program->inputs())
    (metric::looks_like_machine_constant(name) ? unset : events).push_back(name);
  line("events", join(events, ", "));
  for (const std::string& name : unset)
    line("constant", name + " is not known: 'loft machine' measures it, --define sets it");
  for (const metric::Constant& constant : program->constants())
    line("constant", fmt::format("{} = {} ({})", constant.name,
                                 metric::format_value(constant.value.as_double(),
                                                      constant.unit.value_or(metric::Unit{})),
                                 constant.origin));
  for (const std::string& divisor : program->divisors()) line("n/a when", divisor + " is 0");
  return text;
}

Result<int> run_show(const ShowFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  const auto variants = library.find(flags.name);
  if (variants.empty()) return tl::make_unexpected(metric::compile(library, flags.name).error());
  std::string text;
  if (format == Format::text) {
    for (const metric::Definition* definition : variants) text += shown(library, *definition);
  } else {
    text = definitions_text(variants, format);
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
  command->add_option("--to", flags->to,
                      "loft, papi or xml (default: xml where -o ends in .xml, else loft)");
  command->add_option("-o,--output", flags->output.file, "write to this file");
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
