#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/machine_compare.hpp"
#include "view/csv.hpp"
#include "view/machine.hpp"

namespace loft::view {
namespace {

// An unknown number is an empty field.
std::string value_or_empty(double value, model::Verdict verdict) {
  return verdict == model::Verdict::unavailable ? std::string() : fmt::format("{}", value);
}

}  // namespace

std::string machine_csv(const model::Machine& machine) {
  std::string text =
      "kind,name,level,isa,precision,op,threads,bytes,best,median,per_cycle,unit,spread,verdict\n";
  for (const model::Roof& roof : machine.roofs)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", to_string(roof.kind),
                        csv_field(model::describe(roof)), csv_field(roof.level),
                        csv_field(roof.isa), csv_field(roof.precision), csv_field(roof.op),
                        roof.threads, roof.bytes == 0 ? std::string() : std::to_string(roof.bytes),
                        value_or_empty(roof.best, roof.verdict),
                        value_or_empty(roof.median, roof.verdict),
                        value_or_empty(roof.per_cycle, roof.verdict), model::unit_of(roof.kind),
                        value_or_empty(roof.spread, roof.verdict), to_string(roof.verdict));
  for (const model::Constant& constant : machine.constants)
    text +=
        fmt::format("constant,{},,,,,,,{},{},,{},{},{}\n", csv_field(constant.name),
                    value_or_empty(constant.value, constant.verdict),
                    value_or_empty(constant.median, constant.verdict), csv_field(constant.unit),
                    value_or_empty(constant.spread, constant.verdict), to_string(constant.verdict));
  return text;
}

std::string comparison_json(const model::Machine& first, const model::Machine& second) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json rows = Json::array();
  for (const model::Comparison& row : model::compare(first, second))
    rows.push_back({{"group", row.group},
                    {"name", row.name},
                    {"unit", row.unit},
                    {"first", or_null(row.first)},
                    {"second", or_null(row.second)},
                    {"ratio", or_null(row.ratio())},
                    {"noisy", row.is_noisy}});
  const Json json = {
      {"schema", "loft.machine-compare/1"},
      {"first", {{"identity", first.identity}, {"cpu", first.cpu}, {"when", first.when}}},
      {"second", {{"identity", second.identity}, {"cpu", second.cpu}, {"when", second.when}}},
      {"rows", rows}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace loft::view
