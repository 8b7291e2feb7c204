// What holds a function or loop back, from the time that a model gives it with everything, and with
// one cause after the other taken away.
//
//   TimedPart part;                        // sums over the windows in which the function ran
//   part.instructions = 8000;
//   part.cycles = 32000;
//   part.without.fill(32000);
//   part.without[static_cast<std::size_t>(core::Cause::fp_latency)] = 8000;
//   const Why why = judge(part, {.cycles_per_instruction = 4.2});
//   why.limit                              // core::Cause::fp_latency
//   why.gain                               // 4.0: so much faster without it
//
// A verdict is given only where the model explains the measured time, and where it stays the same
// when any parameter of the model moves. Everything else is said as what it is: unexplained,
// unclear, not seen.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/causes.hpp"

namespace loft::model {

// By how much a model's time may differ from the measured one, and still explain it.
inline constexpr double kLeastExplained = 0.8;
inline constexpr double kMostExplained = 1.25;
// A cause whose removal gains less is none.
inline constexpr double kLeastGain = 1.1;

using CyclesWithout = std::array<double, core::kCauses>;
// By level as core::kLevelCauses has them; 0: not known.
using CyclesNear = std::array<double, core::kLevelCauses.size()>;

// The model's account of a part of a program, added up over all windows.
struct TimedPart {
  double instructions = 0;
  double cycles = 0;
  CyclesWithout without{};
  // The cycles if all that a level serves were in L1: whoever makes its data smaller gains that,
  // and not its bandwidth or its latency alone.
  CyclesNear near{};
  // The cycles if lines that were not seen since the warm-up came from the nearest and from the
  // farthest level they can have come from.
  double nearest = 0;
  double farthest = 0;

  // The least that issuing its instructions takes. Where `cycles` are fewer, they leave in bursts
  // behind instructions of other functions.
  double issue_cycles = 0;

  // The best pair of causes taken away together, for limits that coincide.
  struct Pair {
    core::Cause first{}, second{};
    double cycles = 0;
  };
  std::vector<Pair> pairs;

  // All of it again with one parameter of the model changed.
  struct Changed {
    std::string parameter;
    double cycles = 0;
    CyclesWithout without{};
    CyclesNear near{};
  };
  std::vector<Changed> changed;

  // What the windows met.
  struct Met {
    double loads = 0;
    double from_l2 = 0, from_l3 = 0, from_dram = 0;  // loads by the level that served them
    // Lines by where they came from, with those of stores and those that a prefetcher brought.
    double lines_l2 = 0, lines_l3 = 0, lines_dram = 0;
    double walks = 0;
    double branches = 0, mispredicted = 0;
    double transfers = 0;  // of lines that another thread had modified
    double atomics = 0;
    double divisions = 0;  // and square roots
    double fetch_misses = 0;

    Met& operator+=(const Met& other);
    [[nodiscard]] Met scaled_by(double factor) const;
  } met;

  TimedPart& operator+=(const TimedPart& other);
  // As if it had been executed `factor` times as often. What was tried stays as it is.
  [[nodiscard]] TimedPart scaled_by(double factor) const;
};

struct MeasuredPart {
  std::optional<double> cycles_per_instruction;
};

enum class Outcome {
  limited,      // by `limit`, and perhaps `second`
  balanced,     // nothing alone gains anything to speak of
  unexplained,  // the model's time is not the measured one
  unclear,      // another cause wins when a parameter moves, or when unknown lines are elsewhere
  not_seen,     // no window met it, or too little of it
  system,       // time in the kernel, for this part
  waiting,      // it did not run
};

struct Why {
  Outcome outcome = Outcome::not_seen;
  std::optional<core::Cause> limit;
  std::optional<core::Cause> second;
  std::optional<double> gain;             // of taking the limit away
  bool gain_is_of_both = false;           // of taking limit and second away: they coincide
  std::optional<double> model_cycles;     // per instruction
  std::optional<double> measured_cycles;  // per instruction
  std::optional<double> explains;         // the former over the latter
  std::string evidence;                   // in one line
  std::vector<std::pair<core::Cause, double>> what_if;  // gains above 1, the largest first
};

[[nodiscard]] Why judge(const TimedPart& part, const MeasuredPart& measured);

// A part that spends its time in the kernel, or none at all on a CPU; `share` of its time.
[[nodiscard]] Why judge_system(double share);
[[nodiscard]] Why judge_waiting(double share);

// "dram_latency", "balanced", "system", "unknown"; empty where there is no verdict.
[[nodiscard]] std::string_view id_of(const Why& why);
// "limited", "balanced", "unexplained", "unclear", "not_seen", "system", "waiting"
[[nodiscard]] std::string_view to_string(Outcome outcome);
// For a column of a table: "waits for DRAM", "balanced", "not explained".
[[nodiscard]] std::string words_of(const Why& why);
// "waits for DRAM"
[[nodiscard]] std::string_view words_of(core::Cause cause);

}  // namespace loft::model
