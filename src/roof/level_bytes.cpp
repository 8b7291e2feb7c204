#include "roof/level_bytes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "roof/work_events.hpp"
#include "source/virtual/counting.hpp"
#include "source/watch.hpp"

namespace loft::roof {
namespace {

using model::LevelBytes;

// The events of a level, one in each direction, in the order in which they are asked for.
using Level = std::optional<double> LevelBytes::*;
constexpr std::array<Level, 6> kLevels{&LevelBytes::l2, &LevelBytes::l2,   &LevelBytes::l3,
                                       &LevelBytes::l3, &LevelBytes::dram, &LevelBytes::dram};
constexpr const char* kNames =
    "l2_to_l1_bytes,l1_to_l2_bytes,l3_to_l2_bytes,l2_to_l3_bytes,memory_read_bytes,"
    "memory_write_bytes";

// A level of which either direction is missing is not known.
LevelBytes levels_in(std::span<const sample::Count> counts) {
  LevelBytes levels{0, 0, 0};
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    auto& bytes = levels.*kLevels[i];
    if (i >= counts.size() || !counts[i].is_available())
      bytes.reset();
    else if (bytes)
      *bytes += counts[i].value();
  }
  return levels;
}

void add_to(std::map<FunctionKey, LevelBytes>& sums, const FunctionKey& key,
            const LevelBytes& levels) {
  const auto [entry, is_new] = sums.try_emplace(key, levels);
  if (!is_new) entry->second += levels;
}

void use_memory(std::optional<model::Work>& work) {
  if (work && work->levels.dram)
    work->bytes = *work->levels.dram;
  else
    work.reset();
  if (work) work->levels = {};
}

// Blocks by binary and address.
using BlockLevels = std::map<std::string, std::map<std::uint64_t, LevelBytes>>;

BlockLevels blocks_of(const sample::RunCounts& modelled) {
  BlockLevels blocks;
  for (const sample::BlockCounts& block : modelled.blocks) {
    const auto levels = levels_in(block.counts);
    const auto [entry, is_new] = blocks[block.binary].try_emplace(block.address, levels);
    if (!is_new) entry->second += levels;
  }
  return blocks;
}

// Nothing where none of its blocks ran in the modelled run.
LevelBytes levels_of(const LoopWork& loop, const BlockLevels& blocks) {
  LevelBytes sum;
  const auto binary = blocks.find(loop.function.binary);
  if (binary == blocks.end()) return sum;
  for (const CodeRange& range : loop.code)
    for (auto block = binary->second.lower_bound(range.start);
         block != binary->second.end() && block->first < range.end; ++block) {
      if (sum.is_known())
        sum += block->second;
      else
        sum = block->second;
    }
  return sum;
}

}  // namespace

Result<sample::RunCounts> run_levels(const std::vector<std::string>& command,
                                     StandardStreams streams,
                                     const core::MachineGeometry& geometry) {
  source::CountRequest request;
  LOFT_TRY(request.events, virtual_events(kNames));
  request.command = command;
  request.streams = streams;
  request.split = source::Split::thread_functions;
  request.with_blocks = true;
  request.model = &geometry;
  LOFT_TRY(const auto run, source::virtual_pmu::prepare(request));
  return source::watch(*run, request, {});
}

void add_levels(const sample::RunCounts& modelled, CountedWork& counted) {
  std::vector<sample::Count> totals;
  for (const sample::CountedEvent& event : modelled.events) totals.push_back(event.total);
  if (counted.total) counted.total->levels = levels_in(totals);
  std::map<FunctionKey, LevelBytes> sums;
  for (const sample::FunctionCounts& function : modelled.functions)
    add_to(sums, {function.name, function.binary}, levels_in(function.counts));
  for (FunctionWork& function : counted.functions) {
    const auto found = sums.find(function.key);
    if (found == sums.end() || !function.work) continue;
    function.work->levels = found->second;
    found->second = {0, 0, 0};  // of several functions of this name the first has it all
  }
  const BlockLevels blocks = blocks_of(modelled);
  for (LoopWork& loop : counted.loops) loop.work.levels = levels_of(loop, blocks);
  std::map<std::uint32_t, LevelBytes> threads;  // each once, in the order of their numbers
  for (const sample::ThreadCounts& thread : modelled.threads) {
    const auto levels = levels_in(thread.counts);
    const auto [entry, is_new] =
        threads.try_emplace(static_cast<std::uint32_t>(thread.tid), levels);
    if (!is_new) entry->second += levels;
  }
  if (threads.size() != counted.threads.size()) return;
  std::size_t next = 0;
  for (const auto& [tid, levels] : threads)
    if (auto& work = counted.threads[next++].work) work->levels = levels;
}

BytesAt bytes_of(const CountedWork& counted) {
  if (counted.bytes_are_of_memory) return BytesAt::memory;
  return counted.total && counted.total->levels.is_known() ? BytesAt::levels : BytesAt::core;
}

CountedWork with_bytes_of_memory(CountedWork counted) {
  use_memory(counted.total);
  for (ThreadWork& thread : counted.threads) use_memory(thread.work);
  for (FunctionWork& function : counted.functions) use_memory(function.work);
  std::erase_if(counted.loops, [](const LoopWork& loop) { return !loop.work.levels.dram; });
  for (LoopWork& loop : counted.loops) {
    loop.work.bytes = *loop.work.levels.dram;
    loop.work.levels = {};
  }
  counted.bytes_are_of_memory = true;
  return counted;
}

}  // namespace loft::roof
