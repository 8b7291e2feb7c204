// Feeds models of a core with the address stream of a run under the engine.
//
//   ModelFeed feed(models, run.shared());
//   feed.execute(ran, observer);                 // one like core::BlockObserver
//   feed.execute(batch, [&](std::uint32_t number) { return observer; });
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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
    const core::BlockEnd end = block.end_at(ran.next, process);
    if (block.has_lanes)
      models_.execute(core_of(ran.slot), block, Lanes{block, ran.record, process}, end, observer);
    else
      models_.execute(core_of(ran.slot), block, Touches{ran, process}, end, observer);
  }

  // Many at once: `observer_of(number)` is the observer of a block. Branches come behind all
  // accesses, which the models do not notice.
  template <class ObserverOf>
  void execute(const engine::StreamBatch& batch, ObserverOf&& observer_of) {
    const std::uint64_t process = process_of(batch.slot);
    const std::uint32_t core = core_of(batch.slot);
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (!has_block(batch.steps[i].number)) new_block(batch[i], process);
    const auto ran = [&](std::size_t i) {
      return std::pair(blocks_[batch.steps[i].number].get(), batch.record(i));
    };
    const auto observer_at = [&](std::size_t i) { return observer_of(batch.steps[i].number); };
    for (std::size_t i = 0; i < batch.size(); ++i) {
      i = models_.access_lanes(core, i, batch.size(), process, ran, observer_at);
      if (i != batch.size() && !ran(i).first->instructions.empty())
        models_.access(core, *ran(i).first, Touches{batch[i], process}, observer_at(i));
    }
    models_.tell_hits(core, observer_of(batch.steps.back().number));
    if (models_.parts().branches) predict_branches(batch, process, observer_of);
  }

 private:
  static constexpr int kProcessShift = 48;
  static constexpr std::uint64_t kMostProcesses = 0x7fff;

  // The accesses of an execution, for the models.
  struct Lanes {
    const core::CodeBlock& block;
    const std::byte* record;
    std::uint64_t process;
    template <class Take>
    [[gnu::always_inline]] void operator()(Take&& take) const {
      for (const core::BlockLane& lane : block.lanes) take(lane.touch(record, process));
    }
  };
  struct Touches {
    engine::StreamedBlock ran;
    std::uint64_t process;
    template <class Take>
    void operator()(Take&& take) const {
      for (const engine::StreamTouch& each : ran.touches())
        take(core::BlockTouch{each.address | process, each.size, each.instruction, each.is_store,
                              each.is_past});
    }
  };

  template <class ObserverOf>
  void predict_branches(const engine::StreamBatch& batch, std::uint64_t process,
                        ObserverOf&& observer_of) {
    const auto block_at = [&](std::size_t i) -> const core::CodeBlock& {
      return *blocks_[batch.steps[i].number];
    };
    const auto next_at = [&](std::size_t i) {
      return i + 1 < batch.size() ? block_at(i + 1).address : batch.next;
    };
    models_.predict_branches(
        core_of(batch.slot), batch.size(), process, block_at, next_at, [&](std::size_t i) {
          observer_of(batch.steps[i].number)
              .changed(static_cast<std::uint32_t>(block_at(i).instructions.size() - 1));
        });
  }
  [[nodiscard]] bool has_block(std::uint32_t number) const {
    return number < blocks_.size() && blocks_[number] != nullptr;
  }
  const core::CodeBlock& block_of(const engine::StreamedBlock& ran, std::uint64_t process) {
    return has_block(ran.number) ? *blocks_[ran.number] : new_block(ran, process);
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
