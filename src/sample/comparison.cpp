#include "sample/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "event/recording_schema.hpp"

namespace loft::sample {
namespace {

constexpr double kNormal99 = 2.576;

// Up to this share of an amount, the interval of a difference tells that nothing changed.
constexpr double kWidestOfSame = 0.5;

constexpr std::string_view kWithoutPlace = "[no address]";

// ".constprop.0": a dot, a word of the compiler, and numbers.
bool is_clone_suffix(std::string_view word) {
  static constexpr std::array kWords = {"constprop", "isra", "part", "cold", "lto_priv", "llvm"};
  return std::ranges::find(kWords, word) != kWords.end();
}

bool is_decimal(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// Cuts suffixes from the end while there are any.
std::string_view without_suffixes(std::string_view name) {
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos || dot == 0) break;
    const std::string_view word = rest.substr(dot + 1);
    if (!is_decimal(word) && !is_clone_suffix(word)) break;
    rest = rest.substr(0, dot);
    if (!is_decimal(word)) name = rest;
  }
  return name;
}

struct SeenUnit {
  std::string name;
  double scale = 1;
  bool by_period = true;
};

SeenUnit seen_unit(const ReportEvent& event) {
  if (!event.period_is_known) return {"samples", 1, false};
  if (event.is_time) return {"s", 1e-9, true};
  return event.is_energy ? SeenUnit{"J", 1e-6, true} : SeenUnit{"", 1, true};
}

// The functions of one event of a recording, clones together.
struct SeenFunction {
  std::string binary;
  Weight weight;
};
using SeenKey = std::pair<std::string, std::string>;  // name and file name of the binary

std::string binary_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::map<SeenKey, SeenFunction> seen_functions(const Report& report, std::uint32_t event) {
  std::map<SeenKey, SeenFunction> functions;
  for (const ReportRow& row : report.rows) {
    if (row.event != event) continue;
    SeenFunction& function =
        functions[{plain_function_name(row.keys.function), binary_name(row.keys.binary)}];
    function.binary = row.keys.binary;
    function.weight += row.self;
  }
  return functions;
}

class SeenSide {
 public:
  SeenSide(const ComparedReport& compared, std::uint32_t event)
      : unit_(seen_unit(compared.report.events[event])),
        total_(compared.report.events[event].total),
        is_exact_(compared.is_exact && unit_.by_period),
        is_counted_(compared.report.events[event].is_counted),
        functions_(seen_functions(compared.report, event)) {}

  [[nodiscard]] Amount amount(const Weight& weight) const {
    const auto of = [&](const Weight& one) {
      return static_cast<double>(unit_.by_period ? one.period : one.samples);
    };
    Amount amount{unit_.scale * of(weight), 0};
    const double mean = total_.samples == 0 ? 0 : of(total_) / static_cast<double>(total_.samples);
    if (!is_exact_) amount.error = unit_.scale * sampling_error(weight, mean);
    return amount;
  }
  // What is not divided among functions by sampling: a sum that one run counted.
  [[nodiscard]] Amount undivided(const Weight& weight) const {
    Amount sum = amount(weight);
    if (is_counted_ && !is_exact_) sum.error.reset();
    return sum;
  }
  [[nodiscard]] Amount whole() const { return undivided(total_); }
  [[nodiscard]] Amount of_function(const SeenKey& key, const SeenFunction* function) const {
    const Weight weight = function != nullptr ? function->weight : Weight{};
    return key.first == kWithoutPlace ? undivided(weight) : amount(weight);
  }
  [[nodiscard]] std::map<SeenKey, SeenFunction>& functions() { return functions_; }
  [[nodiscard]] const SeenUnit& unit() const { return unit_; }

