#include "view/stat_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"

namespace loft::view {
namespace {

using sample::Count;
using sample::Origin;
using sample::RunCounts;

std::string number(const Count& count, const std::string& unit, double scale) {
  const std::string mark = count.origin == Origin::counted ? "" : "~ ";
  const double value = count.value() * scale;
  if (unit == "ns") return fmt::format("{}{:.2f} ms", mark, value * 1e-6);
  // What was counted in whole units stays whole, to the last digit.
  const bool is_whole = count.origin != Origin::scaled && scale >= 1 && scale == std::floor(scale);
  if (!unit.empty() && is_whole)
    return mark + with_separators(count.raw * static_cast<std::uint64_t>(scale)) + " " +
           printable(unit);
  if (!unit.empty()) return fmt::format("{}{:.3f} {}", mark, value, printable(unit));
  return mark + with_separators(static_cast<std::uint64_t>(std::llround(value)));
}

// The columns: events that were counted at all.
std::vector<std::size_t> counted_events(const RunCounts& run) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < run.events.size(); ++i)
    if (run.events[i].total.is_available()) columns.push_back(i);
  return columns;
}

// Names of code are long: the numbers come first. `label` writes what follows them.
template <class Row, class Label>
std::string code_table(const RunCounts& run, const std::vector<Row>& parts, std::size_t shown,
                       std::string_view title, Label&& label) {
  const std::vector<std::size_t> columns = counted_events(run);
  if (parts.empty() || columns.empty()) return {};
  std::vector<const Row*> rows;
  for (const Row& row : parts) rows.push_back(&row);
  const std::size_t first = columns.front();
  std::stable_sort(rows.begin(), rows.end(), [&](const Row* a, const Row* b) {
    return a->counts[first].value() > b->counts[first].value();
  });
  std::string text = "\n";
  for (const std::size_t i : columns)
    text += fmt::format("{:>18}  ", printable(run.events[i].name));
  text += fmt::format("{}\n", title);
  for (std::size_t k = 0; k < rows.size() && k < shown; ++k) {
    for (const std::size_t i : columns)
      text += fmt::format("{:>18}  ", count_text(rows[k]->counts[i], run.events[i]));
    text += label(*rows[k]);
  }
  if (rows.size() <= shown) return text;
  for (const std::size_t i : columns) {
    Count rest = rows[shown]->counts[i];
    for (std::size_t k = shown + 1; k < rows.size(); ++k) rest += rows[k]->counts[i];
    text += fmt::format("{:>18}  ", count_text(rest, run.events[i]));
  }
  return text + fmt::format("({} others)\n", rows.size() - shown);
}

}  // namespace

std::string count_text(const Count& count, const sample::CountedEvent& event) {
  return count.is_available() ? number(count, event.unit, event.scale) : "not counted";
}

std::string function_table(const RunCounts& run) {
  constexpr std::size_t kShown = 30;
  return code_table(run, run.functions, kShown, "function", [](const auto& row) {
    return fmt::format("{}  {}\n", printable(row.name), printable(row.binary));
  });
}

std::string block_table(const RunCounts& run) {
  constexpr std::size_t kShown = 20;
  return code_table(run, run.blocks, kShown, "block", [](const auto& row) {
    std::string text = fmt::format("{}+{:#x}  {} at {:#x}\n", printable(row.function), row.offset,
                                   printable(row.binary), row.address);
    for (const std::string& line : row.code) text += fmt::format("{:24}{}\n", "", line);
    return text;
  });
}

}  // namespace loft::view
