#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "metric/reader.hpp"
#include "metric/syntax.hpp"

namespace loft::metric {
namespace {

std::string name_text(const std::string& name) {
  const bool plain = !name.empty() && name.find_first_of(" \t[=\"'") == std::string::npos;
  return plain ? name : "'" + name + "'";
}

std::string unit_text(const std::optional<Unit>& unit) {
  return unit && !unit->text.empty() ? fmt::format(" [{}]", unit->text) : std::string();
}

// Quotes would end the description; nothing reads them back.
std::string description_text(std::string text) {
  std::ranges::replace(text, '"', '\'');
  return printable(text);
}

const char* keyword(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::model:
      return "model";
    case DefinitionKind::alias:
      return "alias";
    case DefinitionKind::metric:
      break;
  }
  return "metric";
}

std::string expectation_text(const Expectation& expectation) {
  std::string text = "    expect ";
  for (std::size_t i = 0; i < expectation.counts.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", name_text(expectation.counts[i].first),
                        to_string(expectation.counts[i].second));
  return text + (expectation.value ? fmt::format(" -> {}\n", *expectation.value) : " -> n/a\n");
}

std::string definition_text(const Definition& definition) {
  const Unit* unit = definition.unit ? &*definition.unit : nullptr;
  std::string text =
      fmt::format("{} {}{} = {}\n", keyword(definition.kind), name_text(definition.name),
                  unit_text(definition.unit), to_infix(definition.formula));
  if (!definition.description.empty())
    text += fmt::format("    \"{}\"\n", description_text(definition.description));
  if (definition.error)
    text += fmt::format("    error {}\n", *definition.error / (unit != nullptr ? unit->factor : 1));
  for (const Expectation& expectation : definition.expectations)
    text += expectation_text(expectation);
  return text;
}

}  // namespace

std::string write_loft(const MetricFile& file) {
  std::string out;
  for (const Constant& constant : file.constants)
    out += fmt::format(
        "const {} = {}{}\n", name_text(constant.name),
        to_string(constant.unit ? Number::real(constant.value.as_double() / constant.unit->factor)
                                : constant.value),
        unit_text(constant.unit));
  for (const EventUnit& event : file.event_units)
    out += fmt::format("event {} [{}]\n", name_text(event.pattern), event.unit.text);
  std::string variant;
  std::string group;
  for (const Definition& definition : file.definitions) {
    if (!out.empty()) out += '\n';
    if (definition.variant != variant)
      out += fmt::format("variant {}\n", variant = definition.variant);
    if (definition.group != group) out += fmt::format("group \"{}\"\n", group = definition.group);
    out += definition_text(definition);
  }
  return out;
}

}  // namespace loft::metric
