#include "event/kernel_names.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace loft::event {
namespace {

struct FixedName {
  std::string_view name;
  std::string_view alias;
  std::uint32_t type;
  std::uint64_t config;
  std::string_view unit;
  std::string_view description;
};

constexpr std::uint32_t kHw = kTypeHardware;
constexpr std::uint32_t kSw = kTypeSoftware;

constexpr FixedName kFixed[] = {
    {"cycles", "cpu-cycles", kHw, PERF_COUNT_HW_CPU_CYCLES, "", "Core clock cycles"},
    {"instructions", "", kHw, PERF_COUNT_HW_INSTRUCTIONS, "", "Instructions retired"},
    {"branches", "branch-instructions", kHw, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "",
     "Branch instructions retired"},
    {"branch-misses", "", kHw, PERF_COUNT_HW_BRANCH_MISSES, "", "Branches predicted wrongly"},
    {"cache-references", "", kHw, PERF_COUNT_HW_CACHE_REFERENCES, "",
     "Cache accesses, usually of the last level"},
    {"cache-misses", "", kHw, PERF_COUNT_HW_CACHE_MISSES, "",
     "Cache misses, usually of the last level"},
    {"ref-cycles", "", kHw, PERF_COUNT_HW_REF_CPU_CYCLES, "",
     "Cycles at the nominal frequency, whatever the core's frequency is"},
    {"bus-cycles", "", kHw, PERF_COUNT_HW_BUS_CYCLES, "", "Bus cycles"},
    {"stalled-cycles-frontend", "idle-cycles-frontend", kHw, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
     "", "Cycles in which the front end delivered nothing"},
    {"stalled-cycles-backend", "idle-cycles-backend", kHw, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "",
     "Cycles in which the back end could take nothing"},
    {"task-clock", "", kSw, PERF_COUNT_SW_TASK_CLOCK, "ns", "Time that the task ran"},
    {"cpu-clock", "", kSw, PERF_COUNT_SW_CPU_CLOCK, "ns", "Time by the CPU's clock"},
    {"page-faults", "faults", kSw, PERF_COUNT_SW_PAGE_FAULTS, "", "Page faults"},
    {"minor-faults", "", kSw, PERF_COUNT_SW_PAGE_FAULTS_MIN, "", "Page faults without disk access"},
    {"major-faults", "", kSw, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "", "Page faults with disk access"},
    {"context-switches", "cs", kSw, PERF_COUNT_SW_CONTEXT_SWITCHES, "",
     "Switches from one task to another"},
    {"cpu-migrations", "migrations", kSw, PERF_COUNT_SW_CPU_MIGRATIONS, "",
     "Moves of a task to another CPU"},
    {"cgroup-switches", "", kSw, PERF_COUNT_SW_CGROUP_SWITCHES, "",
     "Switches to a task of another cgroup"},
    {"alignment-faults", "", kSw, PERF_COUNT_SW_ALIGNMENT_FAULTS, "",
     "Unaligned accesses that the kernel had to handle"},
    {"emulation-faults", "", kSw, PERF_COUNT_SW_EMULATION_FAULTS, "",
     "Instructions that the kernel had to emulate"},
    {"bpf-output", "", kSw, PERF_COUNT_SW_BPF_OUTPUT, "", "Output of BPF programs"},
    {"dummy", "", kSw, PERF_COUNT_SW_DUMMY, "", "Counts nothing; carries side-band records"},
};

// One part of a cache event's name: its spellings, the usual one first.
using Spellings = std::array<std::string_view, 5>;

constexpr Spellings kCaches[] = {
    {"L1-dcache", "l1-d", "l1d", "L1-data"},
    {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    {"LLC", "L2"},
    {"dTLB", "d-tlb", "Data-TLB"},
    {"iTLB", "i-tlb", "Instruction-TLB"},
    {"branch", "branches", "bpu", "btb", "bpc"},
    {"node"},
};
constexpr std::string_view kCacheWords[] = {
    "level 1 data cache", "level 1 instruction cache", "last-level cache",      "data TLB",
    "instruction TLB",    "branch prediction unit",    "memory of the own node"};
constexpr Spellings kOperations[] = {
    {"load", "loads", "read"},
    {"store", "stores", "write"},
    {"prefetch", "prefetches", "speculative-read", "speculative-load"},
};
constexpr std::string_view kOperationWords[] = {"Loads", "Stores", "Prefetches"};
constexpr Spellings kResults[] = {
    {"refs", "Reference", "ops", "access"},
    {"misses", "miss"},
};

// Which operations the kernel defines for each cache: bit n for operation n.
constexpr unsigned kValidOperations[] = {7, 5, 7, 7, 1, 1, 7};

// The longest spelling that `text` starts with, up to a '-' or its end; removes it from `text`.
template <std::size_t N>
std::optional<std::size_t> take_part(std::string_view& text, const Spellings (&parts)[N]) {
  std::optional<std::size_t> found;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < N; ++i) {
    for (const std::string_view word : parts[i]) {
      if (word.size() <= longest || text.size() < word.size()) continue;
      if (text.size() > word.size() && text[word.size()] != '-') continue;
      if (to_lower(text.substr(0, word.size())) != to_lower(word)) continue;
      found = i;
      longest = word.size();
    }
  }
  text.remove_prefix(longest);
  if (found && text.starts_with('-') && text.size() > 1) text.remove_prefix(1);
  return found;
}

KernelEvent cache_event(std::size_t cache, std::size_t operation, std::size_t result) {
  KernelEvent event;
  event.name = std::string(kCaches[cache][0]) + "-";
  event.name += result == 1 ? std::string(kOperations[operation][0]) + "-misses"
                            : std::string(kOperations[operation][1]);
  event.type = kTypeHwCache;
  event.config = cache | operation << 8 | result << 16;
  event.description = std::string(kOperationWords[operation]) +
                      (result == 1 ? " that missed the " : " of the ") +
                      std::string(kCacheWords[cache]);
  return event;
}

std::optional<KernelEvent> find_cache_event(std::string_view name) {
  const auto cache = take_part(name, kCaches);
  if (!cache || name.empty()) return std::nullopt;
  std::optional<std::size_t> operation;
  std::optional<std::size_t> result;
  while (!name.empty()) {
    if (!operation && (operation = take_part(name, kOperations))) continue;
    if (!result && (result = take_part(name, kResults))) continue;
    return std::nullopt;
  }
  if ((kValidOperations[*cache] >> operation.value_or(0) & 1) == 0) return std::nullopt;
  return cache_event(*cache, operation.value_or(0), result.value_or(0));
}

KernelEvent fixed_event(const FixedName& fixed) {
  KernelEvent event{
      std::string(fixed.name), {}, fixed.type, fixed.config, std::string(fixed.description),
      std::string(fixed.unit)};
  if (!fixed.alias.empty()) event.aliases.emplace_back(fixed.alias);
  return event;
}

}  // namespace

std::optional<KernelEvent> find_kernel_event(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFixed), std::end(kFixed), [&](const FixedName& e) {
    return e.name == name || (!e.alias.empty() && e.alias == name);
  });
  if (found != std::end(kFixed)) return fixed_event(*found);
  return find_cache_event(name);
}

std::vector<KernelEvent> all_kernel_events() {
  std::vector<KernelEvent> events;
  for (const FixedName& fixed : kFixed) events.push_back(fixed_event(fixed));
  for (std::size_t cache = 0; cache < std::size(kCaches); ++cache)
    for (std::size_t operation = 0; operation < std::size(kOperations); ++operation)
      for (std::size_t result = 0; result < std::size(kResults); ++result)
        if (kValidOperations[cache] >> operation & 1)
          events.push_back(cache_event(cache, operation, result));
  return events;
}

}  // namespace loft::event
