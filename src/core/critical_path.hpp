// What a window waits for, instruction by instruction: from the last one that leaves back to the
// first, always to what was waited for last. The cycles of the path are those of the window.
//
//   const CriticalPath path = *critical_path(window, core);
//   path.by_instruction[i].of(Wait::operation)     // cycles in which all waited for its result
//   path.by_instruction[i].waits_for               // the instruction whose result it took up last
//
// So a chain of operations shows as the instructions that it is made of, whatever else runs beside
// it; a load that misses shows as the cycles in which everything waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/timing.hpp"

namespace loft::core {

// What passes while all wait for an instruction.
enum class Wait : std::uint8_t {
  operation,  // its own latency
  unit,       // until a unit is free for it
  l1,         // its load, by the level that serves it
  l2,
  l3,
  memory,
  walk,        // its load, whose page the TLBs did not know
  transfer,    // its load, of a line that another thread has modified
  forwarding,  // its load, of what a store before it wrote
  restart,     // its branch was mispredicted: the front end starts anew
  issue,       // the front end, or the width
  retirement,  // its turn to leave
  count_
};
inline constexpr std::size_t kWaits = static_cast<std::size_t>(Wait::count_);
[[nodiscard]] std::string_view to_string(Wait wait);

struct CriticalShare {
  std::array<std::uint64_t, kWaits> cycles{};
  // From which instruction the path came most often, by its result; nothing where it did not.
  std::optional<std::uint32_t> waits_for;

  [[nodiscard]] std::uint64_t of(Wait wait) const { return cycles[static_cast<std::size_t>(wait)]; }
  [[nodiscard]] std::uint64_t sum() const;
  [[nodiscard]] Wait longest() const;
};

struct CriticalPath {
  std::uint64_t cycles = 0;                   // of the window, and of all instructions together
  std::vector<CriticalShare> by_instruction;  // as Window::instructions
};

// Fails for a window or parameters that do not pass their check().
[[nodiscard]] Result<CriticalPath> critical_path(const Window& window, const CoreParameters& core,
                                                 const Scenario& scenario = {});

}  // namespace loft::core
