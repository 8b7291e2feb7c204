// What `loft stat --format json` writes (schema loft.stat/1).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metric/counts_formats.hpp"

namespace loft::metric {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Quantity event_quantity(const json& event) {
  const auto value = event.find("value");
  if (value == event.end() || !value->is_number()) {
    const std::string why = text_of(event, "why");
    return Quantity::missing(why.empty() ? "not counted" : why);
  }
  const std::string kind = text_of(event, "kind");
  const auto origin = kind == "scaled"     ? sample::Origin::scaled
                      : kind == "modelled" ? sample::Origin::modelled
                                           : sample::Origin::counted;
  return quantity_of(value->dump(), text_of(event, "unit"), origin);
}

}  // namespace

Result<CountsFile> read_json_counts(const std::string& file_name, std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  const auto events = document.is_object() ? document.find("events") : document.end();
  if (!document.is_object() || events == document.end() || !events->is_array())
    return bad_counts(file_name, 1,
                      "an object with \"events\" was expected, as loft stat writes it");
  CountsFile file;
  file.format = "loft stat JSON";
  for (const json& event : *events) {
    const std::string name = event.is_object() ? text_of(event, "name") : std::string();
    if (name.empty()) return bad_counts(file_name, 1, "an event has no name");
    file.total.add(name, event_quantity(event));
  }
  if (text_of(document, "time_of") == "engine")
    file.total.add("time", Quantity::missing("it was the engine's, not the program's"));
  else if (const auto wall = document.find("wall_s"); wall != document.end() && wall->is_number())
    file.total.add("time", Quantity::exact(Number::real(wall->get<double>())));
  return file;
}

}  // namespace loft::metric
