#include "format/perf/event_name.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace loft::format::perf {
namespace {

constexpr std::array<std::string_view, 10> kHardware = {"cycles",
                                                        "instructions",
                                                        "cache-references",
                                                        "cache-misses",
                                                        "branches",
                                                        "branch-misses",
                                                        "bus-cycles",
                                                        "stalled-cycles-frontend",
                                                        "stalled-cycles-backend",
                                                        "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftware = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
constexpr std::array<std::string_view, 7> kCaches = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                     "iTLB",      "branch",    "node"};
constexpr std::array<std::string_view, 3> kOperations = {"load", "store", "prefetch"};

std::string cache_name(std::uint64_t config) {
  const auto cache = config & 0xFF;
  const auto operation = (config >> 8) & 0xFF;
  const auto result = (config >> 16) & 0xFF;
  if (cache >= kCaches.size() || operation >= kOperations.size() || result > 1)
    return fmt::format("cache {:#x}", config);
  return fmt::format("{}-{}{}", kCaches[cache], kOperations[operation],
                     result == 1 ? "-misses" : "s");
}

std::string base_name(const perf_data::EventAttr& attr, const perf_data::Metadata& metadata) {
  switch (attr.type) {
    case 0: {
      const auto config = attr.config & 0xFFFFFFFF;  // the upper half names a PMU of a hybrid CPU
      if (config < kHardware.size()) return std::string(kHardware[config]);
      return fmt::format("hardware {:#x}", attr.config);
    }
    case 1:
      if (attr.config < kSoftware.size()) return std::string(kSoftware[attr.config]);
      return fmt::format("software {:#x}", attr.config);
    case 2:
      return fmt::format("tracepoint {}", attr.config);
    case 3:
      return cache_name(attr.config);
    case 4:
      return fmt::format("raw {:#x}", attr.config);
    case 5:
      return fmt::format("mem:{:#x}", attr.config1);
    default:
      break;
  }
  for (const auto& [type, name] : metadata.pmu_types)
    if (type == attr.type) return fmt::format("{}/config={:#x}/", name, attr.config);
  return fmt::format("pmu {} {:#x}", attr.type, attr.config);
}

}  // namespace

std::string name_of_event(const perf_data::EventAttr& attr, const perf_data::Metadata& metadata) {
  std::string name = base_name(attr, metadata);
  std::string modifiers;
  if (attr.exclude_user != attr.exclude_kernel) modifiers += attr.exclude_user ? 'k' : 'u';
  modifiers.append(attr.precise_ip, 'p');
  return modifiers.empty() ? name : name + ":" + modifiers;
}

}  // namespace loft::format::perf
