#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/report.hpp"

namespace loft::view {
namespace {

using sample::Dimension;
using sample::Report;
using sample::ReportEvent;
using sample::ReportRow;

std::string line(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<10}{}\n", name, text);
}

std::string machine_text(const perf_data::Metadata& metadata) {
  std::vector<std::string> parts;
  std::string name = printable(metadata.hostname);
  for (const auto& [key, value] : metadata.simpleperf_facts) {
    if (key == "android_version") parts.push_back("Android " + printable(value));
    if (key == "product_props" && name.empty()) name = printable(value);  // "maker:model:build"
  }
  if (!metadata.os_release.empty()) parts.push_back("Linux " + printable(metadata.os_release));
  if (!metadata.arch.empty()) parts.push_back(printable(metadata.arch));
  if (metadata.cpus_online) parts.push_back(fmt::format("{} CPUs", *metadata.cpus_online));
  if (!metadata.cpu_description.empty()) parts.push_back(printable(metadata.cpu_description));
  if (name.empty()) return join(parts, ", ");
  return parts.empty() ? name : name + " (" + join(parts, ", ") + ")";
}

std::string period_text(const ReportEvent& event, std::uint64_t period) {
  if (!event.period_is_known) return "-";
  if (event.is_energy) return fmt::format("{:.6g} J", static_cast<double>(period) * 1e-6);
  return event.is_time ? format_seconds(static_cast<double>(period) * 1e-9)
                       : with_separators(period);
}

std::vector<std::string> keys_of(const Report& report, const ReportRow& row) {
  const auto& keys = row.keys;
  std::vector<std::string> parts;
  for (const Dimension dimension : report.by) {
    switch (dimension) {
      case Dimension::function:
      case Dimension::line:
        parts.push_back(printable(keys.function));
        break;
      case Dimension::comm:
        parts.push_back(keys.comm.empty() ? "-" : printable(keys.comm));
        break;
      case Dimension::binary:
        parts.push_back(printable(keys.binary));
        break;
      case Dimension::cpu:
        parts.push_back(keys.cpu ? fmt::format("cpu {}", *keys.cpu) : "-");
        break;
      case Dimension::thread:
        parts.push_back(keys.tid ? fmt::format("{} {}", printable(keys.comm), *keys.tid) : "-");
        break;
      case Dimension::process:
        parts.push_back(keys.pid ? fmt::format("{} {}", printable(keys.comm), *keys.pid) : "-");
        break;
    }
  }
  return parts;
}

bool names_functions(const Report& report) {
  return std::any_of(report.by.begin(), report.by.end(), [](Dimension dimension) {
    return dimension == Dimension::function || dimension == Dimension::line;
  });
}

const char* heading_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::function:
      return "function";
    case Dimension::thread:
      return "thread";
    case Dimension::process:
      return "process";
    case Dimension::binary:
      return "binary";
    case Dimension::line:
      return "function";
    case Dimension::cpu:
      return "cpu";
    case Dimension::comm:
      return "comm";
  }
  return "";
}

struct Cells {
  std::string inclusive, share, samples, period;
  std::vector<std::string> parts;  // of the keys, which align_keys() puts together
  std::string keys, binary, file;
};

Cells cells_of(const Report& report, const ReportRow& row) {
  const ReportEvent& event = report.events[row.event];
  Cells cells;
  if (row.inclusive) cells.inclusive = fmt::format("{:.2f} %", 100 * row.inclusive_share);
  cells.share = fmt::format("{:.2f} %", 100 * row.share);
  cells.samples = with_separators(row.self.samples);
  cells.period = period_text(event, row.self.period);
  cells.parts = keys_of(report, row);
  if (!names_functions(report)) return cells;
  cells.binary = printable(row.keys.binary);
  if (!row.keys.file.empty())
    cells.file = row.keys.line == 0 ? printable(row.keys.file)
                                    : fmt::format("{}:{}", printable(row.keys.file), row.keys.line);
  return cells;
}

// Screen columns that a text takes: its characters, not its bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string cut_to(const std::string& text, std::size_t columns) {
  if (width_of(text) <= columns) return text;
  std::string out;
  std::size_t used = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && ++used >= columns) return out + "~";
    out += c;
  }
  return out;
}

std::string padded(const std::string& text, std::size_t columns, bool to_the_right) {
  const std::size_t width = width_of(text);
  const std::string space(columns > width ? columns - width : 0, ' ');
  return to_the_right ? space + text : text + space;
}

// Rows of several keys have them below each other.
void align_keys(std::vector<Cells>& rows) {
  constexpr std::size_t kWidest = 60;
  std::vector<std::size_t> widths(rows.front().parts.size());
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], std::min(kWidest, width_of(row.parts[i])));
  widths.back() = 0;
  for (Cells& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      row.parts[i] = padded(row.parts[i], widths[i], false);
    row.keys = join(row.parts, "  ");
  }
}

