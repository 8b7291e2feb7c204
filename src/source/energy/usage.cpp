#include "source/energy/usage.hpp"

namespace loft::source::energy {

EnergyUsage EnergyUsage::start(const SystemRoot& root) {
  EnergyUsage usage;
  for (const Meter& meter : meters(root)) {
    if (meter.quantity != Meter::Quantity::energy) continue;
    if (const auto joules = read(meter)) usage.meters_.push_back({meter, *joules});
  }
  if (auto nvml = Nvml::load()) {
    for (unsigned device = 0; device < nvml->devices(); ++device)
      usage.gpu_joules_.push_back(nvml->energy(device).value_or(-1));
    usage.nvml_ = *std::move(nvml);
  }
  return usage;
}

std::vector<sample::EnergyUsed> EnergyUsage::so_far() const {
  std::vector<sample::EnergyUsed> used;
  const auto add = [&](std::string name, double before, double now) {
    if (before >= 0 && now >= before) used.push_back({std::move(name), now - before});
  };
  for (const Running& running : meters_)
    if (const auto joules = read(running.meter)) add(running.meter.name, running.joules, *joules);
  for (unsigned device = 0; device < gpu_joules_.size(); ++device)
    if (const auto joules = nvml_->energy(device))
      add(nvml_->name(device).value_or("GPU " + std::to_string(device)), gpu_joules_[device],
          *joules);
  return used;
}

}  // namespace loft::source::energy
