#include "machine/estimate.hpp"

#include <algorithm>

namespace loft::machine {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

void Estimate::add(double rate, bool disturbed, int round) {
  best_ = std::max(best_, rate);
  (disturbed ? rejected_ : clean_).push_back(rate);
  const auto index = static_cast<std::size_t>(round);
  if (round_best_.size() <= index) round_best_.resize(index + 1, 0);
  round_best_[index] = std::max(round_best_[index], rate);
}

double Estimate::median() const { return median_of(clean_.empty() ? rejected_ : clean_); }

double Estimate::spread() const {
  if (best_ <= 0) return 0;
  // One round has nothing to repeat: its windows must do.
  const double typical = round_best_.size() > 1 ? median_of(round_best_) : median();
  return (best_ - typical) / best_;
}

bool Estimate::is_confirmed(double tolerance, int rounds) const {
  return std::count_if(round_best_.begin(), round_best_.end(), [&](double best) {
           return best > 0 && best >= best_ * (1 - tolerance);
         }) >= rounds;
}

model::Verdict Estimate::verdict(double tolerance) const {
  if (best_ <= 0) return model::Verdict::unavailable;
  return is_confirmed(tolerance, 3) ? model::Verdict::stable : model::Verdict::noisy;
}

}  // namespace loft::machine
