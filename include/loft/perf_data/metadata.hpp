// What a recording says about itself: its events, and the machine and command it was made on.
// Texts are as the file has them; a text that is missing is empty, a number that is missing is
// std::nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace loft::perf_data {

// perf_event_attr of any size and byte order. Fields beyond the file's size are 0, as the kernel
// takes them.
struct EventAttr {
  std::uint32_t type = 0;
  std::uint32_t size = 0;
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;  // a frequency in Hz when `freq`
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  bool disabled = false;
  bool inherit = false;
  bool pinned = false;
  bool exclusive = false;
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hv = false;
  bool exclude_idle = false;
  bool freq = false;
  bool enable_on_exec = false;
  std::uint8_t precise_ip = 0;
  bool sample_id_all = false;
  bool exclude_host = false;
  bool exclude_guest = false;
  bool use_clockid = false;
  bool context_switch = false;
  bool write_backward = false;
  bool build_id = false;
  std::uint32_t wakeup = 0;
  std::uint32_t breakpoint_type = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::uint32_t sample_stack_user = 0;
  std::int32_t clockid = 0;
  std::uint64_t sample_regs_intr = 0;
  std::uint32_t aux_watermark = 0;
  std::uint16_t sample_max_stack = 0;
  std::uint32_t aux_sample_size = 0;
  std::uint64_t config3 = 0;
};

struct EventDescription {
  EventAttr attr;
  std::string name;                // "cycles:u", "sched:sched_switch"
  std::vector<std::uint64_t> ids;  // of the samples that belong to it
  std::string unit;
  double scale = 1;
};

struct EventGroup {
  std::string name;
  std::uint32_t leader = 0;  // index of its first event
  std::uint32_t members = 0;
};

struct NumaNode {
  std::uint32_t node = 0;
  std::uint64_t total_kib = 0;
  std::uint64_t free_kib = 0;
  std::string cpus;
};

struct CacheDescription {
  std::uint32_t level = 0;
  std::uint32_t line_size = 0;
  std::uint32_t sets = 0;
  std::uint32_t ways = 0;
  std::string type;
  std::string size;
  std::string cpus;
};

struct MemoryNode {
  std::uint64_t node = 0;
  std::uint64_t blocks = 0;
};

struct PmuCapabilities {
  std::string pmu;
  std::vector<std::pair<std::string, std::string>> values;
};

struct BinaryBuildId {
  std::uint32_t pid = 0;
  bool is_kernel = false;
  std::string build_id;  // hexadecimal
  std::string path;
};

struct BpfProgram {
  std::uint32_t id = 0;
  std::string name;
};

// The functions of a binary that a recording brings along, as simpleperf's do: the phone that they
// are of is not there when the recording is read.
struct RecordedBinary {
  enum class Kind : std::uint32_t { kernel, kernel_module, elf, dex, symbol_map, unknown };
  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::string name;
  };
  std::string path;
  Kind kind = Kind::unknown;
  // Where its code starts, and where that is in the file (of a module: in memory).
  std::uint64_t code_address = 0;
  std::optional<std::uint64_t> code_offset;
  std::vector<Symbol> symbols;
};

// A time of the recording's clock and the same moment of the wall clock.
struct ClockData {
  std::uint32_t clockid = 0;
  std::uint64_t wall_clock_ns = 0;
  std::uint64_t clock_ns = 0;
};

struct Metadata {
  bool is_big_endian = false;
  bool is_pipe = false;
  std::string hostname;
  std::string os_release;
  std::string perf_version;
  std::string arch;
  std::optional<std::uint32_t> cpus_available;
  std::optional<std::uint32_t> cpus_online;
  std::string cpu_description;
  std::string cpuid;
  std::optional<std::uint64_t> total_memory_kib;
  std::vector<std::string> command_line;
  std::vector<EventDescription> events;
  std::vector<EventGroup> groups;
  std::vector<std::string> core_siblings;
  std::vector<std::string> thread_siblings;
  std::vector<std::string> die_siblings;
  std::vector<NumaNode> numa_nodes;
  std::vector<std::pair<std::uint32_t, std::string>> pmu_types;
  std::vector<CacheDescription> caches;
  std::optional<std::uint64_t> memory_block_size;
  std::vector<MemoryNode> memory_nodes;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time;  // first and last
  std::optional<std::uint64_t> clock_resolution_ns;
  std::optional<ClockData> clock;
  std::optional<std::uint64_t> directory_version;
  std::optional<std::uint32_t> compression_level;
  std::vector<PmuCapabilities> pmu_capabilities;
  std::vector<std::pair<std::string, std::string>> hybrid_pmus;  // name and its cpus
  std::vector<BinaryBuildId> build_ids;
  std::vector<BpfProgram> bpf_programs;
  std::uint32_t bpf_type_infos = 0;
  std::vector<RecordedBinary> recorded_binaries;
  std::vector<std::pair<std::string, std::string>> simpleperf_facts;  // "android_version": "13"
  bool has_branch_stacks = false;
  bool has_counts_only = false;  // made by `perf stat record`
  // Feature sections that have no name here yet: their bit and their bytes.
  std::vector<std::pair<std::uint32_t, std::string>> other_features;
};

}  // namespace loft::perf_data
