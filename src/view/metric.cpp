#include "view/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "view/csv.hpp"
#include "view/metric_json.hpp"

namespace loft::view {
namespace {

using metric::Constant;
using metric::Evaluated;
using nlohmann::ordered_json;

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string constant_value(const Constant& constant) {
  return metric::format_value(constant.value.as_double(), constant.unit.value_or(metric::Unit{}));
}

// Bytes that continue a character of UTF-8 take no place of their own.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string dumped(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json metric_object(const Evaluated& metric) {
  const auto value = metric.in_unit();
  ordered_json json{{"name", metric.name},
                    {"value", value ? ordered_json(*value) : ordered_json(nullptr)},
                    {"unit", metric.unit.text},
                    {"kind", sample::to_string(metric.value.kind)}};
  if (!value) json["why"] = metric.value.why;
  if (const auto interval = metric.ci95_in_unit()) json["ci95"] = {interval->low, interval->high};
  if (metric.value.unreliable) json["unreliable"] = true;
  if (!metric.variant.empty()) json["variant"] = metric.variant;
  if (!metric.description.empty()) json["description"] = metric.description;
  return json;
}

ordered_json constants_array(std::span<const Evaluated> metrics) {
  ordered_json constants = ordered_json::array();
  for (const Constant& constant : metric::constants_of(metrics)) {
    const double factor = constant.unit ? constant.unit->factor : 1;
    constants.push_back({{"name", constant.name},
                         {"value", constant.value.as_double() / factor},
                         {"unit", constant.unit ? constant.unit->text : ""},
                         {"origin", constant.origin}});
  }
  return constants;
}

std::string metrics_text(std::span<const Evaluated> metrics) {
  std::size_t names = 0;
  std::size_t values = 0;
  for (const Evaluated& metric : metrics) {
    names = std::max(names, metric.name.size());
    values = std::max(values, characters(metric::value_text(metric)));
  }
  std::string text;
  for (const Evaluated& metric : metrics) {
    std::string note = metric.value.number ? metric.description : metric.value.why;
    if (metric.value.unreliable) note = "unreliable, its events are too rare; " + note;
    text +=
        fmt::format("{:<{}}  {:>{}}{}{}\n", printable(metric.name), names,
                    metric::value_text(metric), values, note.empty() ? "" : "  ", printable(note));
  }
  const auto constants = metric::constants_of(metrics);
  if (!constants.empty()) text += "constants:\n";
  for (const Constant& constant : constants)
    text += fmt::format("  {} = {}  ({})\n", printable(constant.name), constant_value(constant),
                        printable(constant.origin));
  return text;
}

std::string metrics_csv(std::span<const Evaluated> metrics) {
  std::string text = "name,value,unit,kind,low,high,unreliable,why\n";
  for (const Evaluated& metric : metrics) {
    const auto interval = metric.ci95_in_unit();
    text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(metric.name),
                        number_text(metric.in_unit()), csv_field(metric.unit.text),
                        sample::to_string(metric.value.kind),
                        interval ? fmt::format("{}", interval->low) : "",
                        interval ? fmt::format("{}", interval->high) : "",
                        metric.value.unreliable ? "yes" : "", csv_field(metric.value.why));
  }
  return text;
}

std::string metrics_json(std::span<const Evaluated> metrics) {
  ordered_json json{{"schema", "loft.metric/1"}, {"metrics", ordered_json::array()}};
  for (const Evaluated& metric : metrics) json["metrics"].push_back(metric_object(metric));
  json["constants"] = constants_array(metrics);
  return dumped(json);
}

std::string metric_columns_csv(const metric::MetricColumns& columns) {
  std::string text = columns.labels.empty() ? "row" : "row,label";
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    const std::string& name = columns.names[i];
    text += "," + csv_field(name);
    if (columns.errors[i]) text += "," + csv_field(name + ".low") + "," + csv_field(name + ".high");
  }
  text += '\n';
  const std::size_t rows = columns.values.empty() ? 0 : columns.values[0].size();
  for (std::size_t row = 0; row < rows; ++row) {
    text += std::to_string(row + 1);
    if (!columns.labels.empty()) text += "," + csv_field(columns.labels[row]);
    for (std::size_t i = 0; i < columns.values.size(); ++i) {
      const double value = columns.values[i][row];
      const auto add = [&](double number) {
        text += ',';
        if (!std::isnan(number)) fmt::format_to(std::back_inserter(text), "{}", number);
      };
      add(value);
      if (!columns.errors[i]) continue;
      add(value - *columns.errors[i]);
      add(value + *columns.errors[i]);
    }
    text += '\n';
  }
  return text;
}

std::string metric_columns_json(const metric::MetricColumns& columns) {
  ordered_json json{{"schema", "loft.metric/1"}, {"metrics", ordered_json::array()}};
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    ordered_json values = ordered_json::array();
    for (const double value : columns.values[i])
      values.push_back(std::isnan(value) ? ordered_json(nullptr) : ordered_json(value));
    json["metrics"].push_back({{"name", columns.names[i]},
                               {"unit", columns.units[i].text},
                               {"kind", columns.kinds[i]},
                               {"values", std::move(values)}});
    if (columns.errors[i]) json["metrics"].back()["error95"] = *columns.errors[i];
  }
  if (!columns.labels.empty()) json["labels"] = columns.labels;
  return dumped(json);
}

}  // namespace loft::view
