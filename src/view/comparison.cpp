#include "view/comparison.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/csv.hpp"
#include "view/json_text.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using sample::Change;
using sample::ComparedRow;
using sample::ComparedTable;

constexpr std::size_t kComparedName = 30;
constexpr std::size_t kComparedRows = 20;

std::string compared_text(double value, const std::string& unit) {
  if (unit == "s") return format_seconds(value);
  const std::string name = unit == "samples" ? "" : unit;
  if (std::abs(value) >= 1e5 || (value != 0 && std::abs(value) < 1))
    return with_si_prefix(value, name);
  return fmt::format("{:.6g}{}{}", value, name.empty() ? "" : " ", name);
}

std::string side_text(const std::optional<sample::Amount>& amount, const std::string& unit) {
  return amount ? compared_text(amount->value, unit) : "-";
}

std::string difference_text(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  return (*value > 0 ? "+" : *value < 0 ? "-" : "") + compared_text(std::abs(*value), unit);
}

const char* change_mark(Change change) {
  switch (change) {
    case Change::more:
      return "more";
    case Change::less:
      return "less";
    case Change::none:
      return "same";
    case Change::unknown:
      break;
  }
  return "?";
}

std::string compared_row(const std::string& name, const ComparedRow& row, const std::string& unit) {
  const auto ratio = row.ratio();
  return fmt::format("{:<{}} {:>10} {:>10} {:>10}  {:>6}  {}\n", name, kComparedName,
                     side_text(row.before, unit), side_text(row.after, unit),
                     difference_text(row.difference(), unit),
                     ratio ? fmt::format("{:.2f}", *ratio) : "-", change_mark(row.change()));
}

std::string compared_table(const ComparedTable& table) {
  const std::string title =
      table.metric.empty() ? "counts" : fmt::format("{} by {}", printable(table.metric), table.by);
  std::string text =
      fmt::format("{:<{}} {:>10} {:>10} {:>10}  {:>6}\n", short_name(title, kComparedName),
                  kComparedName, "A", "B", "B - A", "B / A");
  if (table.whole.before) text += compared_row("whole run", table.whole, table.unit);
  std::size_t same = 0;
  std::size_t unclear = 0;
  std::size_t shown = 0;
  std::size_t more = 0;
  for (const ComparedRow& row : table.rows) {
    const bool is_function = table.by == "function";
    if (is_function && row.change() == Change::none) {
      ++same;
    } else if (is_function && row.change() == Change::unknown && row.error()) {
      ++unclear;
    } else if (shown == kComparedRows) {
      ++more;
    } else {
      ++shown;
      text += compared_row(short_name("  " + printable(row.name), kComparedName), row, table.unit);
    }
  }
  if (unclear != 0) text += fmt::format("  too few samples to tell: {}\n", unclear);
  if (same != 0) text += fmt::format("  the same, as far as can be told: {}\n", same);
  if (more != 0) text += fmt::format("  changed by less: {}\n", more);
  return text;
}

std::string compared_number(const std::optional<double>& value, const char* absent) {
  return value ? fmt::format("{:.9g}", *value) : absent;
}

std::string side_number(const std::optional<sample::Amount>& amount, const char* absent) {
  return compared_number(amount ? std::optional(amount->value) : std::nullopt, absent);
}

std::optional<double> side_error(const std::optional<sample::Amount>& amount) {
  return amount ? amount->error : std::nullopt;
}

std::string compared_json(const ComparedRow& row) {
  return fmt::format(
      "{{\"name\":{},\"binary\":{},\"a\":{},\"a_error\":{},\"b\":{},\"b_error\":{},"
      "\"difference\":{},\"error\":{},\"change\":\"{}\"}}",
      json_text(row.name), json_text(row.binary), side_number(row.before, "null"),
      compared_number(side_error(row.before), "null"), side_number(row.after, "null"),
      compared_number(side_error(row.after), "null"), compared_number(row.difference(), "null"),
      compared_number(row.error(), "null"), to_string(row.change()));
}

}  // namespace

std::string comparison_text(const sample::Comparison& comparison) {
  std::string text = fmt::format("A {}\nB {}\n", printable(comparison.before_path),
                                 printable(comparison.after_path));
  for (const ComparedTable& table : comparison.tables) text += "\n" + compared_table(table);
  if (!comparison.tables.empty())
    text +=
        "\nmore, less: beyond what sampling does by chance in 99 of 100 cases.\n"
        "How much runs differ from each other is not in it. ?: one run alone, or too\n"
        "few samples, cannot tell.\n";
  for (const std::string& note : comparison.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string comparison_csv(const sample::Comparison& comparison) {
  std::string out = "by,metric,unit,name,binary,a,a_error,b,b_error,change\n";
  for (const ComparedTable& table : comparison.tables) {
    const auto line = [&](const std::string& by, const ComparedRow& row) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", by, csv_field(table.metric),
                         csv_field(table.unit), csv_field(row.name), csv_field(row.binary),
                         side_number(row.before, ""), compared_number(side_error(row.before), ""),
                         side_number(row.after, ""), compared_number(side_error(row.after), ""),
                         to_string(row.change()));
    };
    if (table.whole.before) line("run", table.whole);
    for (const ComparedRow& row : table.rows) line(table.by, row);
  }
  return out;
}

std::string comparison_json(const sample::Comparison& comparison) {
  std::string out = "[";
  for (std::size_t i = 0; i < comparison.tables.size(); ++i) {
    const ComparedTable& table = comparison.tables[i];
    out += fmt::format("{}{{\"by\":{},\"metric\":{},\"unit\":{},", i > 0 ? ",\n" : "\n",
                       json_text(table.by), json_text(table.metric), json_text(table.unit));
    if (table.whole.before) out += "\"whole\":" + compared_json(table.whole) + ",";
    out += "\"rows\":[";
    for (std::size_t k = 0; k < table.rows.size(); ++k)
      out += (k > 0 ? ",\n" : "\n") + compared_json(table.rows[k]);
    out += "]}";
  }
  return out + "]";
}

}  // namespace loft::view
