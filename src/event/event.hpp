// An event after its name was understood: what exactly to count, and where the name came from.
//
// Two names mean the same event when their encodings and modifiers are equal, whatever was written.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/cpu_set.hpp"
#include "event/meaning.hpp"

namespace loft::event {

// perf_event_attr.type of the kernel's fixed kinds.
inline constexpr std::uint32_t kTypeHardware = 0;
inline constexpr std::uint32_t kTypeSoftware = 1;
inline constexpr std::uint32_t kTypeTracepoint = 2;
inline constexpr std::uint32_t kTypeHwCache = 3;
inline constexpr std::uint32_t kTypeRaw = 4;
inline constexpr std::uint32_t kTypeBreakpoint = 5;
// The virtual PMU's: a number that the kernel gives to nobody.
inline constexpr std::uint32_t kTypeVirtual = 0xFFFF'FFFF;

// Kinds of PMUs, as far as they are treated differently.
enum class PmuKind {
  core,         // the CPU's counters, by generic, cache or raw events
  software,     // the kernel counts; no counter is needed
  tracepoint,   // likewise
  breakpoint,   // likewise
  device,       // a PMU with a number of its own in /sys: uncore, energy, the core PMUs of Arm
  virtual_pmu,  // loft's engine
};

// What a PMU is told to count. `type` is the PMU's number on this machine (perf_event_attr.type);
// 0 to 5 are the kernel's fixed ones, others are read from /sys.
struct Encoding {
  std::string pmu;  // "cpu", "software", "tracepoint", "armv8_pmuv3_0", "power", "virtual", ...
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;

  [[nodiscard]] PmuKind kind() const {
    switch (type) {
      case kTypeHardware:
      case kTypeHwCache:
      case kTypeRaw:
        return PmuKind::core;
      case kTypeSoftware:
        return PmuKind::software;
      case kTypeTracepoint:
        return PmuKind::tracepoint;
      case kTypeBreakpoint:
        return PmuKind::breakpoint;
      case kTypeVirtual:
        return PmuKind::virtual_pmu;
      default:
        return PmuKind::device;
    }
  }
  [[nodiscard]] bool is_virtual() const { return kind() == PmuKind::virtual_pmu; }

  auto operator<=>(const Encoding&) const = default;
};

// Event number `index` of the virtual PMU.
inline Encoding virtual_encoding(std::uint64_t index) {
  return {"virtual", kTypeVirtual, index, 0, 0};
}

// Where to count: `:u` sets user alone, `:k` kernel alone, `:p` asks for precise samples.
struct Modifiers {
  bool user = true;
  bool kernel = true;
  bool hypervisor = true;
  std::uint8_t precise = 0;  // 0 to 3

  auto operator<=>(const Modifiers&) const = default;
};

// What an event is, whatever it is called. It travels with every count of the event.
struct Identity {
  Encoding encoding;
  Modifiers modifiers;
  Meaning meaning = Meaning::other;

  auto operator<=>(const Identity&) const = default;
};

struct Event {
  std::string name;  // as the user wrote it
  Encoding encoding;
  Modifiers modifiers;
  Meaning meaning = Meaning::other;
  std::string origin;       // "kernel", "sysfs", "tracepoint", "libpfm4", "PAPI preset", "raw", ...
  std::string description;  // one sentence, may be empty
  std::string unit;         // what one count is ("ns", "Joules"); empty for plain counts
  double scale = 1;         // the value in `unit` is the count times this
  CpuList cpus;             // for PMUs that count whole CPUs or packages: where to open it
  std::string uncountable;  // why nothing here can count it; empty where something can
  std::uint32_t group = 0;  // events of one {a,b} share a number above 0; 0 is no group

  [[nodiscard]] Identity identity() const { return {encoding, modifiers, meaning}; }

  // The same thing is counted, by whatever name.
  [[nodiscard]] bool counts_the_same_as(const Event& other) const {
    return encoding == other.encoding && modifiers == other.modifiers;
  }
};

}  // namespace loft::event
