// Feeds models of a core with the address stream of a run under the engine.
//
//   ModelFeed feed(models, run.shared());
//   feed.execute(ran, observer);                 // one like core::BlockObserver
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/models.hpp"
#include "engine/stream.hpp"

namespace loft::source::virtual_pmu {

// The models that these events are read from.
[[nodiscard]] core::Models::Parts parts_for(const std::vector<const core::ModelledEvent*>& events);
// "caches L1I=32k,8,64,lru:...; TLBs ...; predictor tage,14"
[[nodiscard]] std::string describe(const core::MachineGeometry& machine);

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

  // A program that a process runs, which has memory of its own: what fork() copies is the
  // process's, too.
  struct Process {
    std::uint32_t image = 0;
    std::uint32_t pid = 0;
    bool operator==(const Process&) const = default;
  };
  // Whose an address is that the models were given. Of code, the first one that ran it.
  [[nodiscard]] Process process_at(std::uint64_t address) const {
    const std::uint64_t number = address >> kProcessShift;
    return number < programs_.size() ? programs_[number] : Process{};
  }

  // Processes of a run have addresses of their own: the upper bits, which no address has, tell them
  // apart. Those of a thread's process.
  std::uint64_t process_of(std::uint32_t slot) {
    if (slot < processes_.size() && processes_[slot] != kUnknown) [[likely]]
      return processes_[slot];
    return new_slot(slot);
  }

  template <class Observer>
  void execute(const engine::StreamedBlock& ran, Observer&& observer) {
    if (ran.block->instructions().empty()) return;
    const std::uint64_t process = process_of(ran.slot);
    const core::CodeBlock& block = block_of(ran, process);
    const auto touches = [&ran, process ](auto&& take) __attribute__((always_inline)) {
      ran.for_each_touch([&](const engine::StreamTouch& each) __attribute__((always_inline)) {
        take(core::BlockTouch{each.address | process, each.size, each.instruction, each.is_store,
                              each.is_past});
      });
    };
    models_.execute(core_of(ran.slot), block, touches, end_of(ran, block.last.branch, process),
                    observer);
  }

 private:
  static constexpr int kProcessShift = 48;
  static constexpr std::uint64_t kMostProcesses = 0x7fff;

  static core::BlockEnd end_of(const engine::StreamedBlock& ran, core::BranchKind kind,
                               std::uint64_t process) {
    using Branch = engine::StreamedBlock::Branch;
    if (kind != core::BranchKind::conditional)
      return {ran.next != 0, kind != core::BranchKind::none, ran.next | process};
    const Branch branch = ran.branch();
    return {ran.next != 0 && branch != Branch::unknown, branch == Branch::taken,
            ran.next | process};
  }
  const core::CodeBlock& block_of(const engine::StreamedBlock& ran, std::uint64_t process) {
    if (ran.number < blocks_.size() && blocks_[ran.number] != nullptr) [[likely]]
      return *blocks_[ran.number];
    return new_block(ran, process);
  }
  const core::CodeBlock& new_block(const engine::StreamedBlock& ran, std::uint64_t process);

  std::uint64_t new_slot(std::uint32_t slot);

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  core::Models& models_;
  const engine::Shared& shared_;
  std::vector<std::uint64_t> processes_;                  // by slot: upper bits of its addresses
  std::vector<Process> programs_;                         // by these bits
  std::vector<std::unique_ptr<core::CodeBlock>> blocks_;  // by number
};

}  // namespace loft::source::virtual_pmu
