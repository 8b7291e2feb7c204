#include "model/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace loft::model {
namespace {

using core::Cause;

// Fewer instructions in all windows together say nothing about a function.
constexpr double kLeastInstructions = 1000;
// Unknown lines may move the time of a part by so much.
constexpr double kMostUnknown = 1.3;
// A second cause is worth naming when it gains at least this share of what the first one does.
constexpr double kSecondShare = 0.6;
// Gains that differ by less are the same.
constexpr double kAsMuch = 0.98;
// Fewer cycles than this share of what issuing takes are not a part's own.
constexpr double kHidden = 0.9;
// Events per instruction; fewer do not hold a part back.
constexpr double kFewEvents = 0.0002;

std::size_t index_of(Cause cause) { return static_cast<std::size_t>(cause); }

double gain_of(double cycles, double without) { return without > 0 ? cycles / without : 1.0; }

// Without its latency an operation also leaves its unit free for others sooner. Where more units
// gain as much as no latency, there are too few units.
void prefer_units(std::vector<std::pair<Cause, double>>& gains) {
  const auto is_latency = [](Cause cause) {
    return cause == Cause::int_latency || cause == Cause::fp_latency;
  };
  const auto is_unit = [](Cause cause) {
    return cause == Cause::int_ports || cause == Cause::fp_ports || cause == Cause::width;
  };
  if (gains.empty() || !is_latency(gains.front().first)) return;
  const auto unit = std::ranges::find_if(gains, [&](const auto& each) {
    return is_unit(each.first) && each.second >= kAsMuch * gains.front().second;
  });
  if (unit != gains.end()) std::rotate(gains.begin(), unit, unit + 1);
}

// Where a level's latency or its bandwidth holds a part back, the stronger of the two gains what
// it takes to have all of it in L1.
CyclesWithout with_levels(CyclesWithout without, const CyclesNear& near) {
  for (std::size_t i = 0; i < near.size(); ++i) {
    const auto [latency, bandwidth] = core::kLevelCauses[i];
    const bool is_bandwidth = without[index_of(bandwidth)] < without[index_of(latency)];
    double& stronger = without[index_of(is_bandwidth ? bandwidth : latency)];
    if (near[i] > 0) stronger = std::min(stronger, near[i]);
  }
  return without;
}

std::vector<std::pair<Cause, double>> gains_of(double cycles, const CyclesWithout& each,
                                               const CyclesNear& near) {
  const CyclesWithout without = with_levels(each, near);
  std::vector<std::pair<Cause, double>> gains;
  for (std::size_t i = 0; i < core::kCauses; ++i) {
    const double gain = gain_of(cycles, without[i]);
    if (gain > 1.005) gains.emplace_back(static_cast<Cause>(i), gain);
  }
  std::ranges::stable_sort(gains, std::ranges::greater{}, &std::pair<Cause, double>::second);
  prefer_units(gains);
  return gains;
}

// Causes that are two names of one thing at the edge between them: the units that load are what
// bounds the bandwidth of L1; a level's latency, with as many misses under way as can be, is its
// bandwidth; each division of a chain waits for the divider.
bool are_alike(Cause a, Cause b) {
  static constexpr std::pair<Cause, Cause> kAlike[] = {
      {Cause::l1_bandwidth, Cause::memory_ports},
      {Cause::l2_bandwidth, Cause::l2_latency},
      {Cause::l3_bandwidth, Cause::l3_latency},
      {Cause::dram_bandwidth, Cause::dram_latency},
      {Cause::divider, Cause::fp_latency},
      {Cause::store_forwarding, Cause::fp_latency},
      {Cause::store_forwarding, Cause::int_latency},
      {Cause::sharing, Cause::atomics},
      {Cause::width, Cause::front_end},
      {Cause::front_end, Cause::l2_latency},
      {Cause::tlb, Cause::dram_latency}};
  return a == b || std::ranges::any_of(kAlike, [&](const auto& pair) {
           return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
         });
}

std::string per_thousand(double count, double instructions, std::string_view what) {
  const double rate = count / instructions * 1000;
  return rate >= 100 ? fmt::format("{:.0f} {} per 1000 instructions", rate, what)
                     : fmt::format("{:.3g} {} per 1000 instructions", rate, what);
}

// How often what a cause is made of happened; nothing for causes that are not made of events.
std::optional<double> events_of(const TimedPart::Met& met, Cause cause) {
  switch (cause) {
    case Cause::mispredictions:
      return met.mispredicted;
    case Cause::divider:
      return met.divisions;
    case Cause::sharing:
      return met.transfers;
    case Cause::atomics:
      return met.atomics;
    case Cause::l1_latency:
      return met.loads;
    case Cause::l2_latency:
    case Cause::l2_bandwidth:
      return met.lines_l2;
    case Cause::l3_latency:
    case Cause::l3_bandwidth:
      return met.lines_l3;
    case Cause::dram_latency:
    case Cause::dram_bandwidth:
      return met.lines_dram;
    default:
      return std::nullopt;
  }
}

// The fact that speaks for a cause, or nothing.
std::string fact_of(const TimedPart& part, Cause cause) {
  const TimedPart::Met& met = part.met;
  const double n = part.instructions;
  switch (cause) {
    case Cause::l2_bandwidth:
      return per_thousand(met.lines_l2, n, "lines from L2 or beyond");
    case Cause::l3_bandwidth:
      return per_thousand(met.lines_l3, n, "lines from L3 or beyond");
    case Cause::dram_bandwidth:
      return per_thousand(met.lines_dram, n, "lines from DRAM");
    case Cause::l2_latency:
      return per_thousand(met.from_l2, n, "loads from L2");
    case Cause::l3_latency:
      return per_thousand(met.from_l3, n, "loads from L3");
    case Cause::dram_latency:
      return per_thousand(met.from_dram, n, "loads from DRAM");
    case Cause::l1_bandwidth:
    case Cause::l1_latency:
    case Cause::memory_ports:
      return per_thousand(met.loads, n, "loads");
    case Cause::tlb:
      return per_thousand(met.walks, n, "page walks");
    case Cause::mispredictions:
      return per_thousand(met.mispredicted, n, "mispredictions");
    case Cause::divider:
      return per_thousand(met.divisions, n, "divisions and square roots");
    case Cause::sharing:
      return per_thousand(met.transfers, n, "lines from other threads");
    case Cause::atomics:
      return per_thousand(met.atomics, n, "atomic operations");
    case Cause::front_end:
      // Without misses it is what a cycle delivers: code of so many lines, to a taken branch.
      return met.fetch_misses >= kFewEvents * n
                 ? per_thousand(met.fetch_misses, n, "instruction cache misses")
                 : per_thousand(met.branches, n, "branches") +
                       ", no instruction cache misses: taken branches, or a loop in two lines of "
                       "code";
    default:
      return "";
  }
}

// Whether a cause has hardly any of its events in the part itself: what it waits for happens in
// functions around it.
bool is_elsewhere(const TimedPart& part, Cause cause) {
  const auto count = events_of(part.met, cause);
  return count && *count < kFewEvents * part.instructions;
}

std::string comparison(const Why& why) {
  return fmt::format("model {:.3g}, measured {:.3g} cycles an instruction", *why.model_cycles,
                     *why.measured_cycles);
}

std::string joined(std::string first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first + "; " + second;
}

// A parameter whose change makes another cause win, or nothing.
std::optional<std::pair<std::string, Cause>> what_flips(const TimedPart& part, const Why& why) {
  for (const TimedPart::Changed& changed : part.changed) {
    const auto gains = gains_of(changed.cycles, changed.without, changed.near);
    if (gains.empty() || gains.front().second < kLeastGain) continue;
    const Cause winner = gains.front().first;
    if (are_alike(winner, *why.limit) || (why.second && are_alike(winner, *why.second))) continue;
    // As long as the verdict still gains nearly as much, it is no other verdict.
    const CyclesWithout without = with_levels(changed.without, changed.near);
    const double still = gain_of(changed.cycles, without[index_of(*why.limit)]);
    if (still >= kLeastGain && still >= 0.85 * gains.front().second) continue;
    return std::pair(changed.parameter, winner);
  }
  return std::nullopt;
}

// Whether lines that may have come from another level leave the time open. Where only the level
// that the model names agrees with the measured time, the time has decided.
bool is_unknown(const TimedPart& part, double measured) {
  if (!(part.nearest > 0) || part.farthest <= kMostUnknown * part.nearest) return false;
  const auto agrees = [&](double cycles) {
    const double explains = cycles / part.instructions / measured;
    const bool differs = cycles > kMostUnknown * part.cycles || kMostUnknown * cycles < part.cycles;
    return differs && explains >= kLeastExplained && explains <= kMostExplained;
  };
  return agrees(part.nearest) || agrees(part.farthest);
}

void name_limits(const TimedPart& part, Why& why) {
  if (!why.what_if.empty() && why.what_if.front().second >= kLeastGain) {
    const auto& [cause, gain] = why.what_if.front();
    why.limit = cause;
    why.gain = gain;
    if (why.what_if.size() > 1) {
      const auto& [next, next_gain] = why.what_if[1];
      if (next_gain >= kLeastGain && next_gain - 1 >= kSecondShare * (gain - 1)) why.second = next;
    }
    return;
  }
  for (const TimedPart::Pair& pair : part.pairs) {
    const double gain = gain_of(part.cycles, pair.cycles);
    if (gain < kLeastGain || (why.gain && gain <= *why.gain)) continue;
    why.limit = pair.first;
    why.second = pair.second;
    why.gain = gain;
    why.gain_is_of_both = true;
  }
}

}  // namespace

