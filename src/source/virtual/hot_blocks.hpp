// Which of some functions the blocks of a run under the engine belong to, while it runs, and how
// many instructions of each were executed since the last look.
//
//   HotBlocks hot(run.shared(), {{"triad", "/tmp/app"}});
//   hot.function_of(block)                       // 0, or HotBlocks::kNone
//   if (const auto ran = hot.look(now())) needs.add_executed(ran->by_function, ran->all);
//
// A look reads all counters of all threads; looks are so far apart that they take some percent of
// the time at most.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "source/virtual/functions.hpp"
#include "source/virtual/windows.hpp"

namespace loft::source::virtual_pmu {

class HotBlocks {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Ran {
    std::vector<std::uint64_t> by_function;
    std::uint64_t all = 0;
  };

  HotBlocks(const engine::Shared& shared, std::vector<WindowedFunction> functions)
      : shared_(shared), finder_(shared), functions_(std::move(functions)) {}

  [[nodiscard]] std::uint32_t function_of(std::uint32_t block);
  // Nothing if it is too early to look again.
  [[nodiscard]] std::optional<Ran> look(Nanoseconds now);

 private:
  struct Block {
    bool is_known = false;
    std::uint32_t function = kNone;
    std::uint32_t instructions = 0;
  };
  const Block& block(std::uint32_t number);
  [[nodiscard]] std::uint32_t find(const engine::BlockEntry& entry);
  [[nodiscard]] bool has_hot_function(std::uint32_t mapping);

  const engine::Shared& shared_;
  FunctionFinder finder_;
  std::vector<WindowedFunction> functions_;
  std::vector<Block> blocks_;
  std::unordered_map<std::uint32_t, bool> mappings_;          // whether they have hot functions
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by those of the finder
  std::vector<Ran> before_;                                   // by slot
  Nanoseconds next_look_{};
};

}  // namespace loft::source::virtual_pmu
