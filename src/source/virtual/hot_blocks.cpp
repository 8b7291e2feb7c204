#ifdef LOFT_HAS_ENGINE
#include "source/virtual/hot_blocks.hpp"

#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

// From one look to the next: so many times what a look takes.
constexpr int kPausePerLook = 40;

}  // namespace

bool HotBlocks::has_hot_function(std::uint32_t mapping) {
  const auto [known, is_new] = mappings_.try_emplace(mapping, false);
  if (is_new) {
    const engine::MappingEntry entry = shared_.mapping(mapping);
    known->second = std::ranges::any_of(
        functions_, [&](const WindowedFunction& hot) { return hot.binary == entry.path; });
  }
  return known->second;
}

std::uint32_t HotBlocks::find(const engine::BlockEntry& entry) {
  if (!has_hot_function(entry.mapping)) return kNone;
  const std::uint32_t found = finder_.find(entry, entry.address);
  const auto [known, is_new] = numbers_.try_emplace(found, kNone);
  if (is_new) {
    const FunctionFinder::Function& function = finder_.functions()[found];
    const auto hot =
        std::ranges::find(functions_, WindowedFunction{function.name, function.binary});
    if (hot != functions_.end())
      known->second = static_cast<std::uint32_t>(hot - functions_.begin());
  }
  return known->second;
}

const HotBlocks::Block& HotBlocks::block(std::uint32_t number) {
  if (number >= blocks_.size())
    blocks_.resize(std::max<std::size_t>(number + 1, 2 * blocks_.size()));
  Block& block = blocks_[number];
  if (block.is_known) return block;
  const engine::BlockEntry entry = shared_.block(number);
  if (entry.address == 0) return block;  // it is not complete yet
  block.is_known = true;
  if (entry.kind != static_cast<std::uint16_t>(engine::BlockKind::body)) return block;
  block.instructions = entry.instructions;
  block.function = find(entry);
  return block;
}

std::uint32_t HotBlocks::function_of(std::uint32_t number) { return block(number).function; }

std::optional<HotBlocks::Ran> HotBlocks::look(Nanoseconds time) {
  if (functions_.empty() || time < next_look_) return std::nullopt;
  Ran since{std::vector<std::uint64_t>(functions_.size()), 0};
  const auto slots = shared_.slots();
  before_.resize(std::max(before_.size(), slots.size()),
                 {std::vector<std::uint64_t>(functions_.size()), 0});
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].ended != 0) continue;
    const auto counts = shared_.counts(slot);
    if (!counts) continue;
    Ran now{std::vector<std::uint64_t>(functions_.size()), 0};
    for (const auto& [number, count] : *counts) {
      const Block& ran = block(number);
      now.all += count * ran.instructions;
      if (ran.function != kNone) now.by_function[ran.function] += count * ran.instructions;
    }
    // Counters are read while they count: a sum may be a little behind itself.
    const auto more = [](std::uint64_t after, std::uint64_t before) {
      return after > before ? after - before : 0;
    };
    since.all += more(now.all, before_[slot].all);
    for (std::size_t i = 0; i < functions_.size(); ++i)
      since.by_function[i] += more(now.by_function[i], before_[slot].by_function[i]);
    before_[slot] = std::move(now);
  }
  next_look_ = time + kPausePerLook * (loft::now() - time);
  return since;
}

}  // namespace loft::source::virtual_pmu
#endif