TimedPart::Met& TimedPart::Met::operator+=(const Met& other) {
  loads += other.loads;
  from_l2 += other.from_l2;
  from_l3 += other.from_l3;
  from_dram += other.from_dram;
  lines_l2 += other.lines_l2;
  lines_l3 += other.lines_l3;
  lines_dram += other.lines_dram;
  walks += other.walks;
  branches += other.branches;
  mispredicted += other.mispredicted;
  transfers += other.transfers;
  atomics += other.atomics;
  divisions += other.divisions;
  fetch_misses += other.fetch_misses;
  return *this;
}

TimedPart& TimedPart::operator+=(const TimedPart& other) {
  instructions += other.instructions;
  cycles += other.cycles;
  for (std::size_t i = 0; i < without.size(); ++i) without[i] += other.without[i];
  for (std::size_t i = 0; i < near.size(); ++i) near[i] += other.near[i];
  nearest += other.nearest;
  farthest += other.farthest;
  issue_cycles += other.issue_cycles;
  met += other.met;
  return *this;
}

TimedPart::Met TimedPart::Met::scaled_by(double factor) const {
  Met scaled = *this;
  for (double* count :
       {&scaled.loads, &scaled.from_l2, &scaled.from_l3, &scaled.from_dram, &scaled.lines_l2,
        &scaled.lines_l3, &scaled.lines_dram, &scaled.walks, &scaled.branches, &scaled.mispredicted,
        &scaled.transfers, &scaled.atomics, &scaled.divisions, &scaled.fetch_misses})
    *count *= factor;
  return scaled;
}

