#include "view/budgets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/xml_text.hpp"
#include "view/metric_json.hpp"

namespace loft::view {
namespace {

using metric::Outcome;
using metric::Verdict;
using nlohmann::ordered_json;

std::string amount(const metric::Value& value, const metric::Unit& unit) {
  return value.number ? metric::value_text(value, unit) : "n/a";
}

std::string limit_text(const Verdict& verdict) {
  const metric::Budget& budget = verdict.budget;
  std::string text = budget.side == metric::Side::most ? "at most " : "at least ";
  text += printable(budget.text);
  if (!budget.needs_base() && !verdict.unit.text.empty()) text += " " + verdict.unit.text;
  return text;
}

// "instructions: 1,011 (base 1,000, +1.100 %), at most +1%: broken"
std::string line(const Verdict& verdict) {
  std::string text =
      fmt::format("{}: {}", printable(verdict.budget.name), amount(verdict.now, verdict.unit));
  if (verdict.base.number) {
    text += fmt::format(" (base {}", amount(verdict.base, verdict.unit));
    if (const auto change = verdict.change()) text += fmt::format(", {:+.3f} %", *change);
    text += ")";
  }
  text += fmt::format(", {}: {}", limit_text(verdict), to_string(verdict.outcome));
  if (!verdict.why.empty()) text += ", " + printable(verdict.why);
  return text;
}

ordered_json number(const std::optional<metric::Number>& value, const metric::Unit& unit) {
  if (!value) return nullptr;
  if (value->is_integer() && unit.factor == 1 && value->as_integer() >= 0 &&
      value->as_integer() <= INT64_MAX)
    return static_cast<std::int64_t>(value->as_integer());
  return value->as_double() / unit.factor;
}

ordered_json verdict_json(const Verdict& verdict) {
  ordered_json json{{"name", verdict.budget.name},
                    {"side", verdict.budget.side == metric::Side::most ? "max" : "min"},
                    {"budget", verdict.budget.text},
                    {"unit", verdict.unit.text},
                    {"base", number(verdict.base.number, verdict.unit)},
                    {"value", number(verdict.now.number, verdict.unit)},
                    {"kind", to_string(verdict.now.kind)},
                    {"limit", number(verdict.limit, verdict.unit)},
                    {"outcome", to_string(verdict.outcome)}};
  if (verdict.now.ci95)
    json["ci95"] = {verdict.now.ci95->low / verdict.unit.factor,
                    verdict.now.ci95->high / verdict.unit.factor};
  if (!verdict.why.empty()) json["why"] = verdict.why;
  return json;
}

std::size_t count_of(const CheckedBudgets& checked, Outcome outcome) {
  return static_cast<std::size_t>(std::ranges::count(checked.verdicts, outcome, &Verdict::outcome));
}

}  // namespace

std::string budgets_text(const CheckedBudgets& checked) {
  std::string text;
  for (const Verdict& verdict : checked.verdicts) text += line(verdict) + "\n";
  return text;
}

std::string budgets_json(const CheckedBudgets& checked) {
  ordered_json json{{"schema", "loft.check/1"},
                    {"program", checked.program},
                    {"broken", count_of(checked, Outcome::broken)},
                    {"unknown", count_of(checked, Outcome::unknown)},
                    {"budgets", ordered_json::array()}};
  for (const Verdict& verdict : checked.verdicts) json["budgets"].push_back(verdict_json(verdict));
  return dumped(json);
}

std::string budgets_junit(const CheckedBudgets& checked) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"loft check {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "time=\"{:.3f}\">\n",
      xml_text(checked.program), checked.verdicts.size(), count_of(checked, Outcome::broken),
      count_of(checked, Outcome::unknown), checked.seconds);
  for (const Verdict& verdict : checked.verdicts) {
    text += fmt::format("  <testcase classname=\"loft\" name=\"{} {}\">",
                        xml_text(verdict.budget.name), xml_text(limit_text(verdict)));
    const char* element = verdict.outcome == Outcome::broken    ? "failure"
                          : verdict.outcome == Outcome::unknown ? "error"
                                                                : "system-out";
    if (verdict.outcome == Outcome::broken || verdict.outcome == Outcome::unknown)
      text += fmt::format("<{0} message=\"{1}\"/>", element, xml_text(line(verdict)));
    else
      text += fmt::format("<{0}>{1}</{0}>", element, xml_text(line(verdict)));
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace loft::view
