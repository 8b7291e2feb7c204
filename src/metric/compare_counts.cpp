#include "metric/compare_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "metric/counts_file.hpp"

namespace loft::metric {
namespace {

using nlohmann::json;
using sample::Amount;
using sample::ComparedRow;
using sample::ComparedTable;

// Of the mean of several runs: Student's for few of them.
double quantile_99(double runs) {
  static constexpr double kStudent[] = {63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25};
  const auto freedom = static_cast<std::size_t>(std::max(1.0, runs - 1));
  return freedom <= std::size(kStudent) ? kStudent[freedom - 1] : 2.576 + 7 / runs;
}

std::optional<double> compared_number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string compared_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::optional<Amount> compared_amount(const json& object, bool is_exact) {
  const auto value = compared_number(object, "value");
  if (!value) return std::nullopt;
  Amount amount{*value, std::nullopt};
  if (is_exact && compared_text(object, "kind") == "counted") amount.error = 0;
  const auto deviation = compared_number(object, "deviation");
  const auto runs = compared_number(object, "runs");
  if (deviation && runs && *runs >= 2)
    amount.error = quantile_99(*runs) * *deviation / std::sqrt(*runs);
  return amount;
}

// Clones of a function are one.
void add_clone(Amount& sum, const Amount& amount) {
  sum.value += amount.value;
  if (!amount.error)
    sum.error.reset();
  else if (sum.error)
    sum.error = std::hypot(*sum.error, *amount.error);
}

CountedRun read_stat(const json& file) {
  CountedRun run;
  const bool is_exact = compared_text(file, "source") == "virtual";
  for (const json& event : file.value("events", json::array())) {
    if (!event.is_object()) continue;
    const std::string name = compared_text(event, "name");
    if (const auto amount = compared_amount(event, is_exact)) run.events[name] = *amount;
    const auto functions = event.find("functions");
    if (functions == event.end() || !functions->is_array()) continue;
    for (const json& function : *functions) {
      if (!function.is_object()) continue;
      if (const auto amount = compared_amount(function, is_exact))
        add_clone(run.functions[name][{sample::plain_function_name(compared_text(function, "name")),
                                       compared_text(function, "binary")}],
                  *amount);
    }
  }
  return run;
}

// What a point of a roofline has, under the name that it bears in a comparison.
struct RoofColumn {
  const char* key;
  const char* name;
  const char* unit;
};
constexpr RoofColumn kRoofColumns[] = {{"seconds", "time", "s"},
                                       {"flops", "operations", "FLOP"},
                                       {"bytes", "bytes", "B"},
                                       {"instructions", "instructions", ""}};

// From the 95 % interval of a file to the 99 % interval of a comparison.
constexpr double kFrom95To99 = 2.576 / 1.96;

std::optional<Amount> roof_amount(const json& point, const RoofColumn& column, bool is_exact) {
  const auto value = compared_number(point, column.key);
  if (!value) return std::nullopt;
  Amount amount{*value, std::nullopt};
  if (column.unit != std::string_view("s")) {
    if (is_exact && compared_text(point, "work_kind") == "counted") amount.error = 0;
    return amount;
  }
  const auto interval = point.find("seconds_ci95");
  if (interval != point.end() && interval->is_array() && interval->size() == 2 &&
      (*interval)[0].is_number() && (*interval)[1].is_number())
    amount.error = kFrom95To99 * ((*interval)[1].get<double>() - (*interval)[0].get<double>()) / 2;
  return amount;
}

Result<CountedRun> read_roof(const std::string& file_name, const json& file) {
  if (file.contains("runs"))
    return failure(ErrorKind::invalid_input, "compare '" + file_name + "'",
                   "it holds several rooflines", "write each run to a file of its own");
  CountedRun run;
  const std::string counts = compared_text(file, "counts");
  const bool is_exact = counts.starts_with("virtual PMU, exact");
  const bool bytes_are_modelled = counts.find("bytes of memory modelled") != std::string::npos;
  for (const RoofColumn& column : kRoofColumns)
    if (*column.unit != 0) run.units[column.name] = column.unit;
  for (const json& point : file.value("points", json::array())) {
    if (!point.is_object()) continue;
    const std::string scope = compared_text(point, "scope");
    for (const RoofColumn& column : kRoofColumns) {
      const bool is_modelled = bytes_are_modelled && *column.unit == 'B';
      const auto amount = roof_amount(point, column, is_exact && !is_modelled);
      if (!amount) continue;
      if (scope == "run") run.events[column.name] = *amount;
      if (scope != "function") continue;
      add_clone(
          run.functions[column.name][{sample::plain_function_name(compared_text(point, "name")),
                                      compared_text(point, "binary")}],
          *amount);
    }
  }
  return run;
}

std::string unit_of(const CountedRun& run, const std::string& event) {
  const auto found = run.units.find(event);
  return found == run.units.end() ? "" : found->second;
}

// For a table whose rows have units of their own.
std::string with_unit(const std::string& event, const CountedRun& run) {
  const std::string unit = unit_of(run, event);
  return unit.empty() ? event : fmt::format("{} in {}", event, unit);
}

ComparedTable compared_functions(const std::string& event, const CountedRun& before,
                                 const CountedRun& after) {
  const std::string unit = unit_of(after, event);
  ComparedTable table{"function", event, unit, {}, {}};
  table.whole = {"", "", before.events.at(event), after.events.at(event)};
  auto left = after.functions.at(event);
  // What a run did not execute, it counted 0 times, as exactly as the rest. Time is sampled: a
  // function without any may have run all the same.
  const auto none = [&](const Amount& other) -> std::optional<Amount> {
    if (unit == "s") return std::nullopt;
    return Amount{0, other.error ? std::optional(0.0) : std::nullopt};
  };
  for (const auto& [key, amount] : before.functions.at(event)) {
    auto found = left.find(key);
    if (found == left.end())
      found = std::ranges::find(left, key.first, [](const auto& one) { return one.first.first; });
    ComparedRow row{key.first, key.second, amount, none(amount)};
    if (found != left.end()) {
      row.binary = found->first.second;
      row.after = found->second;
      left.erase(found);
    }
    table.rows.push_back(std::move(row));
  }
  for (const auto& [key, amount] : left)
    table.rows.push_back({key.first, key.second, none(amount), amount});
  std::ranges::stable_sort(table.rows, std::greater(), [](const ComparedRow& row) {
    return std::abs(row.difference().value_or(0));
  });
  return table;
}

}  // namespace

Result<CountedRun> read_counted_run(const std::string& file_name, std::string_view text) {
  const json file = json::parse(text, nullptr, false);
  if (file.is_object() && compared_text(file, "schema").starts_with("loft.stat/"))
    return read_stat(file);
  if (file.is_object() && compared_text(file, "schema").starts_with("loft.roof/"))
    return read_roof(file_name, file);
  LOFT_TRY(const CountsFile counts, read_counts(file_name, text));
  CountedRun run;
  for (const auto& [name, quantity] : counts.total.by_name())
    if (quantity.origin != sample::Origin::missing)
      run.events[name] = {quantity.value.as_double(), std::nullopt};
  if (run.events.empty())
    return failure(ErrorKind::malformed, "compare '" + file_name + "'",
                   "it holds no counts of a whole run",
                   "write them with: loft stat --format json -o FILE -- ./app");
  return run;
}

void add_counts(const CountedRun& before, const CountedRun& after, sample::Comparison& comparison) {
  ComparedTable table{"run", "", "", {}, {}};
  for (const auto& [name, amount] : before.events) {
    const auto found = after.events.find(name);
    if (found == after.events.end())
      comparison.notes.push_back(fmt::format("{} is only in the first file", name));
    else
      table.rows.push_back({with_unit(name, after), "", amount, found->second});
  }
  for (const auto& [name, amount] : after.events)
    if (!before.events.contains(name))
      comparison.notes.push_back(fmt::format("{} is only in the second file", name));
  comparison.tables.push_back(table);
  for (const auto& [name, amount] : before.events)
    if (after.events.contains(name) && before.functions.contains(name) &&
        after.functions.contains(name))
      comparison.tables.push_back(compared_functions(name, before, after));
}

}  // namespace loft::metric
