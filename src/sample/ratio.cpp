#include "sample/ratio.hpp"

#include <algorithm>
#include <array>

namespace loft::sample {
namespace {

// Names of the same event, and the ratio of the first to the second.
struct Rule {
  std::string_view event;
  std::string_view other;
  std::string_view name;
  std::string_view unit;
  double factor;
};

constexpr std::array kRules{
    Rule{"instructions", "cycles", "IPC", "instructions/cycle", 1},
    Rule{"branch-misses", "branches", "branch miss ratio", "%", 100},
    Rule{"cache-misses", "cache-references", "cache miss ratio", "%", 100},
    Rule{"L1-dcache-load-misses", "L1-dcache-loads", "L1 data miss ratio", "%", 100},
    Rule{"LLC-load-misses", "LLC-loads", "last-level miss ratio", "%", 100},
    Rule{"dTLB-load-misses", "dTLB-loads", "data TLB miss ratio", "%", 100},
    Rule{"cycles", "task-clock", "clock", "GHz", 1},  // cycles per nanosecond
    Rule{"stalled-cycles-frontend", "cycles", "front end idle", "%", 100},
    Rule{"stalled-cycles-backend", "cycles", "back end idle", "%", 100},
};

std::string_view without_alias(std::string_view name) {
  if (name == "cpu-cycles") return "cycles";
  if (name == "branch-instructions") return "branches";
  return name;
}

const CountedEvent* find(const RunCounts& run, std::string_view name) {
  for (const CountedEvent& event : run.events)
    if (without_alias(plain_name(event.name)) == name && event.total.is_available()) return &event;
  return nullptr;
}

}  // namespace

std::string_view plain_name(std::string_view name) {
  if (const auto slash = name.find('/'); slash != std::string_view::npos) {
    const auto end = name.find('/', slash + 1);
    return name.substr(slash + 1, end == std::string_view::npos ? end : end - slash - 1);
  }
  return name.substr(0, name.find(':'));
}

std::optional<Ratio> ratio_of(const RunCounts& run, std::size_t index) {
  const CountedEvent& event = run.events[index];
  if (!event.total.is_available()) return std::nullopt;
  const std::string_view name = without_alias(plain_name(event.name));
  const double wall = to_seconds(run.wall);
  if (name == "task-clock" || name == "cpu-clock") {
    if (wall <= 0) return std::nullopt;
    return Ratio{"CPUs busy", event.value() * 1e-9 / wall, "CPUs", event.total.origin};
  }
  for (const Rule& rule : kRules) {
    if (rule.event != name) continue;
    const CountedEvent* other = find(run, rule.other);
    if (other == nullptr || other->value() == 0) continue;
    return Ratio{std::string(rule.name), rule.factor * event.value() / other->value(),
                 std::string(rule.unit), std::max(event.total.origin, other->total.origin)};
  }
  // Under the virtual PMU time is the engine's, not the program's: no rate follows from it.
  if (wall <= 0 || run.source == "virtual") return std::nullopt;
  if (event.unit == "Joules") return Ratio{"power", event.value() / wall, "W", event.total.origin};
  if (!event.unit.empty()) return std::nullopt;
  return Ratio{event.name + " per second", event.value() / wall, "1/s", event.total.origin};
}

}  // namespace loft::sample
