#include "top/frame_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "top/values.hpp"
#include "view/csv.hpp"

namespace loft::top {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kColumn = 10;

std::string busy_text(const CoreSample& core) {
  const char* mark = core.busy_origin == sample::Origin::counted ? "" : "~";
  return core.busy ? fmt::format("{}{:.0f} %", mark, *core.busy * 100) : "n/a";
}

// Names that have a value on some core, in the order of their first appearance: what nobody counts
// is said once, in a note.
std::vector<std::string> columns_of(const Frame& frame) {
  std::vector<std::string> names;
  for (const CoreSample& core : frame.cores)
    for (const NamedValue& value : values_of(core)) {
      const bool is_countable = value.value || (core.set && !core.is_read());
      if (is_countable && std::ranges::find(names, value.name) == names.end())
        names.emplace_back(value.name);
    }
  return names;
}

std::string core_row(const Frame& frame, const CoreSample& core,
                     const std::vector<std::string>& columns) {
  std::string row =
      fmt::format("{:>9.3f} {:>4} {:>6} {:>6}", to_seconds(frame.time), core.cpu, busy_text(core),
                  core.waiting ? fmt::format("{:.2f}", *core.waiting) : "n/a");
  if (!core.is_read()) return row + "  " + core.why + "\n";
  const auto values = values_of(core);
  for (const std::string& column : columns) {
    const auto found = std::ranges::find(values, column, &NamedValue::name);
    row += fmt::format(" {:>{}}", found == values.end() ? "-" : short_text(*found),
                       std::max(column.size(), kColumn));
  }
  return row + "\n";
}

std::string energy_row(const Frame& frame, const EnergySample& energy) {
  return fmt::format("{:>9.3f} {} {}{}\n", to_seconds(frame.time), printable(energy.domain),
                     energy.origin == sample::Origin::counted || !energy.watts ? "" : "~",
                     energy.watts ? fmt::format("{:.2f} W", *energy.watts) : "n/a");
}

std::string cost_row(const Frame& frame) {
  const Cost& cost = frame.cost;
  return fmt::format(
      "{:>9.3f} loft: {:.2f} % of a CPU, {} a core and sample, {} late{}\n", to_seconds(frame.time),
      cost.cpu_share * 100, format_seconds(to_seconds(cost.reader_time)),
      format_seconds(to_seconds(cost.lateness)),
      cost.late + cost.skipped > 0
          ? fmt::format("; so far {} readings late, {} samples left out", cost.late, cost.skipped)
          : "");
}

// Values that are no finite number are unknown.
ordered_json number_or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json core_json(const CoreSample& core) {
  ordered_json json{{"cpu", core.cpu},
                    {"busy", number_or_null(core.busy)},
                    {"waiting", number_or_null(core.waiting)}};
  if (core.is_read()) {
    json["start_s"] = to_seconds(core.start);
    json["end_s"] = to_seconds(core.end);
    json["wake_delay_us"] = to_seconds(core.wake_delay) * 1e6;
  } else {
    json["why"] = core.why;
  }
  if (!core.note.empty()) json["note"] = core.note;
  json["values"] = ordered_json::object();
  ordered_json counts = ordered_json::object();
  ordered_json kinds = ordered_json::object();
  if (core.busy && core.busy_origin != sample::Origin::counted)
    kinds["busy"] = to_string(core.busy_origin);
  ordered_json reasons = ordered_json::object();
  for (const NamedValue& value : values_of(core)) {
    const std::string name(value.name);
    json["values"][name] = number_or_null(value.value);
    if (value.count != nullptr && value.count->origin == sample::Origin::counted)
      counts[name] = value.count->raw;
    if (value.kind != sample::Origin::counted) kinds[name] = to_string(value.kind);
    if (!value.why.empty()) reasons[name] = value.why;
  }
  json["counts"] = std::move(counts);
  if (!kinds.empty()) json["kinds"] = std::move(kinds);  // where they are not plainly counted
  if (!reasons.empty()) json["missing"] = std::move(reasons);
  return json;
}

std::string csv_row(const Frame& frame, std::string_view scope, std::string_view part,
                    const NamedValue& value) {
  const bool is_exact = value.count != nullptr && value.count->origin == sample::Origin::counted;
  return fmt::format("{:.6f},{},{},{},{},{},{},{},{}\n", to_seconds(frame.time), scope,
                     view::csv_field(part), view::csv_field(value.name),
                     value.value ? fmt::format("{}", *value.value) : "",
                     view::csv_field(value.unit), to_string(value.kind),
                     is_exact ? std::to_string(value.count->raw) : "", view::csv_field(value.why));
}

NamedValue known(std::string_view name, std::optional<double> value, std::string unit,
                 std::string_view why) {
  return {name,
          value,
          std::move(unit),
          value ? sample::Origin::counted : sample::Origin::missing,
          value ? std::string_view() : why,
          nullptr};
}

}  // namespace