TimedPart TimedPart::scaled_by(double factor) const {
  TimedPart scaled = *this;
  for (double* sum : {&scaled.instructions, &scaled.cycles, &scaled.nearest, &scaled.farthest,
                      &scaled.issue_cycles})
    *sum *= factor;
  for (double& each : scaled.without) each *= factor;
  for (double& each : scaled.near) each *= factor;
  for (Pair& pair : scaled.pairs) pair.cycles *= factor;
  scaled.met = met.scaled_by(factor);
  return scaled;
}

Why judge(const TimedPart& part, const MeasuredPart& measured) {
  Why why;
  if (part.instructions < kLeastInstructions || !(part.cycles > 0)) {
    why.evidence = "too little of it was in the windows that were modelled";
    return why;
  }
  why.model_cycles = part.cycles / part.instructions;
  why.measured_cycles = measured.cycles_per_instruction;
  why.what_if = gains_of(part.cycles, part.without, part.near);
  if (!measured.cycles_per_instruction || !(*measured.cycles_per_instruction > 0)) {
    why.evidence = "its time was not measured";
    return why;
  }
  why.explains = *why.model_cycles / *why.measured_cycles;
  if (*why.explains < kLeastExplained || *why.explains > kMostExplained) {
    why.outcome = Outcome::unexplained;
    why.evidence = fmt::format("the model explains {:.0f} % of the time; {}", *why.explains * 100,
                               comparison(why));
    return why;
  }
  if (is_unknown(part, *measured.cycles_per_instruction)) {
    why.outcome = Outcome::unclear;
    why.evidence = "where its data came from is not known: they were not touched in the warm-up";
    return why;
  }
  if (part.cycles < kHidden * part.issue_cycles) {
    why.outcome = Outcome::unclear;
    why.evidence = joined("its time passes behind that of functions around it", comparison(why));
    return why;
  }
  name_limits(part, why);
  if (why.limit && is_elsewhere(part, *why.limit)) {
    why.outcome = Outcome::unclear;
    why.evidence =
        fmt::format("{} of functions around it; {}", words_of(*why.limit), comparison(why));
    why.limit.reset();
    why.second.reset();
    why.gain.reset();
    return why;
  }
  if (!why.limit) {
    why.outcome = Outcome::balanced;
    why.evidence = joined("no single cause gains 10 %", comparison(why));
    return why;
  }
  if (const auto flip = what_flips(part, why)) {
    why.outcome = Outcome::unclear;
    why.evidence = fmt::format("{}, or {} if {} were 30 % off; {}", words_of(*why.limit),
                               words_of(flip->second), flip->first, comparison(why));
    why.limit.reset();
    why.second.reset();
    why.gain.reset();
    return why;
  }
  why.outcome = Outcome::limited;
  why.evidence = joined(fact_of(part, *why.limit), comparison(why));
  return why;
}

