#include "sample/ratio.hpp"

#include <algorithm>
#include <array>

namespace loft::sample {
namespace {

using event::Meaning;

// The ratio of the first event to the second.
struct Rule {
  Meaning event;
  Meaning other;
  std::string_view name;
  std::string_view unit;
  double factor;
};

constexpr std::array kRules{
    Rule{Meaning::instructions, Meaning::cycles, "IPC", "instructions/cycle", 1},
    Rule{Meaning::branch_misses, Meaning::branches, "branch miss ratio", "%", 100},
    Rule{Meaning::cache_misses, Meaning::cache_references, "cache miss ratio", "%", 100},
    Rule{Meaning::l1d_load_misses, Meaning::l1d_loads, "L1 data miss ratio", "%", 100},
    Rule{Meaning::llc_load_misses, Meaning::llc_loads, "last-level miss ratio", "%", 100},
    Rule{Meaning::dtlb_load_misses, Meaning::dtlb_loads, "data TLB miss ratio", "%", 100},
    Rule{Meaning::cycles, Meaning::task_clock, "clock", "GHz", 1},  // cycles per nanosecond
    Rule{Meaning::stalled_frontend, Meaning::cycles, "front end idle", "%", 100},
    Rule{Meaning::stalled_backend, Meaning::cycles, "back end idle", "%", 100},
};

// Two counts of one ratio come from the same PMU, or one of them is the kernel's clock: cycles of
// the large cores say nothing about instructions of the small ones.
bool go_together(const CountedEvent& a, const CountedEvent& b) {
  const event::Encoding& one = a.id.encoding;
  const event::Encoding& other = b.id.encoding;
  if (other.kind() == event::PmuKind::software) return true;
  // Of generic events the upper half says which of several core PMUs.
  const bool is_generic = one.type == event::kTypeHardware && other.type == event::kTypeHardware;
  return one.pmu == other.pmu && one.is_virtual() == other.is_virtual() &&
         (!is_generic || one.config >> 32 == other.config >> 32);
}

const CountedEvent* find(const RunCounts& run, Meaning meaning, const CountedEvent& of) {
  for (const CountedEvent& event : run.events)
    if (event.id.meaning == meaning && event.total.is_available() && go_together(of, event))
      return &event;
  return nullptr;
}

}  // namespace

std::optional<Ratio> ratio_of(const RunCounts& run, std::size_t index) {
  const CountedEvent& event = run.events[index];
  if (!event.total.is_available()) return std::nullopt;
  const Meaning meaning = event.id.meaning;
  const double wall = to_seconds(run.wall);
  if (meaning == Meaning::task_clock || meaning == Meaning::cpu_clock) {
    if (wall <= 0) return std::nullopt;
    // On whole CPUs the clock runs while they are idle, too: the kernel's accounts tell the rest.
    if (event.whole_machine && !run.busy) return std::nullopt;
    const double seconds = event.whole_machine ? to_seconds(*run.busy) : event.value() * 1e-9;
    return Ratio{"CPUs busy", seconds / wall, "CPUs", event.total.origin};
  }
  for (const Rule& rule : kRules) {
    if (rule.event != meaning) continue;
    const CountedEvent* other = find(run, rule.other, event);
    if (other == nullptr || other->value() == 0) continue;
    return Ratio{std::string(rule.name), rule.factor * event.value() / other->value(),
                 std::string(rule.unit), std::max(event.total.origin, other->total.origin)};
  }
  if (wall <= 0 || run.has_engine_time()) return std::nullopt;
  if (event.unit == "Joules") return Ratio{"power", event.value() / wall, "W", event.total.origin};
  if (!event.unit.empty()) return std::nullopt;
  return Ratio{event.name + " per second", event.value() / wall, "1/s", event.total.origin};
}

}  // namespace loft::sample
