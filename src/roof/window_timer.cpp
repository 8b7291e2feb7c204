#include "roof/window_timer.hpp"

#include <numeric>

namespace loft::roof {
namespace {

// The window with each instruction as a block of its own.
core::Window by_instruction(core::Window window) {
  window.blocks.resize(window.instructions.size());
  std::iota(window.blocks.begin(), window.blocks.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < window.instructions.size(); ++i)
    window.instructions[i].block = static_cast<std::uint32_t>(i);
  return window;
}

}  // namespace

std::optional<core::CoreParameters> WindowTimer::moved(const Scenario& scenario) const {
  core::CoreParameters core = core_;
  if (scenario.parameter.empty()) return core;
  double value = 0;
  core::for_each_parameter(core, [&](const core::ParameterName& each, const core::Parameter& p) {
    if (each.name == scenario.parameter) value = p.value;
  });
  const double wanted = value * scenario.factor;
  if (!core::set_parameter(core, scenario.parameter, wanted, core::Origin::assumed) ||
      !core::check(core))
    return std::nullopt;
  return core;
}

const std::vector<float>* WindowTimer::find(const source::virtual_pmu::KeptWindow& kept,
                                            const Scenario& scenario) {
  auto& timed = timed_[kept.number];
  const auto known = timed.find(scenario);
  if (known != timed.end()) return &known->second;
  const auto core = moved(scenario);
  if (!core) return nullptr;
  const core::Window window = by_instruction(kept.window);
  core::CauseSet without;
  for (const core::Cause cause : scenario.without) without = without | cause;
  const core::Timing timing =
      core::Timer(window, *core).run({.without = without, .unknown = scenario.unknown});
  std::vector<float> cycles(timing.by_block.begin(), timing.by_block.end());
  return &timed.emplace(scenario, std::move(cycles)).first->second;
}

}  // namespace loft::roof
