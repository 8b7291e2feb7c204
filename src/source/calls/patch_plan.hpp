// Which bytes of a function are to be replaced so that its calls and returns are seen, or why that
// cannot be. Addresses are those of the file: a plan is good for every place that it is loaded at.
//
//   const PatchPlan plan = plan_function(file, *file.function_at(address));
//   if (!plan.why_not.empty()) tell(plan.why_not);
//
// A patch is a jump of five bytes. The instructions that it covers run elsewhere; nothing may jump
// between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "source/calls/code_file.hpp"
#include "source/calls/instructions.hpp"

namespace loft::source::calls {

inline constexpr std::size_t kPatchSize = 5;

// Instructions that are moved, from where the jump is put.
struct Region {
  std::uint64_t start = 0;
  std::vector<Instruction> moved;

  // Behind the last instruction that was moved.
  [[nodiscard]] std::uint64_t end() const { return moved.back().end(); }
  [[nodiscard]] bool has_return() const { return moved.back().kind == InstructionKind::ret; }
};

struct PatchPlan {
  std::optional<Region> entry;
  std::vector<Region> exits;
  bool loops_to_start = false;            // a jump inside leads to the first instruction
  bool has_unknown_jumps = false;         // it may end in a jump to nobody knows what
  std::vector<std::uint64_t> tail_calls;  // functions that it may end in a jump to
  std::string why_not;                    // why it cannot be watched
};

// Entry and all returns, or the entry alone where calls are only counted.
enum class Watch : std::uint8_t { calls, times, returns_only };

[[nodiscard]] PatchPlan plan_function(const CodeFile& file, const CodeFunction& function,
                                      Watch watch = Watch::times);

}  // namespace loft::source::calls
