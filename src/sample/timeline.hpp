// The moments of samples, for views over time. No viewer opens more than some millions of them, so
// when there are more, an even choice stays: one of 2, of 4, of 8, ... The choice does not depend
// on the number of workers: a sample's own place in the recording decides.
//
//   Timeline timeline(kMostTimeline);
//   timeline.add({.time = time, .dice = Timeline::dice_of(place)});
#pragma once

#include <cstdint>
#include <vector>

#include "sample/trie.hpp"

namespace loft::sample {

inline constexpr std::size_t kMostTimeline = 2'000'000;

struct TimelineEntry {
  std::uint64_t time = 0;
  std::uint64_t period = 0;
  std::uint32_t event = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  Trie::NodeId node = 0;   // of the tree
  std::uint32_t dice = 0;  // decides whether it stays
};

class Timeline {
 public:
  explicit Timeline(std::size_t most = kMostTimeline) : most_(most) {}

  [[nodiscard]] static std::uint32_t dice_of(std::uint64_t place) {
    return static_cast<std::uint32_t>((place + 1) * 0x9E3779B97F4A7C15u >> 32);
  }

  void add(const TimelineEntry& entry) {
    if ((entry.dice & (step_ - 1)) != 0) return;
    entries_.push_back(entry);
    if (entries_.size() > most_) thin();
  }
  // Adds those of another worker, whose nodes have become `nodes` in the common tree.
  void merge(const Timeline& other, const std::vector<Trie::NodeId>& nodes);
  void sort();  // by thread, then time

  [[nodiscard]] const std::vector<TimelineEntry>& entries() const { return entries_; }
  // Each entry stands for so many samples.
  [[nodiscard]] std::uint32_t step() const { return step_; }

 private:
  void thin();

  std::size_t most_;
  std::uint32_t step_ = 1;
  std::vector<TimelineEntry> entries_;
};

}  // namespace loft::sample
