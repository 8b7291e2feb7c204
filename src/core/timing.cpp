#include "core/timing.hpp"

#include <algorithm>

#include "core/timing_run.hpp"

namespace loft::core {
namespace {

constexpr std::array<std::string_view, kCauses> kNames = {
    "l1_bandwidth", "l2_bandwidth",   "l3_bandwidth", "dram_bandwidth",
    "l1_latency",   "l2_latency",     "l3_latency",   "dram_latency",
    "tlb",          "fp_latency",     "int_latency",  "store_forwarding",
    "fp_ports",     "divider",        "int_ports",    "memory_ports",
    "width",        "mispredictions", "front_end",    "sharing",
    "atomics"};

Result<void> check_both(const Window& window, const CoreParameters& core) {
  LOFT_CHECK(check(window));
  return check(core);
}

}  // namespace

std::string_view to_string(Cause cause) { return kNames[static_cast<std::size_t>(cause)]; }

std::optional<Cause> find_cause(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return {};
  return static_cast<Cause>(found - kNames.begin());
}

Timer::Timer(const Window& window, const CoreParameters& core)
    : run_(std::make_unique<TimingRun>(window, core)) {}
Timer::~Timer() = default;

Timing Timer::run(const Scenario& scenario, std::vector<Moments>* moments) {
  return run_->run(scenario, moments);
}

Result<Timing> time_window(const Window& window, const CoreParameters& core,
                           const Scenario& scenario) {
  LOFT_CHECK(check_both(window, core));
  return Timer(window, core).run(scenario);
}

double WhatIf::gain(Cause cause) const {
  const Timing& faster = without[static_cast<std::size_t>(cause)];
  return static_cast<double>(all.cycles) /
         static_cast<double>(std::max<std::uint64_t>(1, faster.cycles));
}

Result<WhatIf> what_if(const Window& window, const CoreParameters& core) {
  LOFT_CHECK(check_both(window, core));
  Timer timer(window, core);
  WhatIf result;
  result.all = timer.run({});
  for (std::size_t i = 0; i < kCauses; ++i)
    result.without[i] = timer.run({.without = static_cast<Cause>(i)});
  result.unknown_nearest = timer.run({.unknown = Unknown::nearest});
  result.unknown_farthest = timer.run({.unknown = Unknown::farthest});
  return result;
}

}  // namespace loft::core
