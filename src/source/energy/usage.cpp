#include "source/energy/usage.hpp"

namespace loft::source::energy {
namespace {

// Enough for any screen; a longer course keeps every second step.
constexpr std::size_t kMostSteps = 4096;

void thin(std::vector<sample::EnergySeen>& steps) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < steps.size(); i += 2) steps[kept++] = steps[i];
  steps.resize(kept);
}

}  // namespace

EnergyUsage EnergyUsage::start(const SystemRoot& root) {
  EnergyUsage usage;
  usage.gauges_ = Gauges::open(root);
  usage.start_ = now();
  for (std::size_t i = 0; i < usage.gauges_.size(); ++i)
    usage.used_.push_back(
        {usage.gauges_.name(i),
         0,
         {},
         usage.gauges_.is_gpu(i),
         usage.gauges_.is_power(i) ? sample::Origin::modelled : sample::Origin::counted});
  usage.is_known_.resize(usage.used_.size(), true);
  return usage;
}

void EnergyUsage::poll() {
  const Nanoseconds at = now();
  const auto joules = gauges_.advance(at);
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (!joules[i]) {
      is_known_[i] = false;
      continue;
    }
    if (*joules[i] == 0) continue;  // meters move at a pace of their own
    used_[i].joules += *joules[i];
    if (used_[i].over_time.size() >= kMostSteps) thin(used_[i].over_time);
    used_[i].over_time.push_back({to_seconds(at - start_), used_[i].joules});
  }
}

std::vector<sample::EnergyUsed> EnergyUsage::so_far() {
  poll();
  std::vector<sample::EnergyUsed> used;
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (is_known_[i] && used_[i].joules > 0) used.push_back(used_[i]);
  return used;
}

}  // namespace loft::source::energy
