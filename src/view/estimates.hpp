// Counts of tasks as they are shown: counted ones plain, scaled ones behind "~", and what nobody
// knows as "-" or null, never as 0.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/units.hpp"
#include "sample/task_table.hpp"
#include "view/csv.hpp"
#include "view/json_text.hpp"

namespace loft::view {

inline std::string estimate_text(const sample::Estimate& estimate) {
  if (estimate.origin == sample::Origin::missing) return "-";
  return (estimate.origin == sample::Origin::scaled ? "~" : "") +
         with_separators(static_cast<std::uint64_t>(std::llround(estimate.value)));
}

inline std::string estimate_number(const sample::Estimate& estimate, const char* absent) {
  return estimate.origin == sample::Origin::missing ? absent
                                                    : fmt::format("{:.0f}", estimate.value);
}

// "counts":{NAME:VALUE,...},"estimates":{NAME:{"kind","running"},...}; the latter of those that
// were not counted all the time.
inline std::string estimates_json(const sample::TaskTable& table, const sample::Counted& counted) {
  std::string counts;
  std::string uncertain;
  for (std::size_t i = 0; i < table.counters.size(); ++i) {
    const sample::Estimate estimate = sample::estimate(table, counted, i);
    const std::string name = json_text(table.counters[i]);
    counts +=
        fmt::format("{}{}:{}", counts.empty() ? "" : ",", name, estimate_number(estimate, "null"));
    if (estimate.origin == sample::Origin::counted) continue;
    uncertain +=
        fmt::format("{}{}:{{\"kind\":\"{}\",\"running\":{:.4f}}}", uncertain.empty() ? "" : ",",
                    name, to_string(estimate.origin), estimate.running);
  }
  return fmt::format("\"kind\":\"{}\",\"counts\":{{{}}},\"estimates\":{{{}}}",
                     to_string(sample::origin_of_all(table, counted)), counts, uncertain);
}

// The fields of CSV behind all others: each count, then the share of the time in which it was
// counted.
inline std::string estimates_csv_head(const sample::TaskTable& table) {
  std::string out;
  for (const std::string& name : table.counters) out += "," + csv_field(name);
  for (const std::string& name : table.counters) out += "," + csv_field(name + " running");
  return out;
}

inline std::string estimates_csv(const sample::TaskTable& table, const sample::Counted& counted) {
  std::string values;
  std::string shares;
  for (std::size_t i = 0; i < table.counters.size(); ++i) {
    const sample::Estimate estimate = sample::estimate(table, counted, i);
    values += "," + estimate_number(estimate, "");
    shares += fmt::format(",{:.4g}", estimate.running);
  }
  return values + shares;
}

}  // namespace loft::view
