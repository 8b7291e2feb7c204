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
#include <vector>

#include "base/result.hpp"
#include "engine/classify/events.hpp"
#include "engine/shared.hpp"

namespace loft::engine {

class Tally {
 public:
  explicit Tally(const Shared& shared) : shared_(shared) {}

  // All events of all threads so far. Threads that have ended are read once.
  [[nodiscard]] Result<EventVector> of_all();

  // All events of one thread so far.
  [[nodiscard]] Result<EventVector> of_slot(std::uint32_t slot);

  // The same, of those blocks alone for which `chosen` is true.
  using Choice = std::function<bool(const BlockEntry&)>;
  [[nodiscard]] Result<EventVector> of_slot(std::uint32_t slot, const Choice& chosen);

 private:
  struct Block {
    BlockEntry entry;
    std::uint32_t first = 0;  // of its kinds in kinds_of_blocks_
    std::uint32_t count = 0;
  };
  struct Sum {
    std::uint64_t executions = 0;
    Units units{};
  };

  void learn_blocks();
  [[nodiscard]] Result<void> gather(std::uint32_t slot, const Choice& chosen,
                                    std::vector<Sum>& sums);
  [[nodiscard]] EventVector events_of(const std::vector<Sum>& sums) const;
  void add_part(const Block& part, std::uint64_t value, std::vector<Sum>& sums) const;

  const Shared& shared_;
  KindTable kinds_;
  std::vector<Block> blocks_;
  std::vector<KindId> kinds_of_blocks_;
  std::vector<bool> is_folded_;  // slots of ended threads, whose counts are in folded_
  std::vector<Sum> folded_;
};

}  // namespace loft::engine
