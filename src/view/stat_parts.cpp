#include "view/stat_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

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

// Characters, not bytes.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
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
  const auto size = [&](const Row* row) {  // what is not known goes last
    return row->counts[first].is_available() ? row->counts[first].value() : -1;
  };
  std::ranges::stable_sort(rows, std::greater<>(), size);
  const auto cell = [&](std::size_t k, std::size_t i) {
    return count_text(rows[k]->counts[i], run.events[i]);
  };
  std::vector<std::size_t> widths;  // intervals need more room
  for (const std::size_t i : columns) {
    std::size_t widest = 18;
    for (std::size_t k = 0; k < rows.size() && k < shown; ++k)
      widest = std::max(widest, display_width(cell(k, i)));
    widths.push_back(widest);
  }
  std::string text = "\n";
  const auto add = [&](std::size_t column, const std::string& value) {
    text += fmt::format("{:>{}}  ", value, widths[column]);
  };
  for (std::size_t c = 0; c < columns.size(); ++c) add(c, printable(run.events[columns[c]].name));
  text += fmt::format("{}\n", title);
  for (std::size_t k = 0; k < rows.size() && k < shown; ++k) {
    for (std::size_t c = 0; c < columns.size(); ++c) add(c, cell(k, columns[c]));
    text += label(*rows[k]);
  }
  if (rows.size() <= shown) return text;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Count rest = rows[shown]->counts[columns[c]];
    for (std::size_t k = shown + 1; k < rows.size(); ++k) rest += rows[k]->counts[columns[c]];
    add(c, count_text(rest, run.events[columns[c]]));
  }
  return text + fmt::format("({} others)\n", rows.size() - shown);
}

}  // namespace

// " ±3 %"; where the two sides differ " -1/+20 %"; where it is wide " (0 to 1,200)".
std::string range_text(const Count& count, double scale) {
  if (!count.range) return {};
  const double value = count.value();
  const double below = value > 0 ? 100 * (value - count.range->low) / value : 100;
  const double above = value > 0 ? 100 * (count.range->high - value) / value : 100;
  const auto whole = [&](double end) {
    return with_separators(static_cast<std::uint64_t>(std::llround(end * scale)));
  };
  if (std::max(below, above) > 50)
    return fmt::format(" ({} to {})", whole(count.range->low), whole(count.range->high));
  if (above <= 1.5 * below && below <= 1.5 * above)
    return fmt::format(" ±{:.2g} %", std::max(below, above));
  return fmt::format(" -{:.2g}/+{:.2g} %", below, above);
}

std::string count_text(const Count& count, const sample::CountedEvent& event) {
  return count.is_available()
             ? number(count, event.unit, event.scale) + range_text(count, event.scale)
             : "not counted";
}

std::string function_table(const RunCounts& run) {
  constexpr std::size_t kShown = 30;
  return code_table(run, run.functions, kShown, "function", [](const auto& row) {
    return fmt::format("{}  {}\n", printable(row.name), printable(row.binary));
  });
}

// In their own order, which shows what is inside of what.
std::string region_table(const RunCounts& run) {
  if (run.regions.empty()) return {};
  std::vector<std::size_t> columns = counted_events(run);
  std::erase_if(columns, [&](std::size_t i) {
    return std::ranges::none_of(run.regions,
                                [&](const auto& row) { return row.counts[i].is_available(); });
  });
  const bool has_time =
      std::ranges::any_of(run.regions, [](const auto& row) { return row.time.has_value(); });
  std::string text = fmt::format("\n{:>14}  ", "visits");
  if (has_time) text += fmt::format("{:>14}  ", "time");
  for (const std::size_t i : columns)
    text += fmt::format("{:>18}  ", printable(run.events[i].name));
  text += "region\n";
  for (const sample::RegionCounts& row : run.regions) {
    text += fmt::format("{:>14}  ", with_separators(row.visits));
    if (has_time)
      text +=
          fmt::format("{:>14}  ", row.time ? format_seconds(to_seconds(*row.time)) : "not known");
    for (const std::size_t i : columns)
      text += fmt::format("{:>18}  ", count_text(row.counts[i], run.events[i]));
    text += std::string(2 * (row.path.size() - 1), ' ') + printable(row.path.back());
    if (row.thread)
      text += fmt::format("  (thread {} {})", run.threads[*row.thread].tid,
                          printable(run.threads[*row.thread].comm));
    text += "\n";
  }
  return text;
}

std::string line_table(const RunCounts& run, const std::vector<sample::LineCounts>& lines) {
  constexpr std::size_t kShown = 30;
  return code_table(run, lines, kShown, "line", [](const auto& row) {
    if (row.file.empty()) return fmt::format("(no lines known)  {}\n", printable(row.binary));
    return fmt::format("{}:{}\n", printable(row.file), row.line);
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