 private:
  SeenUnit unit_;
  Weight total_;
  bool is_exact_;
  bool is_counted_;
  std::map<SeenKey, SeenFunction> functions_;
};

// A function of a program that was renamed has another binary, but its name is the same.
void pair_by_name(SeenSide& before, SeenSide& after) {
  std::map<std::string, std::vector<SeenKey>> left;  // of the second run, by name
  for (const auto& [key, function] : after.functions())
    if (!before.functions().contains(key)) left[key.first].push_back(key);
  std::vector<SeenKey> alone;
  for (const auto& [key, function] : before.functions())
    if (!after.functions().contains(key)) alone.push_back(key);
  for (const SeenKey& key : alone) {
    const auto found = left.find(key.first);
    if (found == left.end() || found->second.empty()) continue;
    auto node = before.functions().extract(key);
    node.key() = found->second.back();
    found->second.pop_back();
    before.functions().insert(std::move(node));
  }
}

ComparedTable compare_functions(SeenSide before, SeenSide after, const std::string& event) {
  pair_by_name(before, after);
  ComparedTable table{"function", event, after.unit().name, {}, {}};
  table.whole = {"", "", before.whole(), after.whole()};
  std::map<SeenKey, std::pair<const SeenFunction*, const SeenFunction*>> pairs;
  for (const auto& [key, function] : before.functions()) pairs[key].first = &function;
  for (const auto& [key, function] : after.functions()) pairs[key].second = &function;
  for (const auto& [key, pair] : pairs) {
    const auto& [a, b] = pair;
    table.rows.push_back({key.first, b != nullptr ? b->binary : a->binary,
                          before.of_function(key, a), after.of_function(key, b)});
  }
  std::ranges::stable_sort(table.rows, std::greater(), [](const ComparedRow& row) {
    return std::abs(row.difference().value_or(0));
  });
  return table;
}

std::optional<std::uint32_t> event_named(const Report& report, const std::string& name) {
  for (std::uint32_t i = 0; i < report.events.size(); ++i)
    if (report.events[i].name == name && report.events[i].total.samples != 0) return i;
  return std::nullopt;
}

}  // namespace

const char* to_string(Change change) {
  switch (change) {
    case Change::none:
      return "none";
    case Change::more:
      return "more";
    case Change::less:
      return "less";
    case Change::unknown:
      break;
  }
  return "unknown";
}

std::optional<double> ComparedRow::difference() const {
  if (!before || !after) return std::nullopt;
  return after->value - before->value;
}

std::optional<double> ComparedRow::error() const {
  if (!before || !after || !before->error || !after->error) return std::nullopt;
  return std::hypot(*before->error, *after->error);
}

Change ComparedRow::change() const {
  const auto more = difference();
  const auto chance = error();
  if (!more || !chance) return Change::unknown;
  if (std::abs(*more) <= *chance) {
    const double larger = std::max(before->value, after->value);
    return *chance > kWidestOfSame * larger ? Change::unknown : Change::none;
  }
  return *more > 0 ? Change::more : Change::less;
}

std::optional<double> ComparedRow::ratio() const {
  if (!before || !after || !(before->value > 0)) return std::nullopt;
  return after->value / before->value;
}

std::string plain_function_name(std::string_view name) {
  // libiberty's words for a clone of a C++ function.
  while (name.ends_with(']')) {
    const std::size_t at = name.rfind(" [clone .");
    if (at == std::string_view::npos || at == 0) break;
    name = name.substr(0, at);
  }
  return std::string(without_suffixes(name));
}

double sampling_error(const Weight& weight, double mean_period) {
  // One more than there are: of what was never seen, some may have been.
  const double samples = static_cast<double>(weight.samples);
  const double mean = weight.samples == 0
                          ? mean_period
                          : std::max(mean_period, static_cast<double>(weight.period) / samples);
  return kNormal99 * mean * std::sqrt(samples + 1);
}

Comparison compare_reports(const ComparedReport& before, const ComparedReport& after) {
  Comparison comparison;
  comparison.before_path = before.report.summary.path;
  comparison.after_path = after.report.summary.path;
  for (const std::uint32_t event : shown_order(after.report.events)) {
    const ReportEvent& one = after.report.events[event];
    if (one.total.samples == 0 || !event::recording::has_address(one.name)) continue;
    const auto other = event_named(before.report, one.name);
    if (!other) {
      comparison.notes.push_back(fmt::format("{} is only in the second recording", one.name));
      continue;
    }
    const SeenSide a(before, *other);
    const SeenSide b(after, event);
    if (a.unit().name != b.unit().name) {
      comparison.notes.push_back(
          fmt::format("{} is not compared: only one recording has its periods", one.name));
      continue;
    }
    comparison.tables.push_back(compare_functions(a, b, one.name));
  }
  for (const std::uint32_t event : shown_order(before.report.events)) {
    const ReportEvent& one = before.report.events[event];
    if (one.total.samples != 0 && event::recording::has_address(one.name) &&
        !event_named(after.report, one.name))
      comparison.notes.push_back(fmt::format("{} is only in the first recording", one.name));
  }
  return comparison;
}

}  // namespace loft::sample