// Columns as wide as they need; names give way first when the screen is narrow.
std::string table(const std::vector<Cells>& rows, bool has_inclusive, int columns) {
  std::size_t inclusive = 0, share = 0, samples = 0, period = 0, keys = 0, binary = 0;
  for (const Cells& row : rows) {
    inclusive = std::max(inclusive, width_of(row.inclusive));
    share = std::max(share, width_of(row.share));
    samples = std::max(samples, width_of(row.samples));
    period = std::max(period, width_of(row.period));
    keys = std::max(keys, width_of(row.keys));
    binary = std::max(binary, width_of(row.binary));
  }
  const std::size_t numbers = share + samples + period + 6 + (has_inclusive ? inclusive + 2 : 0);
  if (columns > 0) {
    const auto screen = static_cast<std::size_t>(columns);
    const std::size_t room = screen > numbers + 40 ? screen - numbers : 40;
    keys = std::min(keys, std::max<std::size_t>(24, room * 6 / 10));
    binary = std::min(binary, room - std::min(room, keys + 2));
  } else {
    keys = std::min<std::size_t>(keys, 60);
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string out;
    if (has_inclusive) out += padded(row.inclusive, inclusive, true) + "  ";
    out += padded(row.share, share, true) + "  " + padded(row.samples, samples, true) + "  " +
           padded(row.period, period, true) + "  ";
    out += padded(columns > 0 ? cut_to(row.keys, keys) : row.keys, keys, false);
    if (!row.binary.empty())
      out += "  " + padded(columns > 0 ? cut_to(row.binary, binary) : row.binary, binary, false);
    if (!row.file.empty() && columns == 0) out += "  " + row.file;
    if (!row.file.empty() && columns > 0 &&
        width_of(out) + 2 + width_of(row.file) <= static_cast<std::size_t>(columns))
      out += "  " + row.file;
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

Cells headings(const Report& report, bool has_inclusive) {
  Cells cells{has_inclusive ? "total" : "",
              has_inclusive ? "self" : "share",
              "samples",
              "period",
              {},
              "",
              "",
              ""};
  for (const Dimension dimension : report.by) cells.parts.emplace_back(heading_of(dimension));
  if (names_functions(report)) {
    cells.binary = "binary";
    const bool lines =
        std::find(report.by.begin(), report.by.end(), Dimension::line) != report.by.end();
    cells.file = lines ? "source line" : "source file";
  }
  return cells;
}

}  // namespace

std::string samples_text(std::uint64_t samples) {
  return with_separators(samples) + (samples == 1 ? " sample" : " samples");
}

std::string shown_share_text(const ReportEvent& event) {
  if (event.shown_share >= 1) return {};
  return fmt::format(" ({:.3g} % of all; shares are of what is shown)", 100 * event.shown_share);
}

// Meters tell the energy of the whole machine; who used it is a matter of sharing.
std::string shared_text(const ReportEvent& event) {
  if (event.shared_by.empty()) return {};
  return fmt::format(" of the whole machine, shared by samples of {} (modelled)",
                     printable(event.shared_by));
}

std::string recording_text(const Report& report) {
  const auto& summary = report.summary;
  std::uint64_t samples = 0;
  for (const auto& event : report.events) samples += event.total.samples;
  std::string what =
      fmt::format("{}, {}", with_binary_prefix(summary.bytes), samples_text(samples));
  if (report.threads != 0)
    what += fmt::format(" of {} thread{}", report.threads, report.threads == 1 ? "" : "s");
  if (report.first_time)
    what +=
        ", " + format_seconds(static_cast<double>(*report.last_time - *report.first_time) * 1e-9);
  std::string text = line("recording", printable(summary.path) + " (" + what + ")");
  text += line("machine", machine_text(summary.metadata));
  std::vector<std::string> words;
  for (const auto& word : summary.metadata.command_line) words.push_back(printable(word));
  text += line("command", join(words, " "));
  if (report.filtered_out != 0)
    text += line("filtered", with_separators(report.filtered_out) + " samples left out by filters");
  if (summary.lost != 0)
    text +=
        line("lost", with_separators(summary.lost) + " records that the recorder could not keep");
  if (summary.unreadable_samples != 0)
    text += line("unread", with_separators(summary.unreadable_samples) +
                               " samples of no known event or too short");
  for (const auto& note : summary.notes) text += line("note", printable(note));
  return text;
}

std::string report_text(const Report& report, const TableOptions& options) {
  std::string text = recording_text(report);
  const bool has_inclusive = !report.rows.empty() && report.rows.front().inclusive.has_value();
  if (report.events.size() > 1 && std::none_of(report.events.begin(), report.events.end(),
                                               [](const auto& e) { return e.total.samples != 0; }))
    text += "\nno samples of any of its events\n";
  auto row = report.rows.begin();
  for (const std::uint32_t i : sample::shown_order(report.events)) {
    const ReportEvent& event = report.events[i];
    if (event.total.samples == 0 && report.events.size() > 1) continue;
    text +=
        fmt::format("\n{}: {}, {}{}{}\n", printable(event.name), samples_text(event.total.samples),
                    event.period_is_known ? "period " + period_text(event, event.total.period)
                                          : "periods not recorded",
                    shared_text(event), shown_share_text(event));
    if (event.total.samples == 0) continue;
    std::vector<Cells> cells = {headings(report, has_inclusive)};
    for (; row != report.rows.end() && row->event == i; ++row)
      cells.push_back(cells_of(report, *row));
    align_keys(cells);
    text += table(cells, has_inclusive, options.columns);
    if (report.rows_left_out[i] != 0)
      text += fmt::format("({} others)\n", with_separators(report.rows_left_out[i]));
  }
  return text;
}

}  // namespace loft::view
