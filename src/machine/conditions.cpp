#include "machine/conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/buffer.hpp"

namespace loft::machine {
namespace {

// Lines that are walked and bytes that are read in one look, out of all caches since the last.
constexpr std::size_t kMemoryStride = 4096;
constexpr std::size_t kMemoryNodes = 64;
constexpr std::size_t kStreamed = 64u << 10;
constexpr std::size_t kMemory = kMemoryNodes * kMemoryStride + kStreamed;
constexpr double kMostSeconds = 0.004;  // of one walk
constexpr std::size_t kLinksAtOnce = 512;
constexpr std::size_t kRounds = 8000;
constexpr double kAddsARound = 64;
constexpr double kOpsARound = kAddsARound + 2;  // with those of the loop
// Worse by less is not worth saying.
constexpr double kWorthSaying = 4.0 / 3;
// A core that does less than this share of its additions has a sibling that computes.
constexpr double kAlone = 0.95;
constexpr double kLeastShare = 0.25;

double thread_seconds() { return to_seconds(now(CLOCK_THREAD_CPUTIME_ID)); }

const std::byte* follow(const std::byte* at, std::size_t links) {
  for (std::size_t i = 0; i < links; ++i) {
    std::memcpy(&at, at, sizeof at);
    asm volatile("" : "+r"(at));
  }
  return at;
}

// Out of all caches, so that the next one to ask for it waits for memory.
bool flush(const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_ia32_clflush(from + i);
  return true;
#else
  static_cast<void>(from), static_cast<void>(bytes);
  return false;
#endif
}

void read_all(const std::byte* from, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes; at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, sizeof word);
    sum += word;
  }
  asm volatile("" : : "r"(sum));
}

void add_independently(std::size_t rounds) {
  std::uint64_t a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
  for (std::size_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      a += i, b += i, c += i, d += i, e += i, f += i, g += i, h += i;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
  }
}

std::uint64_t bytes_of_level(const model::Machine& machine, int level) {
  std::uint64_t bytes = 0;
  for (const model::Cache& cache : machine.topology.caches)
    if (cache.level == level && cache.type != "Instruction") bytes = std::max(bytes, cache.bytes);
  return bytes;
}

// The CPU that a thread is on, if it wants one.
std::optional<int> cpu_of(const std::filesystem::path& task) {
  constexpr std::size_t kState = 0, kProcessor = 36;  // behind the name of the program
  const auto text = read_file((task / "stat").string());
  if (!text) return std::nullopt;
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
  const auto fields = split(std::string_view(*text).substr(name_end + 2), ' ');
  if (fields.size() <= kProcessor || fields[kState] != "R") return std::nullopt;
  const auto cpu = parse_u64(fields[kProcessor]);
  return cpu && *cpu < CPU_SETSIZE ? std::optional(static_cast<int>(*cpu)) : std::nullopt;
}

// One of the CPUs that threads of the process are on; each look takes another thread.
std::optional<int> cpu_of_process(pid_t process, unsigned turn) {
  std::vector<int> cpus;
  std::error_code failed;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", process);
  for (std::filesystem::directory_iterator at(tasks, failed), end; !failed && at != end;
       at.increment(failed))
    if (const auto cpu = cpu_of(at->path())) cpus.push_back(*cpu);
  if (cpus.empty()) return std::nullopt;
  return cpus[turn % cpus.size()];
}

