#include "source/scheduler/energy_sampler.hpp"

#include <cmath>

namespace loft::source::scheduler {

EnergySampler EnergySampler::open(const SystemRoot& root) {
  EnergySampler sampler;
  for (const energy::Meter& meter : energy::meters(root))
    if (const auto value = energy::read(meter)) sampler.meters_.push_back({meter, *value, 0});
  sampler.last_time_ = now();
  return sampler;
}

std::vector<std::string> EnergySampler::names() const {
  std::vector<std::string> names;
  for (const Tracked& tracked : meters_) names.push_back("energy " + tracked.meter.name);
  return names;
}

void EnergySampler::sample(RecordingFile& file, Nanoseconds at) {
  const double seconds = to_seconds(at - last_time_);
  last_time_ = at;
  for (std::size_t i = 0; i < meters_.size(); ++i) {
    Tracked& tracked = meters_[i];
    const auto value = energy::read(tracked.meter);
    if (!value) continue;
    const bool is_power = tracked.meter.quantity == energy::Meter::Quantity::power;
    const double joules = is_power ? (tracked.last + *value) / 2 * seconds : *value - tracked.last;
    tracked.last = *value;
    if (joules < 0) continue;  // the meter went around: how far is not known
    const double microjoules = joules * 1e6 + tracked.remainder;
    const double whole = std::floor(microjoules);
    tracked.remainder = microjoules - whole;
    if (whole > 0)
      file.take_energy(i, {static_cast<std::uint64_t>(at.count()), 0},
                       static_cast<std::uint64_t>(whole));
  }
}

}  // namespace loft::source::scheduler
