// Counts of tasks as they are shown: counted ones plain, scaled ones behind "~", and what nobody
// knows as "-" or null, never as 0.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "event/recorder_names.hpp"
#include "sample/task_table.hpp"
#include "view/csv.hpp"
#include "view/json_text.hpp"

namespace loft::view {

inline std::string estimate_text(const sample::Estimate& estimate) {
  if (estimate.origin == sample::Origin::missing) return "-";
  return (estimate.origin == sample::Origin::scaled ? "~" : "") +
         with_separators(static_cast<std::uint64_t>(std::llround(estimate.value)));
}

// Run times of cores that the kernel tells in ticks: behind "~", with this line.
inline bool estimates_run_time(const sample::TaskTable& table) {
  return event::recording::estimates_run_time(table.watched_by);
}
inline constexpr std::string_view kTicksNote =
    "~ run: an estimate, from the ticks in which the kernel counts how busy a CPU is\n";
inline std::string run_kind_json(const sample::TaskTable& table) {
  return estimates_run_time(table) ? ",\"run_kind\":\"scaled\"" : ",\"run_kind\":\"counted\"";
}

// Where a few turns hold most of what was counted, there may be as much that no turn met.
inline constexpr double kUnsteady = 0.5;

// Behind a scaled count that too few turns saw to tell how far it may be off.
inline constexpr std::string_view kUnknownError = " ±?";

// With its error: "~1,234 ±3 %".
inline std::string estimate_with_error(const sample::Estimate& estimate) {
  if (estimate.origin != sample::Origin::scaled) return estimate_text(estimate);
  if (!estimate.error) return estimate_text(estimate) + std::string(kUnknownError);
  if (*estimate.error > kUnsteady)
    return fmt::format("{} ±>{:.0f} %", estimate_text(estimate), kUnsteady * 100);
  const double percent = *estimate.error * 100;
  return fmt::format("{} ±{:.{}f} %", estimate_text(estimate), percent, percent < 9.95 ? 1 : 0);
}

// What is known of each counter, of a task or of a slice.
inline std::vector<sample::Estimate> estimates_of(const sample::TaskTable& table,
                                                  const sample::TaskRow& row) {
  std::vector<sample::Estimate> all;
  for (std::size_t i = 0; i < table.counters.size(); ++i)
    all.push_back(sample::estimate(table, row, i));
  return all;
}

inline std::vector<sample::Estimate> estimates_of(const sample::TaskTable& table,
                                                  const sample::TaskSlice& slice) {
  std::vector<sample::Estimate> all;
  for (std::size_t i = 0; i < table.counters.size(); ++i)
    all.push_back(sample::estimate(table, slice, i));
  return all;
}

inline std::string estimate_number(const sample::Estimate& estimate, const char* absent) {
  return estimate.origin == sample::Origin::missing ? absent
                                                    : fmt::format("{:.0f}", estimate.value);
}

// "counts":{NAME:VALUE,...},"estimates":{NAME:{"kind","running","ci95"?},...}; the latter of those
// that were not counted all the time. `part` is a task or a slice.
template <class Part>
std::string estimates_json(const sample::TaskTable& table, const Part& part) {
  const auto estimates = estimates_of(table, part);
  std::string counts;
  std::string uncertain;
  for (std::size_t i = 0; i < table.counters.size(); ++i) {
    const sample::Estimate& estimate = estimates[i];
    const std::string name = json_text(table.counters[i]);
    counts +=
        fmt::format("{}{}:{}", counts.empty() ? "" : ",", name, estimate_number(estimate, "null"));
    if (estimate.origin == sample::Origin::counted) continue;
    std::string interval;
    if (estimate.error && *estimate.error > kUnsteady)
      interval = ",\"ci95\":null";
    else if (estimate.error)
      interval = fmt::format(",\"ci95\":[{:.0f},{:.0f}]",
                             estimate.value * std::max(0.0, 1 - *estimate.error),
                             estimate.value * (1 + *estimate.error));
    uncertain +=
        fmt::format("{}{}:{{\"kind\":\"{}\",\"running\":{:.4f}{}}}", uncertain.empty() ? "" : ",",
                    name, to_string(estimate.origin), estimate.running, interval);
  }
  return fmt::format("\"kind\":\"{}\",\"counts\":{{{}}},\"estimates\":{{{}}}",
                     to_string(sample::origin_of_all(table, part.counted)), counts, uncertain);
}

// The fields of CSV behind all others: each count, then the share of the time in which it was
// counted, then half of the 95 % interval of those that were scaled, where it is known.
inline std::string estimates_csv_head(const sample::TaskTable& table) {
  std::string out;
  for (const std::string& name : table.counters) out += "," + csv_field(name);
  for (const std::string& name : table.counters) out += "," + csv_field(name + " running");
  for (const std::string& name : table.counters) out += "," + csv_field(name + " error95");
  return out;
}

template <class Part>
std::string estimates_csv(const sample::TaskTable& table, const Part& part) {
  std::string values;
  std::string shares;
  std::string errors;
  for (const sample::Estimate& estimate : estimates_of(table, part)) {
    values += "," + estimate_number(estimate, "");
    shares += fmt::format(",{:.4g}", estimate.running);
    errors += estimate.error && *estimate.error <= kUnsteady
                  ? fmt::format(",{:.4g}", *estimate.error * estimate.value)
                  : ",";
  }
  return values + shares + errors;
}

}  // namespace loft::view
