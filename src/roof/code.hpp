// The code that ran, by function: instructions with their exact counts, and how much of the
// modelled time was spent waiting for each.
//
//   CodeByFunction code = code_of(counts);                       // of the virtual PMU
//   LOFT_CHECK(add_waits({windows, functions}, core, code));
//   use(code.begin()->second.code);                              // by address
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/critical_path.hpp"
#include "roof/counted_work.hpp"
#include "roof/loop_why.hpp"
#include "sample/counting.hpp"

namespace loft::roof {

struct CodeInstruction {
  std::string text;
  std::uint8_t length = 0;
  std::optional<double> count;
  std::array<double, core::kWaits> waited{};  // cycles of all windows, by what was waited for
  std::optional<std::uint64_t> waits_for;     // address of the instruction
  std::uint64_t target = 0;                   // of a direct branch
};

struct FunctionCode {
  std::uint64_t address = 0;                      // of its first instruction
  std::map<std::uint64_t, CodeInstruction> code;  // by address in the binary
  double waited = 0;                              // cycles of all of it
};
using CodeByFunction = std::map<FunctionKey, FunctionCode>;

// Nothing where the counts lack instructions.
[[nodiscard]] CodeByFunction code_of(const sample::RunCounts& counted);

// Adds the critical paths of the windows.
[[nodiscard]] Result<void> add_waits(const KeptWindows& kept, const core::CoreParameters& core,
                                     CodeByFunction& code);

}  // namespace loft::roof