// This thread on one CPU, and where it was before at the end.
class OnCpu {
 public:
  explicit OnCpu(int cpu) {
    is_moved_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    is_moved_ = is_moved_ && ::sched_setaffinity(0, sizeof one, &one) == 0;
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  ~OnCpu() {
    if (is_moved_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  [[nodiscard]] bool is_there() const { return is_moved_; }

 private:
  cpu_set_t before_{};
  bool is_moved_ = false;
};

void raise(core::Parameter& parameter, std::optional<double> met) {
  if (met && *met > parameter.value) parameter = {*met, core::Origin::measured};
}

bool is_worse(std::optional<double> now, double then) { return now && *now >= kWorthSaying * then; }

// Memory that others use answers later, too. A short stream that is slow while latency is as ever
// met nobody: its pages were cold, or threads of the program itself shared the way to memory.
bool gave_less(const Conditions& met, const core::CoreParameters& core) {
  return met.dram_share && is_worse(1, *met.dram_share) &&
         is_worse(met.dram_latency, core.dram_latency.value);
}

void lower(core::Parameter& parameter, std::optional<double> met) {
  if (met && *met < parameter.value) parameter = {*met, core::Origin::measured};
}

}  // namespace

core::CoreParameters under(const Conditions& met, const core::CoreParameters& core) {
  core::CoreParameters then = core;
  raise(then.dram_latency, met.dram_latency);
  // Walks to memory wait for the same memory.
  then.walk_to_memory.value *= then.dram_latency.value / core.dram_latency.value;
  raise(then.l3_latency, met.l3_latency);
  // What misses L3 waits for memory: L3 cannot be farther away.
  then.l3_latency.value = std::min(then.l3_latency.value, then.dram_latency.value);
  if (gave_less(met, core)) lower(then.dram_bandwidth, *met.dram_share * core.dram_bandwidth.value);
  if (met.core_share && *met.core_share < kAlone)
    lower(then.core_share, std::max(kLeastShare, *met.core_share));
  return then;
}

std::string describe(const Conditions& met, const core::CoreParameters& core) {
  std::vector<std::string> parts;
  if (is_worse(met.l3_latency, core.l3_latency.value))
    parts.push_back(fmt::format("L3 took {:.0f} cycles instead of {:.0f}", *met.l3_latency,
                                core.l3_latency.value));
  if (is_worse(met.dram_latency, core.dram_latency.value))
    parts.push_back(fmt::format("memory took {:.0f} cycles instead of {:.0f}", *met.dram_latency,
                                core.dram_latency.value));
  if (gave_less(met, core))
    parts.push_back(fmt::format("memory gave {:.0f} % of its bandwidth", *met.dram_share * 100));
  if (met.core_share && *met.core_share < kAlone)
    parts.push_back(fmt::format("siblings took {:.0f} % of the core", (1 - *met.core_share) * 100));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<ConditionsProbe> ConditionsProbe::make(const model::Machine& machine) {
  ConditionsProbe probe;
  probe.frequency_ = machine.frequency_hz;
  const model::Constant* adds = model::find_core_parameter(machine, "int_add_per_cycle");
  if (adds != nullptr && adds->verdict != model::Verdict::unavailable)
    probe.adds_per_cycle_ = adds->value;
  const model::Constant* stream = model::find_core_parameter(machine, kStreamProbe);
  if (stream != nullptr && stream->verdict != model::Verdict::unavailable)
    probe.stream_ = stream->value;
  const std::uint64_t l2 = bytes_of_level(machine, 2);
  const std::uint64_t l3 = bytes_of_level(machine, 3);
  // Just beyond L2: the less of L3 it needs, the sooner it comes back to each line.
  const std::uint64_t ring = std::min(2 * l2, l3 / 2);
  probe.l3_nodes_ = ring > l2 ? ring / kLine : 0;
  if (probe.l3_nodes_ > 0) {
    LOFT_TRY(probe.l3_, Buffer::allocate(ring, Pages::huge));
    probe.l3_.link_ring(probe.l3_nodes_, kLine);
  }
  LOFT_TRY(probe.memory_, Buffer::allocate(kMemory, Pages::huge));
  probe.memory_.touch();
  probe.memory_.link_ring(kMemoryNodes, kMemoryStride, true);
  return probe;
}

// The first walk brings the ring into the caches, as far as neighbours leave it there.
void ConditionsProbe::look_at_l3() {
  if (l3_nodes_ == 0) return;
  const std::byte* at = l3_.data();
  const auto walk = [&](double start) {
    std::size_t links = 0;
    for (; links < l3_nodes_ && thread_seconds() - start < kMostSeconds; links += kLinksAtOnce)
      at = follow(at, kLinksAtOnce);
    return static_cast<double>(links);
  };
  walk(thread_seconds());
  at = l3_.data();
  const double start = thread_seconds();
  l3_latency_.count += walk(start);
  l3_latency_.cycles += (thread_seconds() - start) * frequency_;
}

void ConditionsProbe::look_beside(pid_t process) {
  const auto cpu = cpu_of_process(process, looks_++);
  if (!cpu) return;
  const OnCpu there(*cpu);
  if (!there.is_there()) return;
  look_at_core();
  look_at_memory();
}

void ConditionsProbe::look_at_core() {
  add_independently(kRounds / 8);
  const double start = thread_seconds();
  add_independently(kRounds);
  adds_.cycles += (thread_seconds() - start) * frequency_;
  adds_.count += kOpsARound * kRounds;
}

void ConditionsProbe::look_at_memory() {
  const std::byte* const streamed = memory_.data() + kMemoryNodes * kMemoryStride;
  if (in_memory_ != nullptr) {
    double start = thread_seconds();
    follow(in_memory_, kMemoryNodes);
    dram_latency_.cycles += (thread_seconds() - start) * frequency_;
    dram_latency_.count += kMemoryNodes;
    start = thread_seconds();
    read_all(streamed, kStreamed);
    const double cycles = (thread_seconds() - start) * frequency_;
    dram_bytes_.cycles += cycles;
    dram_bytes_.count += kStreamed;
    if (cycles > 0) best_stream_ = std::max(best_stream_, kStreamed / cycles);
  }
  // For the next look.
  const std::byte* node = memory_.data();
  bool is_flushed = flush(streamed, kStreamed);
  for (std::size_t i = 0; i < kMemoryNodes; ++i) {
    const std::byte* const next = follow(node, 1);
    is_flushed = flush(node, kLine) && is_flushed;
    node = next;
  }
  if (is_flushed) in_memory_ = memory_.data();
}

Conditions ConditionsProbe::conditions() const {
  Conditions met;
  met.l3_latency = l3_latency_.cycles_each();
  met.dram_latency = dram_latency_.cycles_each();
  if (const auto each = dram_bytes_.cycles_each(); each && stream_ > 0)
    met.dram_share = std::min(1.0, 1 / *each / stream_);
  if (const auto each = adds_.cycles_each(); each && adds_per_cycle_ > 0)
    met.core_share = std::min(1.0, 1 / *each / adds_per_cycle_);
  return met;
}

}  // namespace loft::machine
