// Feeds models of a core with the address stream of a run under the engine.
//
//   ModelFeed feed(models, run.shared());
//   feed.execute(ran, [&](std::size_t instruction, const core::Step& step) { ... });
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/models.hpp"
#include "engine/stream.hpp"

namespace loft::source::virtual_pmu {

class ModelFeed {
 public:
  // Threads beyond share the caches of an earlier one, as threads do that take turns on a core.
  static constexpr std::uint32_t kMostCores = 32;

  ModelFeed(core::Models& models, const engine::Shared& shared)
      : models_(models), shared_(shared) {}

  static std::uint32_t core_of(std::uint32_t slot) { return slot % kMostCores; }
  // Of an address that the models were given.
  static std::uint64_t address_in_process(std::uint64_t address) {
    return address & ((std::uint64_t{1} << kProcessShift) - 1);
  }

  // Calls `after` for each instruction of the block, with its index in the block.
  template <class After>
  void execute(const engine::StreamedBlock& ran, After&& after) {
    const std::uint64_t process = process_of(ran.slot);
    const auto& instructions = instructions_of(ran, process);
    const std::uint32_t core = core_of(ran.slot);
    std::size_t touch = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      gather(ran, i, touch, process);
      const bool is_last = i + 1 == instructions.size();
      after(i, is_last ? models_.execute(core, last_of(ran, instructions[i]), touched_,
                                         is_taken(ran, instructions[i].branch), ran.next | process)
                       : models_.execute(core, instructions[i], touched_));
    }
  }

 private:
  // Programs of a run have addresses of their own: the upper bits, which no address has, tell them
  // apart.
  static constexpr int kProcessShift = 48;

  std::uint64_t process_of(std::uint32_t slot) {
    if (slot >= processes_.size()) processes_.resize(slot + 1, kUnknown);
    std::uint64_t& process = processes_[slot];
    if (process == kUnknown)
      process = (std::uint64_t{shared_.slot(slot).image} & 0x7fff) << kProcessShift;
    return process;
  }
  static bool is_taken(const engine::StreamedBlock& ran, core::BranchKind kind) {
    return ran.branch() == engine::StreamedBlock::Branch::taken ||
           (kind != core::BranchKind::none && kind != core::BranchKind::conditional);
  }
  void gather(const engine::StreamedBlock& ran, std::size_t instruction, std::size_t& touch,
              std::uint64_t process);
  const core::Instruction& last_of(const engine::StreamedBlock& ran,
                                   const core::Instruction& instruction);
  const std::vector<core::Instruction>& instructions_of(const engine::StreamedBlock& ran,
                                                        std::uint64_t process);

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  core::Models& models_;
  const engine::Shared& shared_;
  std::vector<std::uint64_t> processes_;                                      // by slot
  std::unordered_map<std::uint32_t, std::vector<core::Instruction>> blocks_;  // by number
  std::vector<core::Touched> touched_;
  core::Instruction undecided_;
};

}  // namespace loft::source::virtual_pmu
