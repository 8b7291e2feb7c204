// How far a count may be off that was scaled from the turns in which its event had a counter: by
// how much its rate differed from turn to turn.
//
//   TurnError error;
//   for (const auto& slice : slices) error.add(slice.count, slice.work, slice.running_ns);
//   error.half_of_interval(0.5);         // 0.03: the count is known to 3 %, in 95 of 100 cases
//
// The count is a ratio estimate: counts over work (instructions, or time) of the turns, times all
// work. Slices shorter than a turn belong together, since what one turn sees is no chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace loft::sample {

class TurnError {
 public:
  // A part in which the event was counted; parts come in order of time.
  void add(double count, double work, std::uint64_t running_ns);

  // Half of the 95 % interval, as a share of the count; `share` of all work was seen. Nothing where
  // too few turns tell how much they differ, or nothing was counted in any.
  [[nodiscard]] std::optional<double> half_of_interval(double share) const;

 private:
  struct Part {
    double count = 0;
    double work = 0;
  };
  Part turn_;  // the one that is not over
  std::uint64_t turn_ns_ = 0;
  std::size_t turns_ = 0;
  Part sum_;
  double counts_squared_ = 0;
  double work_squared_ = 0;
  double products_ = 0;
};

}  // namespace loft::sample
