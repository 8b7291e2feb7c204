// Whose time it was: the elapsed time of a run, divided among the functions and threads that ran.
//
//   const ActiveTime active(result.timeline.entries(), 2.04e9, leaf_of);
//   for (const Spent& spent : active.spent()) ...
//
// Threads that run at the same time share the moment between them: with two at work, each
// millisecond of either is half a millisecond of elapsed time. So the times of all functions add up
// to the time in which the program ran at all, and operations over that time are the rate that the
// machine delivered.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sample/profile.hpp"

namespace loft::sample {

// Of one function in one thread.
struct Spent {
  std::uint32_t function = 0;
  std::uint32_t tid = 0;
  std::uint64_t samples = 0;
  double cpu_seconds = 0;
  double seconds = 0;  // of elapsed time
};

class ActiveTime {
 public:
  // From when to when a run lasted, by the clock of its samples.
  struct Lifetime {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };

  // `cpu_seconds` is what the kernel counted; samples are scaled to it, since some may have been
  // lost. `function_of` tells the function that was running from a node of the call tree. Without
  // a lifetime the run is taken to last from the first sample to the last.
  ActiveTime(std::span<const TimelineEntry> timeline, double cpu_seconds,
             const std::function<std::uint32_t(Trie::NodeId)>& function_of,
             const std::optional<Lifetime>& lifetime = std::nullopt);

  [[nodiscard]] const std::vector<Spent>& spent() const { return spent_; }

  // The time of functions and threads in each of `count` equal parts of the run.
  struct Slice {
    double start = 0;  // seconds since the start of the run
    double end = 0;
    std::vector<Spent> spent;
  };
  [[nodiscard]] std::vector<Slice> slices(std::size_t count) const;

 private:
  // A sample with its share of elapsed time.
  struct Moment {
    std::uint64_t time = 0;  // since the start
    std::uint32_t function = 0;
    std::uint32_t tid = 0;
    double cpu_seconds = 0;
    double seconds = 0;
  };
  std::vector<Moment> moments_;
  std::uint64_t span_ = 0;
  std::vector<Spent> spent_;
};

}  // namespace loft::sample
