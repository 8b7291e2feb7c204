// How many cycles a window takes, and how many it would take without a cause.
//
//   const Timing timing = *time_window(window, core);
//   const Timing faster = *time_window(window, core, {.without = Cause::dram_latency});
//   double gain = double(timing.cycles) / double(faster.cycles);
//   WhatIf all = *what_if(window, core);                // each cause once
//
// Instructions start when their registers, flags and memory operands are there, a unit is free and
// the reorder window has room; they leave in order. docs/models.md says what is modelled, and what
// taking a cause away means. The result depends on the arguments alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/causes.hpp"
#include "core/parameters.hpp"
#include "core/window.hpp"

namespace loft::core {

// Which level serves lines that were not seen since the warm-up.
enum class Unknown : std::uint8_t { as_modelled, nearest, farthest };

struct Scenario {
  CauseSet without;
  Unknown unknown = Unknown::as_modelled;
  bool relearns = false;  // branches are predicted by what the warm-up taught alone
};

struct Timing {
  std::uint64_t cycles = 0;
  // Cycles by block, which add up to the whole: an instruction is charged with the time from the
  // end of the one before it to its own, a mispredicted branch with the restart.
  std::vector<std::uint64_t> by_block;
};

// In which cycles one execution passed its stations; core/critical_path.hpp follows them.
struct Moments {
  std::int64_t issued = 0;
  std::int64_t addressed = 0;  // the registers of its addresses were there
  std::int64_t loaded = 0;     // so were its loads
  std::int64_t started = 0;    // a unit took it
  std::int64_t finished = 0;
  std::int64_t left = 0;
};

// Fails for a window or parameters that do not pass their check().
[[nodiscard]] Result<Timing> time_window(const Window& window, const CoreParameters& core,
                                         const Scenario& scenario = {});

struct WhatIf {
  Timing all;                                // with all causes
  std::array<Timing, kCauses> without;       // with one taken away
  Timing unknown_nearest, unknown_farthest;  // differ from `all` if unknown lines matter

  [[nodiscard]] double gain(Cause cause) const;
};
[[nodiscard]] Result<WhatIf> what_if(const Window& window, const CoreParameters& core);

// Keeps its memory from one scenario to the next; what the functions above are made of.
class TimingRun;
class Timer {
 public:
  // Both have passed check(), and outlive it.
  Timer(const Window& window, const CoreParameters& core);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // `moments` gets an element for each execution.
  [[nodiscard]] Timing run(const Scenario& scenario, std::vector<Moments>* moments = nullptr);

 private:
  std::unique_ptr<TimingRun> run_;
};

}  // namespace loft::core