std::string FrameTable::rows(const Frame& frame) {
  std::string text;
  if (auto columns = columns_of(frame); columns != columns_ || frame.number <= 1) {
    columns_ = std::move(columns);
    text += "   time s  cpu   busy   wait";
    for (const std::string& column : columns_)
      text += fmt::format(" {:>{}}", printable(column), kColumn);
    text += "\n";
  }
  for (const CoreSample& core : frame.cores) {
    text += core_row(frame, core, columns_);
    if (!core.note.empty()) text += fmt::format("CPU {}: {}\n", core.cpu, core.note);
  }
  for (const EnergySample& energy : frame.energy) text += energy_row(frame, energy);
  return text + cost_row(frame);
}

std::string csv_header() { return "time_s,scope,part,name,value,unit,kind,count,why\n"; }

std::string frame_csv(const Frame& frame) {
  std::string text;
  for (const CoreSample& core : frame.cores) {
    const std::string cpu = std::to_string(core.cpu);
    NamedValue busy = known("busy", core.busy, "", "the kernel does not tell");
    if (busy.value) busy.kind = core.busy_origin;
    text += csv_row(frame, "core", cpu, busy);
    text += csv_row(frame, "core", cpu,
                    known("waiting", core.waiting, "", "this kernel has no /proc/schedstat"));
    for (const NamedValue& value : values_of(core)) text += csv_row(frame, "core", cpu, value);
  }
  for (const EnergySample& energy : frame.energy) {
    NamedValue value = known("power", energy.watts, "W", "the meter does not move or was not read");
    if (value.value) value.kind = energy.origin;
    text += csv_row(frame, "energy", energy.domain, value);
  }
  const Cost& cost = frame.cost;
  text += csv_row(frame, "loft", "", known("cpu_share", cost.cpu_share, "", ""));
  text += csv_row(frame, "loft", "",
                  known("reader_time", to_seconds(cost.reader_time) * 1e6, "us", ""));
  return text +
         csv_row(frame, "loft", "", known("lateness", to_seconds(cost.lateness) * 1e6, "us", ""));
}

std::string frame_json(const Frame& frame) {
  ordered_json json{{"schema", "loft.top/1"}, {"time_s", to_seconds(frame.time)}};
  json["cores"] = ordered_json::array();
  for (const CoreSample& core : frame.cores) json["cores"].push_back(core_json(core));
  json["units"] = ordered_json::object();
  for (const CoreSample& core : frame.cores)
    for (const NamedValue& value : values_of(core))
      json["units"][std::string(value.name)] = value.unit;
  json["energy"] = ordered_json::array();
  for (const EnergySample& energy : frame.energy)
    json["energy"].push_back(
        {{"domain", energy.domain},
         {"watts", number_or_null(energy.watts)},
         {"joules", number_or_null(energy.joules)},
         {"kind", to_string(energy.watts ? energy.origin : sample::Origin::missing)},
         {"gpu", energy.is_gpu}});
  const Cost& cost = frame.cost;
  json["cost"] = {{"cpu_share", cost.cpu_share},
                  {"reader_us", to_seconds(cost.reader_time) * 1e6},
                  {"monitor_us", to_seconds(cost.monitor_time) * 1e6},
                  {"resident_bytes", cost.resident_bytes > 0 ? ordered_json(cost.resident_bytes)
                                                             : ordered_json(nullptr)},
                  {"lateness_us", to_seconds(cost.lateness) * 1e6},
                  {"late", cost.late},
                  {"skipped", cost.skipped}};
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> missing_notes(const Frame& frame) {
  std::vector<std::string> notes;
  for (const CoreSample& core : frame.cores)
    for (const NamedValue& value : values_of(core)) {
      if (value.value || value.why.empty() || !core.is_read()) continue;
      std::string note = fmt::format("{}: {}", value.name, value.why);
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    }
  return notes;
}

}  // namespace loft::top
