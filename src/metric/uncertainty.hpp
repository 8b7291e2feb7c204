// How far a multiplexed count, and a metric made of such counts, can be off.
//
// Events of one group share the counters' time: the group runs in some windows of the whole and is
// silent in the others. From the windows that ran come each event's total, its variance and, as the
// events of a group were counted in the very same windows, their covariance:
//
//   const auto groups = estimate_groups(windows);
//   value = with_interval(program, counts, value, groups);
//
// The variance is taken from successive differences (slow trends cancel) with the correction for a
// finite whole: a group that ran all the time has none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "metric/program.hpp"

namespace loft::metric {

// What one group counted in one window.
struct Window {
  double running = 0;          // seconds that the group was on the counters
  std::vector<double> counts;  // one for each event of the group
};

struct GroupWindows {
  std::vector<std::string> events;
  std::vector<Window> windows;  // in the order of time
  double enabled = 0;           // seconds that the group should have counted
};

// Totals of a group's events, extrapolated to all of the enabled time.
struct GroupEstimate {
  std::vector<std::string> events;
  std::vector<double> totals;
  std::vector<double> covariance;  // row-major, events × events
  std::vector<bool> rare;          // too few occurrences for the interval to be believed
  std::size_t windows = 0;
};

// Fewer windows than this say nothing about their spread.
inline constexpr std::size_t kFewestWindows = 4;
// Fewer occurrences than this, or an event seen in fewer than half of the windows, is rare.
inline constexpr double kFewestOccurrences = 100;

[[nodiscard]] Result<GroupEstimate> estimate_group(const GroupWindows& group);
// Of all that can be estimated.
std::vector<GroupEstimate> estimate_groups(std::span<const GroupWindows> groups);

// Adds the 95 % interval to a value that rests on these groups. Groups are taken as independent of
// each other. Left without interval: values that are not available, and groups with too few
// windows.
Value with_interval(const Program& program, const CountSet& counts, Value value,
                    std::span<const GroupEstimate> groups);

// As above, for operands that are known. `rest_on` has the names of the counts that each is made
// of.
Value with_interval(const Program& program, std::span<const Quantity> operands,
                    std::span<const std::vector<std::string>> rest_on, Value value,
                    std::span<const GroupEstimate> groups);

// Whether the interval is wider than `target` of the value (0.05: half-width above 5 %).
bool exceeds(const Value& value, double target);

// Half of the 95 % interval of one event's total; nothing when the group does not have it, has too
// few windows, or saw it too rarely.
std::optional<double> half_width(const GroupEstimate& group, std::string_view event);

}  // namespace loft::metric
