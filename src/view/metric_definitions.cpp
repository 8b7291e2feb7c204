#include "view/metric_definitions.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "metric/program.hpp"
#include "view/csv.hpp"
#include "view/metric_json.hpp"

namespace loft::view {
namespace {

using metric::Definition;
using nlohmann::ordered_json;

std::string unit_of(const Definition& definition) {
  return definition.unit ? definition.unit->text : std::string();
}

}  // namespace

std::string definitions_text(Definitions definitions) {
  std::string text;
  for (const Definition* definition : definitions)
    text += fmt::format("{:<24} {:<16} {:<12} {}\n", printable(definition->name),
                        printable(definition->variant), printable(unit_of(*definition)),
                        printable(definition->description));
  return text;
}

std::string definitions_csv(Definitions definitions) {
  std::string text = "name,variant,unit,group,description,formula,origin\n";
  for (const Definition* definition : definitions)
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(definition->name),
                        csv_field(definition->variant), csv_field(unit_of(*definition)),
                        csv_field(definition->group), csv_field(definition->description),
                        csv_field(metric::to_infix(definition->formula)),
                        csv_field(to_string(definition->place)));
  return text;
}

std::string definitions_json(Definitions definitions) {
  ordered_json json{{"schema", "loft.metric.list/1"}, {"metrics", ordered_json::array()}};
  for (const Definition* definition : definitions)
    json["metrics"].push_back({{"name", definition->name},
                               {"description", definition->description},
                               {"unit", unit_of(*definition)},
                               {"group", definition->group},
                               {"variant", definition->variant},
                               {"formula", metric::to_infix(definition->formula)},
                               {"origin", to_string(definition->place)}});
  return dumped(json);
}

std::string definition_text(const metric::Library& library, const Definition& definition) {
  std::string text =
      fmt::format("{}{}{}\n", printable(definition.name), definition.variant.empty() ? "" : " for ",
                  printable(definition.variant));
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

std::string check_text(const metric::CheckResult& result, bool with_notes) {
  std::string text;
  for (const metric::Diagnostic& diagnostic : result.diagnostics)
    if (with_notes || diagnostic.severity != metric::Severity::note)
      text += to_string(diagnostic) + "\n";
  return text + fmt::format("{} definitions, {} expectations held, {} errors, {} warnings\n",
                            result.definitions, result.expectations,
                            result.count(metric::Severity::error),
                            result.count(metric::Severity::warning));
}

std::string check_json(const metric::CheckResult& result) {
  ordered_json json{{"schema", "loft.metric.check/1"},
                    {"definitions", result.definitions},
                    {"expectations", result.expectations},
                    {"diagnostics", ordered_json::array()}};
  for (const metric::Diagnostic& diagnostic : result.diagnostics)
    json["diagnostics"].push_back({{"severity", to_string(diagnostic.severity)},
                                   {"file", diagnostic.place.file},
                                   {"line", diagnostic.place.line},
                                   {"column", diagnostic.place.column},
                                   {"text", diagnostic.text}});
  return dumped(json);
}

}  // namespace loft::view
