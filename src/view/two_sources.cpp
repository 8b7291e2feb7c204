#include "view/two_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "view/csv.hpp"

namespace loft::view {
namespace {

using metric::Value;
using nlohmann::ordered_json;

std::string side_cell(const Value& value, const metric::Unit& unit) {
  if (!value.number) return "not counted";
  const char* mark = value.kind == sample::Origin::counted ? "" : "~";
  return mark + metric::format_value(value.number->as_double(), unit);
}

ordered_json side_json(const Value& value, const metric::Unit& unit) {
  ordered_json json{{"value", nullptr}, {"kind", to_string(value.kind)}};
  if (value.number) json["value"] = value.number->as_double() / unit.factor;
  if (!value.number) json["why"] = value.why;
  if (value.ci95) json["ci95"] = {value.ci95->low / unit.factor, value.ci95->high / unit.factor};
  return json;
}

std::string csv_value(const Value& value, const metric::Unit& unit) {
  return value.number ? fmt::format("{}", value.number->as_double() / unit.factor) : std::string();
}

// Each reason once, with all that it is the reason of.
std::string missing_on_side(const TwoSources& both, Value TwoSources::Row::*side,
                            std::string_view words) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const TwoSources::Row& row : both.rows) {
    if ((row.*side).number) continue;
    const std::string& why = (row.*side).why;
    auto known = std::ranges::find(reasons, why, [](const auto& each) { return each.first; });
    if (known == reasons.end()) known = reasons.insert(reasons.end(), {why, {}});
    known->second.push_back(row.name);
  }
  std::string text;
  for (const auto& [why, names] : reasons)
    text += fmt::format("{} not by {}: {}\n", printable(join(names, ", ")), words, printable(why));
  return text;
}

}  // namespace

std::optional<double> TwoSources::Row::ratio() const {
  if (!native.number || !virtual_pmu.number || native.number->as_double() == 0) return std::nullopt;
  return virtual_pmu.number->as_double() / native.number->as_double();
}

std::string two_sources_text(const TwoSources& both) {
  std::string text =
      fmt::format("\n{}   (sources: perf_events, virtual)\n\n", printable(join(both.command, " ")));
  text += fmt::format("{:>20}  {:>20}  {:>10}  {}\n", "counters", "virtual PMU", "ratio", "event");
  for (const TwoSources::Row& row : both.rows) {
    const auto ratio = row.ratio();
    text += fmt::format("{:>20}  {:>20}  {:>10}  {}\n", side_cell(row.native, row.unit),
                        side_cell(row.virtual_pmu, row.unit),
                        ratio ? fmt::format("{:.4g}", *ratio) : "-", printable(row.name));
  }
  text += "\n" + missing_on_side(both, &TwoSources::Row::native, "counters") +
          missing_on_side(both, &TwoSources::Row::virtual_pmu, "the virtual PMU");
  for (const std::string& note : both.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string two_sources_json(const TwoSources& both) {
  ordered_json json{{"schema", "loft.stat/1"},
                    {"command", both.command},
                    {"exit", both.exit_status},
                    {"wall_s", both.native_seconds > 0 ? ordered_json(both.native_seconds)
                                                       : ordered_json(nullptr)},
                    {"source", "perf_events,virtual"},
                    {"compared", ordered_json::array()}};
  for (const TwoSources::Row& row : both.rows) {
    const auto ratio = row.ratio();
    json["compared"].push_back({{"name", row.name},
                                {"unit", row.unit.text},
                                {"perf_events", side_json(row.native, row.unit)},
                                {"virtual", side_json(row.virtual_pmu, row.unit)},
                                {"ratio", ratio ? ordered_json(*ratio) : ordered_json(nullptr)}});
  }
  if (!both.notes.empty()) json["notes"] = both.notes;
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string two_sources_csv(const TwoSources& both) {
  std::string text = "event,unit,perf_events,perf_events_kind,virtual,virtual_kind,ratio\n";
  for (const TwoSources::Row& row : both.rows) {
    const auto ratio = row.ratio();
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(row.name), csv_field(row.unit.text),
                        csv_value(row.native, row.unit), to_string(row.native.kind),
                        csv_value(row.virtual_pmu, row.unit), to_string(row.virtual_pmu.kind),
                        ratio ? fmt::format("{}", *ratio) : "");
  }
  return text;
}

}  // namespace loft::view
