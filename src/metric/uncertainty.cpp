#include "metric/uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/student.hpp"

namespace loft::metric {
namespace {

Failure bad_windows(std::string why) {
  return failure(ErrorKind::invalid_input, "estimate multiplexed counts", std::move(why));
}

bool is_rare(const GroupWindows& group, std::size_t event, double total) {
  const auto seen = std::ranges::count_if(
      group.windows, [&](const Window& window) { return window.counts[event] > 0; });
  return total < kFewestOccurrences || 2 * static_cast<std::size_t>(seen) < group.windows.size();
}

// Deviations of each window's counts from what the mean rate would give: a ratio estimator, so that
// windows of different length do not count as spread.
std::vector<double> residuals(const GroupWindows& group, std::size_t event, double rate) {
  std::vector<double> left;
  for (const Window& window : group.windows)
    left.push_back(window.counts[event] - rate * window.running);
  return left;
}

// Half the mean product of successive differences: the (co)variance of one window.
double successive(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 1; i < a.size(); ++i) sum += (a[i] - a[i - 1]) * (b[i] - b[i - 1]);
  return sum / (2 * static_cast<double>(a.size() - 1));
}

}  // namespace

Result<GroupEstimate> estimate_group(const GroupWindows& group) {
  const std::size_t events = group.events.size();
  double running = 0;
  for (const Window& window : group.windows) {
    if (window.counts.size() != events) return bad_windows("a window has counts for other events");
    if (!(window.running >= 0)) return bad_windows("a window ran for a negative time");
    running += window.running;
  }
  if (running <= 0 || !(group.enabled > 0)) return bad_windows("the group never ran");
  GroupEstimate estimate;
  estimate.events = group.events;
  estimate.windows = group.windows.size();
  const double share = std::min(running / group.enabled, 1.0);
  std::vector<std::vector<double>> left;
  for (std::size_t e = 0; e < events; ++e) {
    double total = 0;
    for (const Window& window : group.windows) total += window.counts[e];
    estimate.totals.push_back(total / share);
    estimate.rare.push_back(is_rare(group, e, total));
    left.push_back(residuals(group, e, total / running));
  }
  estimate.covariance.assign(events * events, 0);
  if (group.windows.size() < 2) return estimate;
  // n windows of a whole of n/share: variance of the extrapolated total is n/share² × (1 - share)
  // times that of one window.
  const double factor = static_cast<double>(group.windows.size()) / (share * share) * (1 - share);
  for (std::size_t i = 0; i < events; ++i)
    for (std::size_t j = 0; j < events; ++j)
      estimate.covariance[i * events + j] = factor * successive(left[i], left[j]);
  return estimate;
}

std::vector<GroupEstimate> estimate_groups(std::span<const GroupWindows> groups) {
  std::vector<GroupEstimate> estimates;
  for (const GroupWindows& group : groups)
    if (auto estimate = estimate_group(group)) estimates.push_back(*std::move(estimate));
  return estimates;
}

Value with_interval(const Program& program, const CountSet& counts, Value value,
                    std::span<const GroupEstimate> groups) {
  std::vector<Quantity> operands;
  std::vector<std::vector<std::string>> rest_on;
  for (const std::string& name : program.inputs()) {
    const Quantity* quantity = counts.find(name);
    operands.push_back(quantity == nullptr ? Quantity{} : *quantity);
    rest_on.push_back({counts.full_name(name)});
  }
  return with_interval(program, operands, rest_on, std::move(value), groups);
}

Value with_interval(const Program& program, std::span<const Quantity> operands,
                    std::span<const std::vector<std::string>> rest_on, Value value,
                    std::span<const GroupEstimate> groups) {
  if (!value.number) return value;
  std::vector<double> inputs;
  for (const Quantity& operand : operands) inputs.push_back(operand.value.as_double());
  const auto gradient = program.gradient(inputs);
  if (!gradient) return value;
  double variance = 0;
  std::size_t fewest = SIZE_MAX;
  for (const GroupEstimate& group : groups) {
    const std::size_t n = group.events.size();
    std::vector<double> slope(n, 0);
    bool used = false;
    for (std::size_t e = 0; e < n; ++e) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (std::ranges::find(rest_on[i], group.events[e]) == rest_on[i].end()) continue;
        slope[e] += (*gradient)[i];
        used = true;
        value.unreliable = value.unreliable || group.rare[e];
      }
    }
    if (!used) continue;
    if (group.windows < kFewestWindows) return value;
    fewest = std::min(fewest, group.windows);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        variance += slope[i] * slope[j] * group.covariance[i * n + j];
  }
  if (fewest == SIZE_MAX) return value;
  const double half =
      student_point(static_cast<double>(fewest - 1)) * std::sqrt(std::max(variance, 0.0));
  const double middle = value.number->as_double();
  value.ci95 = Interval{middle - half, middle + half};
  return value;
}

bool exceeds(const Value& value, double target) {
  if (!value.number || !value.ci95) return false;
  return (value.ci95->high - value.ci95->low) / 2 > target * std::fabs(value.number->as_double());
}

std::optional<double> half_width(const GroupEstimate& group, std::string_view event) {
  const auto found = std::ranges::find(group.events, event);
  if (found == group.events.end() || group.windows < kFewestWindows) return std::nullopt;
  const auto at = static_cast<std::size_t>(found - group.events.begin());
  if (group.rare[at]) return std::nullopt;
  const double variance = group.covariance[at * group.events.size() + at];
  return student_point(static_cast<double>(group.windows - 1)) * std::sqrt(std::max(variance, 0.0));
}

}  // namespace loft::metric
