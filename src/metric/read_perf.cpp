// perf's JSON metrics: an array of objects with MetricName and MetricExpr; entries without are
// events.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using nlohmann::json;

// Where byte `at` of `text` stands.
Place place_of_byte(const std::string& file, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto lines = static_cast<unsigned>(std::ranges::count(before, '\n'));
  const auto last = before.rfind('\n');
  const std::size_t column =
      last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return {file, lines + 1, static_cast<unsigned>(std::max<std::size_t>(column, 1))};
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class PerfReader {
 public:
  PerfReader(const std::string& name, std::string_view text) : text_(text) { file_.name = name; }

  MetricFile read() {
    json document;
    try {
      document = json::parse(text_);
    } catch (const json::parse_error& error) {
      file_.diagnostics.push_back(
          {Severity::error, place_of_byte(file_.name, text_, error.byte), "this is not JSON"});
      return std::move(file_);
    }
    if (document.is_object()) document = json::array({std::move(document)});
    if (!document.is_array()) {
      file_.complain(1, 1, "an array of metrics was expected");
      return std::move(file_);
    }
    for (const json& entry : document)
      if (entry.is_object() && entry.contains("MetricExpr")) metric(entry);
    return std::move(file_);
  }

 private:
  // The JSON library keeps no lines. Entries come in the order of the text, so each name is
  // searched behind the one before; once one is not found (it was written with escapes), no more is
  // tried.
  Place place_of(const std::string& name) {
    const auto at = text_.find("\"" + name + "\"", at_);
    if (at == std::string_view::npos) at_ = text_.size();
    if (at_ == text_.size()) return {file_.name, 0, 0};
    line_ += static_cast<unsigned>(std::ranges::count(text_.substr(at_, at - at_), '\n'));
    at_ = at + 1;
    return {file_.name, line_, 0};
  }

  void metric(const json& entry) {
    Definition definition;
    definition.name = text_of(entry, "MetricName");
    if (definition.name.empty()) {
      file_.complain(0, 0, "an entry has a MetricExpr and no MetricName");
      return;
    }
    definition.place = place_of(definition.name);
    auto formula = parse_infix(text_of(entry, "MetricExpr"), Dialect::perf);
    if (!formula) {
      file_.complain(definition.place.line, definition.place.column,
                     fmt::format("{}: {}", definition.name, formula.error().why));
      return;
    }
    definition.formula = *std::move(formula);
    for (std::string& name : definition.formula.names) {
      if (name.starts_with('#')) name = to_lower(name);
      if (name == "duration_time") name = "time";  // perf gives it to formulas in seconds
    }
    definition.description = text_of(entry, "BriefDescription");
    definition.group = text_of(entry, "MetricGroup");
    definition.variant = text_of(entry, "Unit");
    scale(definition, text_of(entry, "ScaleUnit"));
    file_.define(std::move(definition));
  }

  // "100%" shows a ratio in percent; "6.4e-05MiB" turns a count into MiB.
  void scale(Definition& definition, std::string_view text) {
    if (text.empty()) return;
    const auto end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    const auto factor = parse_number(text.substr(0, end));
    auto unit = parse_unit(text.substr(end));
    if (!factor || !unit) {
      file_.complain(
          definition.place.line, definition.place.column,
          fmt::format("{}: the ScaleUnit '{}' is not understood; its value is given without unit",
                      definition.name, text),
          Severity::warning);
      return;
    }
    const double total = factor->as_double() * unit->factor;
    definition.unit = *std::move(unit);
    if (total == 1) return;
    definition.formula.push_number(Number::real(total), std::nullopt, 0);
    definition.formula.push(Op::multiply, 0);
  }

  MetricFile file_;
  std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
};

}  // namespace

MetricFile read_perf(const std::string& file_name, std::string_view text) {
  return PerfReader(file_name, text).read();
}

}  // namespace loft::metric
