#include "source/scheduler/energy_sampler.hpp"

#include <fmt/format.h>

#include <cmath>

#include "event/recording_schema.hpp"

namespace loft::source::scheduler {

EnergySampler EnergySampler::open(const SystemRoot& root) {
  EnergySampler sampler;
  sampler.gauges_ = energy::Gauges::open(root);
  sampler.remainders_.resize(sampler.gauges_.size());
  return sampler;
}

std::vector<std::string> EnergySampler::names() const {
  using namespace event::recording;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < gauges_.size(); ++i)
    names.push_back(fmt::format("{}{}{}", kMeterPrefix,
                                gauges_.is_power(i) ? kFromWattsPrefix : std::string_view(),
                                gauges_.name(i)));
  return names;
}

void EnergySampler::sample(RecordingFile& file, Nanoseconds at) {
  const auto steps = gauges_.advance_sparingly(at);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].joules) put(i, *steps[i].joules, file, at);
}

void EnergySampler::finish(RecordingFile& file, Nanoseconds at) {
  const auto joules = gauges_.advance(at);
  for (std::size_t i = 0; i < joules.size(); ++i)
    if (joules[i]) put(i, *joules[i], file, at);
}

void EnergySampler::put(std::size_t gauge, double joules, RecordingFile& file, Nanoseconds at) {
  const double microjoules = joules * 1e6 + remainders_[gauge];
  const double whole = std::floor(microjoules);
  remainders_[gauge] = microjoules - whole;
  if (whole > 0)
    file.take_energy(gauge, {static_cast<std::uint64_t>(at.count()), 0},
                     static_cast<std::uint64_t>(whole));
}

}  // namespace loft::source::scheduler
