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

WindowTimer::Prepared& WindowTimer::prepared(const source::virtual_pmu::KeptWindow& kept) {
  for (const auto& each : prepared_)
    if (each->number == kept.number) return *each;
  if (prepared_.size() == kPrepared) prepared_.erase(prepared_.begin());
  prepared_.push_back(std::make_unique<Prepared>());
  Prepared& made = *prepared_.back();
  made.number = kept.number;
  made.window = by_instruction(kept.window);
  return made;
}

core::Timer* WindowTimer::timer_for(const source::virtual_pmu::KeptWindow& kept,
                                    const Scenario& scenario) {
  Prepared& window = prepared(kept);
  const bool is_same = window.parameter == scenario.parameter && window.factor == scenario.factor;
  if (window.timer && is_same) return &*window.timer;
  auto core = moved(scenario);
  if (!core) return nullptr;
  window.timer.reset();
  window.parameter = scenario.parameter;
  window.factor = scenario.factor;
  window.core = *std::move(core);
  return &window.timer.emplace(window.window, window.core);
}

const std::vector<float>* WindowTimer::find(const source::virtual_pmu::KeptWindow& kept,
                                            const Scenario& scenario) {
  auto& timed = timed_[kept.number];
  const auto known = timed.find(scenario);
  if (known != timed.end()) return &known->second;
  core::Timer* const timer = timer_for(kept, scenario);
  if (timer == nullptr) return nullptr;
  core::CauseSet without;
  for (const core::Cause cause : scenario.without) without = without | cause;
  const core::Timing timing =
      timer->run({.without = without, .unknown = scenario.unknown, .relearns = scenario.relearns});
  std::vector<float> cycles(timing.by_block.begin(), timing.by_block.end());
  return &timed.emplace(scenario, std::move(cycles)).first->second;
}

}  // namespace loft::roof
