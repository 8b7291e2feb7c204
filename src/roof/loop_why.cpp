#include "roof/loop_why.hpp"

#include <algorithm>
#include <set>

namespace loft::roof {
namespace {

using source::virtual_pmu::KeptWindow;
using source::virtual_pmu::WindowKeeper;

// Fewer of its instructions in all windows together say nothing about a loop.
constexpr std::size_t kLeastInstructions = 1000;
constexpr std::size_t kElsewhere = 0;  // code of no loop

// The loops of one depth, by function: no two of them have code in common.
class LoopOfBlock {
 public:
  LoopOfBlock(const KeptWindows& kept, const std::vector<LoopWork>& loops, int depth)
      : by_function_(kept.functions.size()) {
    std::map<FunctionKey, std::vector<Range>> known;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (loops[i].facts.depth != depth) continue;
      for (const CodeRange& code : loops[i].code) known[loops[i].function].push_back({code, i + 1});
    }
    for (std::size_t i = 0; i < kept.functions.size(); ++i) {
      const auto found = known.find({kept.functions[i].name, kept.functions[i].binary});
      if (found == known.end()) continue;
      by_function_[i] = found->second;
      std::ranges::sort(by_function_[i], {}, [](const Range& range) { return range.code.start; });
    }
  }

  // Of each instruction of the window: its place in the list of loops, from 1 on.
  [[nodiscard]] std::vector<std::size_t> loops_of(const KeptWindow& kept) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < kept.window.instructions.size(); ++i)
      found.push_back(find(kept.functions[kept.window.instructions[i].block], kept.addresses[i]));
    return found;
  }

 private:
  struct Range {
    CodeRange code;
    std::size_t loop = kElsewhere;
  };

  [[nodiscard]] std::size_t find(std::uint32_t function, std::uint64_t address) const {
    const auto& ranges = by_function_[function];
    auto behind = std::ranges::upper_bound(ranges, address, {},
                                           [](const Range& range) { return range.code.start; });
    if (behind == ranges.begin()) return kElsewhere;
    --behind;
    return address < behind->code.end ? behind->loop : kElsewhere;
  }

  std::vector<std::vector<Range>> by_function_;
};

std::vector<std::size_t> executed(const KeptWindows& kept, const LoopOfBlock& finder,
                                  std::size_t loops) {
  std::vector<std::size_t> counts(loops + 1);
  for (const KeptWindow& window : kept.windows) {
    const auto loop_of = finder.loops_of(window);
    for (const core::Execution& execution : window.window.executions)
      ++counts[loop_of[execution.instruction]];
  }
  return counts;
}

}  // namespace

WindowsByLoop by_loop(const KeptWindows& kept, const std::vector<LoopWork>& loops, int depth) {
  const LoopOfBlock finder(kept, loops, depth);
  const auto counts = executed(kept, finder, loops.size());
  WindowsByLoop grouped;
  grouped.loops.emplace_back();
  std::vector<std::uint32_t> numbers(loops.size() + 1);  // in the list of those that are judged
  for (std::size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] < kLeastInstructions) continue;
    numbers[i] = static_cast<std::uint32_t>(grouped.loops.size());
    const FunctionKey key = loop_key(loops[i - 1].function, loops[i - 1].facts);
    grouped.loops.push_back({key.name, key.binary});
  }
  for (const KeptWindow& window : kept.windows) {
    const auto loop_of = finder.loops_of(window);
    if (std::ranges::none_of(loop_of, [&](std::size_t loop) { return numbers[loop] != 0; }))
      continue;
    KeptWindow relabelled = window;
    relabelled.window.blocks.clear();
    relabelled.functions.clear();
    std::map<std::uint32_t, std::uint32_t> blocks;  // by number of the loop
    for (std::size_t i = 0; i < loop_of.size(); ++i) {
      const std::uint32_t loop = numbers[loop_of[i]];
      const auto [block, is_new] = blocks.try_emplace(loop, relabelled.window.blocks.size());
      if (is_new) {
        relabelled.window.blocks.push_back(loop);
        relabelled.functions.push_back(loop);
      }
      relabelled.window.instructions[i].block = block->second;
    }
    grouped.windows.push_back(std::move(relabelled));
  }
  return grouped;
}

Result<void> add_loops(const KeptWindows& kept, const std::vector<LoopWork>& loops,
                       TimedMachine& machine, Account& account) {
  int deepest = 0;
  for (const LoopWork& loop : loops) deepest = std::max(deepest, loop.facts.depth);
  for (int depth = 1; depth <= deepest; ++depth) {
    const WindowsByLoop grouped = by_loop(kept, loops, depth);
    if (grouped.windows.empty()) continue;
    LOFT_TRY(Account of_loops, account_of(grouped.windows, grouped.loops, machine));
    of_loops.functions.erase(FunctionKey{});
    of_loops.nearest.erase(FunctionKey{});
    of_loops.quiet_l3.erase(FunctionKey{});
    of_loops.relearned.erase(FunctionKey{});
    account.functions.merge(of_loops.functions);
    account.nearest.merge(of_loops.nearest);
    account.quiet_l3.merge(of_loops.quiet_l3);
    account.relearned.merge(of_loops.relearned);
  }
  return {};
}

}  // namespace loft::roof
