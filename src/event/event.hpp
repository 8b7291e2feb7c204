// An event after its name was understood: what exactly to count, and where the name came from.
//
// Two names mean the same event when their encodings and modifiers are equal, whatever was written.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/cpu_set.hpp"

namespace loft::event {

// What a PMU is told to count. `type` is the PMU's number on this machine (perf_event_attr.type);
// 0 to 5 are the kernel's fixed ones, others are read from /sys.
struct Encoding {
  std::string pmu;  // "cpu", "software", "tracepoint", "armv8_pmuv3_0", "power", "virtual", ...
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;

  auto operator<=>(const Encoding&) const = default;
};

// Where to count: `:u` sets user alone, `:k` kernel alone, `:p` asks for precise samples.
struct Modifiers {
  bool user = true;
  bool kernel = true;
  bool hypervisor = true;
  std::uint8_t precise = 0;  // 0 to 3

  auto operator<=>(const Modifiers&) const = default;
};

struct Event {
  std::string name;  // as the user wrote it
  Encoding encoding;
  Modifiers modifiers;
  std::string origin;       // "kernel", "sysfs", "tracepoint", "libpfm4", "PAPI preset", "raw", ...
  std::string description;  // one sentence, may be empty
  std::string unit;         // what one count is ("ns", "Joules"); empty for plain counts
  double scale = 1;         // the value in `unit` is the count times this
  CpuList cpus;             // for PMUs that count whole CPUs or packages: where to open it
  std::uint32_t group = 0;  // events of one {a,b} share a number above 0; 0 is no group

  // The same thing is counted, by whatever name.
  [[nodiscard]] bool counts_the_same_as(const Event& other) const {
    return encoding == other.encoding && modifiers == other.modifiers;
  }
};

}  // namespace loft::event
