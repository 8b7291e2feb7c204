// Runs a program instruction by instruction under ptrace and counts with classify() and resolve():
// slow, simple, and independent of the engine, which is held against it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/classify/events.hpp"
#include "engine/classify/resolve.hpp"

namespace loft::engine {

struct SteppedInstruction {
  InstructionFacts facts;
  std::uint64_t executions = 0;
  Units units{};
};

struct SteppedRun {
  std::map<std::uint64_t, SteppedInstruction> instructions;  // by address
  std::string output;
  int exit_code = -1;

  // Events of the instructions at [start, end).
  [[nodiscard]] EventVector events(std::uint64_t start = 0, std::uint64_t end = ~0ull) const;
};

// Hears of every execution in order: where, and what it touched.
using TouchListener = std::function<void(std::uint64_t address, const std::vector<Touch>& touched)>;

// Runs `command` to its end. Its standard output is kept. A program that gets a signal is an error.
[[nodiscard]] Result<SteppedRun> step_through(const std::vector<std::string>& command,
                                              const TouchListener& listener = {});

// A function of an executable that is loaded where it was linked.
struct FunctionRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};
[[nodiscard]] Result<std::map<std::string, FunctionRange>> functions_of(const std::string& path);

}  // namespace loft::engine
