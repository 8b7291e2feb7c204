// From counted blocks to events: each block's instructions, read once, times how often it ran.
//
//   Tally tally(run.shared());
//   LOFT_TRY(const EventVector thread, tally.of_slot(3));
//   thread[*find_event("flops_dp")]
//
// The work is per kind of instruction: all blocks' counts are gathered per kind first, and a kind
// contributes to the events once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "engine/classify/events.hpp"
#include "engine/code_reader.hpp"
#include "engine/shared.hpp"

namespace loft::engine {

class Tally {
 public:
  explicit Tally(const Shared& shared) : shared_(shared) {}

  // The slots that count: all, or those of the region where only a region is counted.
  [[nodiscard]] std::vector<std::uint32_t> slots() const;

  // All events of all threads so far. Threads that have ended are read once.
  [[nodiscard]] Result<EventVector> of_all();

  // All events of one thread so far.
  [[nodiscard]] Result<EventVector> of_slot(std::uint32_t slot);

  // All events of one thread in those blocks for which `chosen` is true.
  using Choice = std::function<bool(const BlockEntry&)>;
  [[nodiscard]] Result<EventVector> of_slot(std::uint32_t slot, const Choice& chosen);

 private:
  struct Block {
    BlockEntry entry;
    std::uint32_t first = 0;  // of its kinds in kinds_of_blocks_
    std::uint32_t count = 0;
    bool is_decoded = false;
  };
  struct Sum {
    std::uint64_t executions = 0;
    Units units{};
  };

  friend class PartTally;

  void learn_blocks();
  void decode(std::uint32_t number);
  [[nodiscard]] Result<void> gather(std::uint32_t slot, const Choice& chosen,
                                    std::vector<Sum>& sums);
  [[nodiscard]] EventVector events_of(const std::vector<Sum>& sums) const;
  // Calls add(place, executions, unit, units) for all that `count` runs of a block mean; `place` is
  // the index of an instruction in kinds_of_blocks_. `dense` has the thread's counts by block.
  template <class Add>
  void spread(std::uint32_t number, std::uint64_t count, std::span<const std::uint64_t> dense,
              Add&& add);

  const Shared& shared_;
  CodeReader reader_;
  std::vector<Block> blocks_;
  std::vector<KindId> kinds_of_blocks_;
  std::vector<std::uint8_t> lengths_of_blocks_;  // of the same instructions, in bytes
  std::vector<bool> is_folded_;  // slots of ended threads, whose counts are in folded_
  std::vector<Sum> folded_;
};

// Counts of some events, apart by what the instructions belong to: functions, basic blocks.
//
//   PartTally parts(tally, events, [&](const BlockEntry& block, std::uint64_t address) { ... });
//   LOFT_TRY(const auto rows, parts.of_slots({0, 1}));
//
// Every instruction is in exactly one part, so the parts sum up to the whole.
class PartTally {
 public:
  // The part of the instruction at `address` of a block. Asked once for each.
  using Where = std::function<std::uint32_t(const BlockEntry& block, std::uint64_t address)>;
  struct Row {
    std::uint32_t part = 0;
    std::vector<std::uint64_t> counts;  // aligned with the events
  };

  PartTally(Tally& tally, std::vector<EventIndex> events, Where where)
      : tally_(tally), events_(std::move(events)), where_(std::move(where)) {}

  // What these threads have counted so far, by rising part. Parts that never ran are left out.
  [[nodiscard]] Result<std::vector<Row>> of_slots(std::span<const std::uint32_t> slots);

 private:
  void learn_kinds();
  [[nodiscard]] std::span<const std::uint32_t> parts_of(std::uint32_t block);
  void add_block(std::uint32_t number, std::uint64_t count, std::span<const std::uint64_t> dense);

  Tally& tally_;
  std::vector<EventIndex> events_;
  Where where_;
  // Per kind, what one execution and one of each unit add to the events.
  std::vector<std::uint64_t> effects_;
  std::vector<std::uint32_t> parts_;  // aligned with Tally::kinds_of_blocks_; kUnknown at first
  std::vector<std::uint64_t> sums_;   // per part, one for each event
  std::vector<bool> has_run_;         // per part
};

}  // namespace loft::engine
