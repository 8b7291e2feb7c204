// What many short windows say about one rate. Disturbance only ever makes a window slower, so the
// best window is the estimate; the median says how often the machine lets one have it.
//
// A best value counts as stable when it was reached again: by several windows, in several rounds
// that lay apart in time. A single fast window proves nothing.
#pragma once

#include <vector>

#include "model/machine_model.hpp"

namespace loft::machine {

class Estimate {
 public:
  void add(double rate, bool disturbed, int round);

  [[nodiscard]] double best() const { return best_; }
  // Of the windows that nothing disturbed; of all, when there is none.
  [[nodiscard]] double median() const;
  // How far the median of the rounds' bests lies below the best of all, as a share of it.
  [[nodiscard]] double spread() const;
  // Whether windows of at least `rounds` rounds came within `tolerance` of the best.
  [[nodiscard]] bool is_confirmed(double tolerance, int rounds) const;
  [[nodiscard]] model::Verdict verdict(double tolerance) const;

  [[nodiscard]] int windows() const { return static_cast<int>(clean_.size()) + disturbed(); }
  [[nodiscard]] int disturbed() const { return static_cast<int>(rejected_.size()); }
  [[nodiscard]] int rounds() const { return static_cast<int>(round_best_.size()); }

 private:
  double best_ = 0;
  std::vector<double> clean_;
  std::vector<double> rejected_;
  std::vector<double> round_best_;
};

// Below this, a value of the core or its own caches repeats; what others share moves more.
inline constexpr double kPrivateTolerance = 0.005;
inline constexpr double kSharedTolerance = 0.05;

}  // namespace loft::machine
