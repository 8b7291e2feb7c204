// loft's side of thresholds: threads of the program stop when they come to the distance that they
// were given (runtime/thresholds.hpp), and wait here.
//
//   LOFT_TRY(auto thresholds, Thresholds::open(shared, rules));      // before the program starts
//   calls = thresholds.await(calls, std::chrono::milliseconds(20));
//   for (std::uint32_t slot = 0; slot < thresholds.slots(); ++slot) {
//     if (!thresholds.waits(slot)) continue;
//     thresholds.grant(slot, 0, 1000);
//     thresholds.let_go(slot, 0);
//   }
//
// The sum of what all threads may still count before they ask never exceeds what is left: so
// nobody passes a threshold unseen. A distance that was given can be taken back at any time.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "base/result.hpp"
#include "engine/shared.hpp"

namespace loft::engine {

class Thresholds {
 public:
  // At most kMaxThresholds rules.
  [[nodiscard]] static Result<Thresholds> open(const Shared& shared,
                                               std::span<const EventRule> rules);
  // Nobody waits from here on: who still runs goes on without an answer.
  void close();

  // A number that changes when a thread stops; waits up to `patience` for it to differ from
  // `known`.
  [[nodiscard]] std::uint32_t await(std::uint32_t known, Nanoseconds patience) const;
  // Threads, ended ones included.
  [[nodiscard]] std::uint32_t slots() const;
  [[nodiscard]] bool waits(std::uint32_t slot) const;
  [[nodiscard]] bool has_ended(std::uint32_t slot) const;
  [[nodiscard]] bool is_in_region(std::uint32_t slot) const;

  // How much the thread may still count before it stops.
  [[nodiscard]] std::uint64_t left(std::uint32_t slot, std::uint32_t threshold);
  // All stop at their next block with the event, from before this returns.
  void take_back(std::uint32_t threshold);
  // To a thread that waits.
  void grant(std::uint32_t slot, std::uint32_t threshold, std::uint64_t distance);
  // It goes on, after it has sent itself the signal, if there is one.
  void let_go(std::uint32_t slot, int signal);

 private:
  Thresholds(Fd memory, Mapping tables) : memory_(std::move(memory)), tables_(std::move(tables)) {}
  [[nodiscard]] SharedHeader& header() const;
  [[nodiscard]] SlotEntry& slot(std::uint32_t number) const;
  // Null when there is no memory to look at it.
  [[nodiscard]] std::int64_t* distance(std::uint32_t slot, std::uint32_t threshold);

  Fd memory_;  // a description of its own: it holds the lock that says that somebody answers
  Mapping tables_;
  std::map<std::uint32_t, Mapping> distances_;  // the first page of each thread's counters
};

}  // namespace loft::engine
