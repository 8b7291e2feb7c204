// The records of a perf.data, as plain values. Texts and byte ranges borrow from the recording.
//
// A record keeps its numbers as the file says them, in the byte order of this machine. Every record
// that the kernel writes may end with a RecordId: who, when and where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "loft/export.h"

namespace loft::perf_data {

// PERF_RECORD_*: up to 63 from the kernel, from 64 on from the perf tool, from 32769 on from
// Android's simpleperf.
enum class RecordType : std::uint32_t {
  mmap = 1,
  lost,
  comm,
  exit,
  throttle,
  unthrottle,
  fork,
  read,
  sample,
  mmap2,
  aux,
  itrace_start,
  lost_samples,
  switch_,
  switch_cpu_wide,
  namespaces,
  ksymbol,
  bpf_event,
  cgroup,
  text_poke,
  aux_output_hw_id,
  callchain_deferred,
  header_attr = 64,
  header_event_type,
  header_tracing_data,
  header_build_id,
  finished_round,
  id_index,
  auxtrace_info,
  auxtrace,
  auxtrace_error,
  thread_map,
  cpu_map,
  stat_config,
  stat,
  stat_round,
  event_update,
  time_conv,
  header_feature,
  compressed,
  finished_init,
  compressed2,
  bpf_metadata,
  schedstat_cpu,
  schedstat_domain,
  simpleperf_kernel_symbol = 32769,
  simpleperf_dso,
  simpleperf_symbol,
  simpleperf_split,
  simpleperf_split_end,
  simpleperf_event_id,
  simpleperf_callchain,
  simpleperf_unwinding_result,
  simpleperf_tracing_data,
  simpleperf_debug,
};

// "MMAP2", "FINISHED_ROUND"; empty for a number that has no name yet.
LOFT_API std::string_view name_of(RecordType type);

// In which mode of the CPU a record was taken (the low bits of its misc field).
enum class CpuMode : std::uint8_t {
  unknown,
  kernel,
  user,
  hypervisor,
  guest_kernel,
  guest_user,
};

// The common tail of kernel records. What a recording does not carry is empty, never 0.
struct RecordId {
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint64_t> time;  // nanoseconds of the recording's clock
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> stream_id;
  std::optional<std::uint32_t> cpu;
};

// MMAP and MMAP2. `is_data`: a mapping that holds no code.
struct Mmap {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  std::uint64_t file_offset = 0;
  std::string_view path;
  bool is_data = false;
  // MMAP2 alone:
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t inode = 0;
  std::uint64_t inode_generation = 0;
  std::uint32_t protection = 0;
  std::uint32_t flags = 0;
  std::span<const std::byte> build_id;  // empty unless the kernel recorded it
};

struct Comm {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string_view name;
  bool is_exec = false;
};

// FORK and EXIT.
struct Task {
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent_tid = 0;
  std::uint64_t time = 0;
};

struct Lost {
  std::uint64_t id = 0;
  std::uint64_t count = 0;
};

struct LostSamples {
  std::uint64_t count = 0;
};

// THROTTLE and UNTHROTTLE.
struct Throttle {
  std::uint64_t time = 0;
  std::uint64_t id = 0;
  std::uint64_t stream_id = 0;
};

// SWITCH and SWITCH_CPU_WIDE; the other task is known in the latter alone.
struct Switch {
  bool is_out = false;
  bool is_preempted = false;
  std::optional<std::uint32_t> other_pid;
  std::optional<std::uint32_t> other_tid;
};

struct Namespaces {
  struct Link {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::vector<Link> links;
};

struct Ksymbol {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;  // bit 0: the symbol goes away
  std::string_view name;
};

struct BpfEvent {
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  std::uint32_t id = 0;
  std::array<std::byte, 8> tag{};
};

struct Cgroup {
  std::uint64_t id = 0;
  std::string_view path;
};

struct TextPoke {
  std::uint64_t address = 0;
  std::span<const std::byte> old_bytes;
  std::span<const std::byte> new_bytes;
};

struct Aux {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t flags = 0;
};

struct ItraceStart {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
};

struct AuxOutputHardwareId {
  std::uint64_t hardware_id = 0;
};

struct CallchainDeferred {
  std::uint64_t cookie = 0;
  std::vector<std::uint64_t> addresses;
};

// A counter, or a group of counters read together (PERF_FORMAT_*).
struct CounterReading {
  struct Value {
    std::uint64_t value = 0;
    std::optional<std::uint64_t> id;
    std::optional<std::uint64_t> lost;
  };
  bool is_group = false;
  std::optional<std::uint64_t> time_enabled;
  std::optional<std::uint64_t> time_running;
  std::vector<Value> values;
};

struct Read {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  CounterReading reading;
};

// Records of the perf tool that carry more than a blob.
struct IdIndex {
  struct Entry {
    std::uint64_t id = 0;
    std::uint64_t index = 0;
    std::uint64_t cpu = 0;
    std::uint64_t tid = 0;
  };
  std::vector<Entry> entries;
};

struct ThreadMap {
  struct Entry {
    std::uint64_t tid = 0;
    std::string_view comm;
  };
  std::vector<Entry> entries;
};

struct TimeConversion {
  std::uint64_t shift = 0;
  std::uint64_t multiplier = 0;
  std::uint64_t zero = 0;
};

struct StatValue {
  std::uint64_t id = 0;
  std::uint32_t cpu = 0;
  std::uint32_t thread = 0;
  std::uint64_t value = 0;
  std::uint64_t enabled = 0;
  std::uint64_t running = 0;
};

struct StatRound {
  std::uint64_t kind = 0;
  std::uint64_t time = 0;
};

struct BuildId {
  std::uint32_t pid = 0;
  bool is_kernel = false;
  std::span<const std::byte> bytes;
  std::string_view path;
};

struct EventUpdate {
  enum class Kind : std::uint64_t { unit, scale, name, cpus };
  Kind kind = Kind::unit;
  std::uint64_t id = 0;
  std::string_view text;  // unit and name
  double scale = 0;       // scale
  std::vector<std::uint32_t> cpus;
};

}  // namespace loft::perf_data
