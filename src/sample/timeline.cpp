#include "sample/timeline.hpp"

#include <algorithm>
#include <tuple>

namespace loft::sample {
namespace {

constexpr std::uint32_t kMostStep = 1u << 31;

}  // namespace

void Timeline::thin() {
  while (entries_.size() > most_ && step_ < kMostStep) {
    step_ *= 2;
    std::erase_if(entries_, [&](const auto& entry) { return (entry.dice & (step_ - 1)) != 0; });
  }
}

void Timeline::merge(const Timeline& other, const std::vector<Trie::NodeId>& nodes) {
  if (other.step_ > step_) {
    step_ = other.step_;
    std::erase_if(entries_, [&](const auto& entry) { return (entry.dice & (step_ - 1)) != 0; });
  }
  for (TimelineEntry entry : other.entries_) {
    entry.node = nodes[entry.node];
    add(entry);
  }
}

void Timeline::sort() {
  std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.tid, a.time, a.event, a.dice) < std::tie(b.tid, b.time, b.event, b.dice);
  });
}

}  // namespace loft::sample