Why judge_system(double share) {
  Why why;
  why.outcome = Outcome::system;
  if (share < 1) why.gain = 1 / (1 - share);
  why.evidence = fmt::format("{:.0f} % of the time in the kernel", share * 100);
  return why;
}

Why judge_waiting(double share) {
  Why why;
  why.outcome = Outcome::waiting;
  if (share < 1) why.gain = 1 / (1 - share);
  why.evidence = fmt::format("{:.0f} % of the time on no CPU", share * 100);
  return why;
}

std::string_view id_of(const Why& why) {
  switch (why.outcome) {
    case Outcome::limited:
      return to_string(*why.limit);
    case Outcome::balanced:
      return "balanced";
    case Outcome::system:
      return "system";
    case Outcome::waiting:
      return "waiting";
    case Outcome::unexplained:
    case Outcome::unclear:
      return "unknown";
    case Outcome::not_seen:
      break;
  }
  return "";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::limited:
      return "limited";
    case Outcome::balanced:
      return "balanced";
    case Outcome::unexplained:
      return "unexplained";
    case Outcome::unclear:
      return "unclear";
    case Outcome::system:
      return "system";
    case Outcome::waiting:
      return "waiting";
    case Outcome::not_seen:
      break;
  }
  return "not_seen";
}

std::string words_of(const Why& why) {
  switch (why.outcome) {
    case Outcome::limited:
      return why.second ? fmt::format("{}, {}", words_of(*why.limit), words_of(*why.second))
                        : std::string(words_of(*why.limit));
    case Outcome::balanced:
      return "balanced";
    case Outcome::system:
      return "system calls and faults";
    case Outcome::waiting:
      return "waits, runs on no CPU";
    case Outcome::unexplained:
      return "not explained";
    case Outcome::unclear:
      return "unclear";
    case Outcome::not_seen:
      break;
  }
  return "not known";
}

std::string_view words_of(Cause cause) {
  switch (cause) {
    case Cause::l1_bandwidth:
      return "L1 bandwidth";
    case Cause::l2_bandwidth:
      return "L2 bandwidth";
    case Cause::l3_bandwidth:
      return "L3 bandwidth";
    case Cause::dram_bandwidth:
      return "DRAM bandwidth";
    case Cause::l1_latency:
      return "waits for L1";
    case Cause::l2_latency:
      return "waits for L2";
    case Cause::l3_latency:
      return "waits for L3";
    case Cause::dram_latency:
      return "waits for DRAM";
    case Cause::tlb:
      return "page walks";
    case Cause::fp_latency:
      return "FP dependency chain";
    case Cause::int_latency:
      return "integer dependency chain";
    case Cause::store_forwarding:
      return "store forwarding";
    case Cause::fp_ports:
      return "FP units";
    case Cause::divider:
      return "divider";
    case Cause::int_ports:
      return "integer units";
    case Cause::memory_ports:
      return "load and store units";
    case Cause::width:
      return "issue width";
    case Cause::mispredictions:
      return "mispredictions";
    case Cause::front_end:
      return "front end";
    case Cause::sharing:
      return "lines shared by threads";
    case Cause::atomics:
      return "atomic operations";
    case Cause::count_:
      break;
  }
  return "";
}

}  // namespace loft::model
