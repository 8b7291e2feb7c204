#include "sample/calls.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace loft::sample {

CallHistogram::CallHistogram(std::span<const std::uint64_t> counts)
    : counts_(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                   counts.size(), kLogLinearSteps))) {
  while (!counts_.empty() && counts_.back() == 0) counts_.pop_back();
  total_ = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

void CallHistogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  const std::uint32_t step = log_linear_step(value);
  if (step >= counts_.size()) counts_.resize(step + 1);
  counts_[step] += times;
  total_ += times;
}

CallHistogram& CallHistogram::operator+=(const CallHistogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  total_ += other.total_;
  return *this;
}

std::uint32_t CallHistogram::step_at(double share) const {
  const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(total_));
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t below = 0;
  for (std::uint32_t step = 0; step < counts_.size(); ++step) {
    below += counts_[step];
    if (below >= rank) return step;
  }
  return counts_.empty() ? 0 : static_cast<std::uint32_t>(counts_.size() - 1);
}

void CallDistribution::add(std::uint64_t value, std::uint64_t self_value, bool is_outermost) {
  ++calls;
  if (is_outermost) total += value;
  self += self_value;
  sum += value;
  min = std::min(min, value);
  max = std::max(max, value);
  histogram.add(value);
}

CallDistribution& CallDistribution::operator+=(const CallDistribution& other) {
  calls += other.calls;
  total += other.total;
  self += other.self;
  sum += other.sum;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  histogram += other.histogram;
  return *this;
}

double CallDistribution::percentile(double share) const {
  const std::uint32_t step = histogram.step_at(share);
  const std::uint64_t low = std::max(log_linear_low(step), min);
  const std::uint64_t high = std::min(log_linear_high(step), max);
  return static_cast<double>(low) + static_cast<double>(high - low) / 2;
}

CallStatistics& CallStatistics::operator+=(const CallStatistics& other) {
  calls += other.calls;
  open += other.open;
  ended_early += other.ended_early;
  unmeasured += other.unmeasured;
  if (of.size() < other.of.size()) of.resize(other.of.size());
  for (std::size_t i = 0; i < other.of.size(); ++i) of[i] += other.of[i];
  return *this;
}

std::vector<CallStatistics> recompute(const CallRun& run) {
  std::vector<CallStatistics> all(run.functions.size());
  for (CallStatistics& statistics : all) statistics.of.resize(run.quantities.size());
  for (std::size_t i = 0; i < run.calls.size(); ++i) {
    const KeptCall& call = run.calls[i];
    CallStatistics& statistics = all[call.function];
    const bool is_open = (call.flags & kOpen) != 0;
    const bool is_outermost = (call.flags & kRecursive) == 0;
    ++(is_open ? statistics.open : statistics.calls);
    if (!is_open && (call.flags & kEndedEarly) != 0) ++statistics.ended_early;
    for (std::size_t q = 0; q < run.quantities.size(); ++q) {
      const CallValue& value = run.values_of(i)[q];
      if (value == kUnknownValue) continue;
      if (!is_open) {
        statistics.of[q].add(value.value, value.self, is_outermost);
        continue;
      }
      if (is_outermost) statistics.of[q].total += value.value;
      statistics.of[q].self += value.self;
    }
  }
  return all;
}

std::vector<CallEdge> callers(const CallRun& run) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CallEdge> edges;
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const CallNode& node = run.nodes[i];
    const std::uint32_t caller =
        node.parent == kNoCallNode ? kNoFunction : run.nodes[node.parent].function;
    CallEdge& edge = edges[{caller, node.function}];
    edge.caller = caller;
    edge.callee = node.function;
    edge.calls += node.calls;
    edge.values.resize(run.quantities.size());
    for (std::size_t q = 0; q < run.quantities.size(); ++q) {
      const CallValue& value = run.values_of_node(i)[q];
      if (value == kUnknownValue || edge.values[q] == kUnknownValue) {
        edge.values[q] = kUnknownValue;
        continue;
      }
      edge.values[q].value += value.value;
      edge.values[q].self += value.self;
    }
  }
  std::vector<CallEdge> rows;
  for (auto& [key, edge] : edges) rows.push_back(std::move(edge));
  std::ranges::stable_sort(rows, std::greater{}, &CallEdge::calls);
  return rows;
}

std::vector<std::size_t> slowest(const CallRun& run, std::size_t quantity, std::size_t most) {
  std::vector<std::size_t> order(run.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(most, order.size());
  const auto is_slower = [&](std::size_t a, std::size_t b) {
    const std::uint64_t left = run.values_of(a)[quantity].value;
    const std::uint64_t right = run.values_of(b)[quantity].value;
    return left != right ? left > right : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    is_slower);
  order.resize(count);
  return order;
}

}  // namespace loft::sample
