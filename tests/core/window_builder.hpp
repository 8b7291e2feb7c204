// Small windows, written down instruction by instruction.
#pragma once

#include <initializer_list>

#include "core/window.hpp"

namespace loft::core {

class WindowBuilder {
 public:
  // A new instruction; executed by run().
  std::uint32_t add(Instruction instruction) {
    instruction.address = 0x400000 + 4 * window.instructions.size();
    while (instruction.block >= window.blocks.size()) window.blocks.push_back(window.blocks.size());
    window.instructions.push_back(instruction);
    return static_cast<std::uint32_t>(window.instructions.size() - 1);
  }
  Execution& run(std::uint32_t instruction, std::initializer_list<WindowAccess> accesses = {}) {
    window.executions.push_back({.instruction = instruction,
                                 .first_access = static_cast<std::uint32_t>(window.accesses.size()),
                                 .accesses = static_cast<std::uint16_t>(accesses.size())});
    window.accesses.insert(window.accesses.end(), accesses);
    return window.executions.back();
  }

  Window window;
};

inline WindowAccess load_from(Level level, std::uint64_t address, std::uint32_t size = 8) {
  return {.address = address,
          .size = size,
          .cache = {.level = level, .nearest = level, .farthest = level}};
}

inline WindowAccess store_to(std::uint64_t address, std::uint32_t size = 8) {
  return {.address = address, .size = size, .is_store = true};
}

}  // namespace loft::core
