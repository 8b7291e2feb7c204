// What the machine's meters have shown while calls were watched, and so what was used during one of
// them. A meter moves once in a while (RAPL's each millisecond), and it is the whole machine's: a
// call that is not longer than a few of its steps has no energy of its own, and nobody else's is
// kept apart.
//
//   LOFT_TRY(auto course, EnergyCourse::open());
//   course.sample(now());                              // often
//   const auto joules = course.between(start, finish);  // nothing: too short, or not known
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/places.hpp"
#include "base/result.hpp"
#include "sample/calls.hpp"
#include "source/energy/gauges.hpp"

namespace loft::source::calls {

class EnergyCourse {
 public:
  // Of packages, where there are such meters, else of the first that counts energy.
  [[nodiscard]] static Result<EnergyCourse> open(const SystemRoot& root = {});

  void sample(Nanoseconds at);
  [[nodiscard]] std::optional<double> between(Nanoseconds begin, Nanoseconds end) const;
  // How long a call must take to have energy.
  [[nodiscard]] Nanoseconds shortest() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Step {
    Nanoseconds at{};
    double joules = 0;
  };
  [[nodiscard]] double joules_at(Nanoseconds time) const;

  energy::Gauges gauges_;
  std::vector<std::size_t> used_;  // gauges
  std::string name_;
  std::vector<Step> steps_;  // where the meters had moved
  double joules_ = 0;
  bool is_known_ = true;
};

// Gives a run's single calls, and so its functions, their energy as one more quantity.
void add_energy(sample::CallRun& run, const EnergyCourse& course);

}  // namespace loft::source::calls
