// The virtual events: their names, what each counts, and the sums over kinds of instructions.
//
//   EventVector total;
//   accumulate(total, facts, executions);                     // or with what was seen at run time:
//   accumulate(total, facts, executions, {lanes, accesses});
//   total[*find_event("flops_dp")]
//
// An event is a measure (instructions, load bytes, FLOPs, ...) of the instructions that meet its
// conditions. The table is generated from the attributes in kind.hpp; docs/virtual-events.md
// explains the names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/classify/event_rule.hpp"
#include "engine/classify/facts.hpp"

namespace loft::engine {

using EventIndex = std::uint32_t;

struct EventInfo : EventRule {
  std::string name;
  std::string description;  // one line
  std::string unit;         // "instructions", "bytes", "operations", ...
};

// All events, the headline ones first. An index stays valid as long as the program runs.
[[nodiscard]] const std::vector<EventInfo>& event_table();

// By name, "virtual::" in front or not.
[[nodiscard]] std::optional<EventIndex> find_event(std::string_view name);

// A count per event of event_table().
class EventVector {
 public:
  EventVector();

  [[nodiscard]] std::uint64_t operator[](EventIndex event) const { return counts_[event]; }
  [[nodiscard]] std::uint64_t& operator[](EventIndex event) { return counts_[event]; }
  [[nodiscard]] std::size_t size() const { return counts_.size(); }
  EventVector& operator+=(const EventVector& other);
  bool operator==(const EventVector&) const = default;

 private:
  std::vector<std::uint64_t> counts_;
};

// Units seen at run time, in the order of Kind::units.
using Units = std::array<std::uint64_t, kMaxUnits>;

// Adds what `executions` runs of an instruction count. Arithmetic is modulo 2^64, so that units
// which take back (a taken branch is no longer one not taken) come out right.
void accumulate(EventVector& total, const Kind& kind, std::uint64_t executions, Units units = {});
void accumulate(EventVector& total, const InstructionFacts& facts, std::uint64_t executions = 1,
                Units units = {});

// What the same adds to one event alone; 0 for events that the kind is not counted by.
[[nodiscard]] std::uint64_t contribution(EventIndex event, const Kind& kind,
                                         std::uint64_t executions, const Units& units);

// Kinds by number: what is needed of a block is the list of the numbers of its instructions.
using KindId = std::uint32_t;

class KindTable {
 public:
  KindId intern(const Kind& kind);
  [[nodiscard]] const Kind& operator[](KindId id) const { return kinds_[id]; }
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }

 private:
  void grow();

  std::vector<Kind> kinds_;
  std::vector<KindId> slots_;  // open addressing; kEmpty marks a free one
};

}  // namespace loft::engine
