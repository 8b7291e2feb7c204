#include "sample/active_time.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace loft::sample {
namespace {

// Long enough that a thread at work has a dozen samples in it, short enough to see phases.
constexpr std::uint64_t kBucket = 50'000'000;

struct Bucket {
  std::uint64_t period = 0;
  std::unordered_set<std::uint32_t> tids;

  // How many threads ran at once, on average. Chance must not make one thread more than one.
  [[nodiscard]] double concurrency() const {
    const double busy = static_cast<double>(period) / static_cast<double>(kBucket);
    return std::clamp(busy, 1.0, static_cast<double>(std::max<std::size_t>(tids.size(), 1)));
  }
};

using Key = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Spent> values_of(const std::map<Key, Spent>& sums) {
  std::vector<Spent> values;
  for (const auto& [key, spent] : sums) values.push_back(spent);
  return values;
}

}  // namespace

ActiveTime::ActiveTime(std::span<const TimelineEntry> timeline, double cpu_seconds,
                       const std::function<std::uint32_t(Trie::NodeId)>& function_of,
                       const std::optional<Lifetime>& lifetime) {
  if (timeline.empty()) return;
  const auto [first, last] = std::ranges::minmax(timeline, {}, &TimelineEntry::time);
  const std::uint64_t start = lifetime ? std::min(lifetime->start, first.time) : first.time;
  span_ = std::max(lifetime ? lifetime->end : 0, last.time) - start;
  std::map<std::uint64_t, Bucket> buckets;
  double sampled = 0;
  double elapsed = 0;
  for (const TimelineEntry& entry : timeline) {
    Bucket& bucket = buckets[(entry.time - start) / kBucket];
    bucket.period += entry.period;
    bucket.tids.insert(entry.tid);
    sampled += static_cast<double>(entry.period);
  }
  const double scale = sampled > 0 ? cpu_seconds / sampled : 0;
  std::map<Key, Spent> sums;
  for (const TimelineEntry& entry : timeline) {
    const std::uint64_t time = entry.time - start;
    const double cpu = static_cast<double>(entry.period) * scale;
    const double seconds = cpu / buckets[time / kBucket].concurrency();
    const std::uint32_t function = function_of(entry.node);
    moments_.push_back({time, function, entry.tid, cpu, seconds});
    elapsed += seconds;
  }
  // A sample stands for time before it, perhaps in another bucket: chance must not make the sum
  // longer than the run.
  const double longest = static_cast<double>(span_) * 1e-9;
  const double fit = lifetime && elapsed > longest ? longest / elapsed : 1;
  for (Moment& moment : moments_) {
    moment.seconds *= fit;
    Spent& sum = sums.try_emplace({moment.function, moment.tid}, Spent{moment.function, moment.tid})
                     .first->second;
    ++sum.samples;
    sum.cpu_seconds += moment.cpu_seconds;
    sum.seconds += moment.seconds;
  }
  spent_ = values_of(sums);
}

std::vector<ActiveTime::Slice> ActiveTime::slices(std::size_t count) const {
  std::vector<Slice> slices;
  if (moments_.empty() || count == 0) return slices;
  const double width = static_cast<double>(span_ + 1) / static_cast<double>(count);
  std::vector<std::map<Key, Spent>> sums(count);
  for (const Moment& moment : moments_) {
    const auto slice = static_cast<std::size_t>(static_cast<double>(moment.time) / width);
    Spent& sum = sums[std::min(slice, count - 1)]
                     .try_emplace({moment.function, moment.tid}, Spent{moment.function, moment.tid})
                     .first->second;
    ++sum.samples;
    sum.cpu_seconds += moment.cpu_seconds;
    sum.seconds += moment.seconds;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double start = static_cast<double>(i) * width * 1e-9;
    slices.push_back({start, start + width * 1e-9, values_of(sums[i])});
  }
  return slices;
}

}  // namespace loft::sample
