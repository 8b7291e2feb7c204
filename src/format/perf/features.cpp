#include "format/perf/features.hpp"

#include <array>

#include "format/perf/records.hpp"
#include "format/perf/simpleperf.hpp"

namespace loft::format::perf {
namespace {

using pd::Metadata;

// A length that includes padding, then a text that ends at its NUL.
std::string text_of(ByteReader& in) { return std::string(in.text_field(in.u32())); }

std::vector<std::string> texts_of(ByteReader& in) {
  std::vector<std::string> texts;
  const auto count = in.count32(4);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) texts.push_back(text_of(in));
  return texts;
}

void read_build_ids(ByteReader& in, Metadata& out) {
  // These have a record's header but no record type; the size alone leads to the next.
  const auto all = in.take(in.remaining());
  std::size_t at = 0;
  while (all.size() - at >= 36) {
    RawRecord record;
    record.order = in.order();
    record.misc = load<std::uint16_t>(all.data() + at + 4, in.order());
    const std::size_t size = load<std::uint16_t>(all.data() + at + 6, in.order());
    if (size < 36 || size > all.size() - at) return in.fail();
    record.body = all.subspan(at + kRecordHeader, size - kRecordHeader);
    if (const auto id = read_build_id(record))
      out.build_ids.push_back({id->pid, id->is_kernel, to_hex(id->bytes), std::string(id->path)});
    at += size;
  }
}

void read_event_descriptions(ByteReader& in, Metadata& out) {
  const auto count = in.u32();
  const auto attr_size = in.u32();
  if (attr_size < kSmallestAttr || attr_size > in.remaining()) return in.fail();
  std::vector<pd::EventDescription> events;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto attr = read_attr(in.take(attr_size), in.order());
    if (!attr) return in.fail();
    auto& event = events.emplace_back();
    event.attr = *attr;
    const auto ids = in.u32();
    event.name = text_of(in);
    if (ids > in.remaining() / 8) return in.fail();
    for (std::uint32_t id = 0; id < ids; ++id) event.ids.push_back(in.u64());
  }
  if (!in.ok()) return;
  // The list of attributes is the authority for the events; this one knows their names.
  if (out.events.empty()) {
    out.events = std::move(events);
    return;
  }
  for (std::size_t i = 0; i < events.size() && i < out.events.size(); ++i) {
    out.events[i].name = events[i].name;
    if (out.events[i].ids.empty()) out.events[i].ids = std::move(events[i].ids);
  }
}

void read_topology(ByteReader& in, Metadata& out) {
  out.core_siblings = texts_of(in);
  out.thread_siblings = texts_of(in);
  if (!in.ok()) return;
  const std::uint64_t cpus = out.cpus_available.value_or(0);
  if (in.remaining() < 8 * cpus + 4) return;  // older files end here
  in.skip(8 * cpus);                          // core and socket of each CPU
  out.die_siblings = texts_of(in);
}

void read_numa(ByteReader& in, Metadata& out) {
  const auto count = in.count32(24);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto& node = out.numa_nodes.emplace_back();
    node.node = in.u32();
    node.total_kib = in.u64();
    node.free_kib = in.u64();
    node.cpus = text_of(in);
  }
}

void read_groups(ByteReader& in, Metadata& out) {
  const auto count = in.count32(12);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto& group = out.groups.emplace_back();
    group.name = text_of(in);
    group.leader = in.u32();
    group.members = in.u32();
  }
}

void read_caches(ByteReader& in, Metadata& out) {
  in.skip(4);  // version
  const auto count = in.count32(28);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto& cache = out.caches.emplace_back();
    cache.level = in.u32();
    cache.line_size = in.u32();
    cache.sets = in.u32();
    cache.ways = in.u32();
    cache.type = text_of(in);
    cache.size = text_of(in);
    cache.cpus = text_of(in);
  }
}

void read_memory_topology(ByteReader& in, Metadata& out) {
  in.skip(8);  // version
  out.memory_block_size = in.u64();
  const auto count = in.count64(24);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto& node = out.memory_nodes.emplace_back();
    node.node = in.u64();
    in.skip(8);
    const auto bits = in.u64();
    if (bits / 64 >= in.remaining() / 8 + 1) return in.fail();
    for (std::uint64_t word = 0; word < (bits + 63) / 64; ++word)
      node.blocks += static_cast<std::uint64_t>(std::popcount(in.u64()));
  }
}

pd::PmuCapabilities read_caps(ByteReader& in) {
  pd::PmuCapabilities caps;
  const auto count = in.count32(8);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto name = text_of(in);
    caps.values.emplace_back(std::move(name), text_of(in));
  }
  return caps;
}

void read_bpf_programs(ByteReader& in, Metadata& out) {
  const auto count = in.count32(16);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto info_size = in.u32();
    const auto data_size = in.u32();
    in.skip(8);  // which arrays the data holds
    ByteReader info(in.take(info_size), in.order());
    info.skip(4);  // kind of program
    const auto id = info.u32();
    info.skip(56);  // tag, code, maps and times: the name follows them
    const std::string name(info.text_field(info.remaining() < 16 ? info.remaining() : 16));
    in.skip(data_size);
    if (in.ok()) out.bpf_programs.push_back({id, name});
  }
}

void read_clock(ByteReader& in, Metadata& out) {
  in.skip(4);  // version
  pd::ClockData clock;
  clock.clockid = in.u32();
  clock.wall_clock_ns = in.u64();
  clock.clock_ns = in.u64();
  if (in.ok()) out.clock = clock;
}

void read_pairs(ByteReader& in, std::vector<std::pair<std::string, std::string>>& out) {
  const auto count = in.count32(8);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto name = text_of(in);
    out.emplace_back(std::move(name), text_of(in));
  }
}

// Features that describe the machine; false when `feature` is none of them.
bool read_machine(Feature feature, ByteReader& in, Metadata& out) {
  switch (feature) {
    case Feature::hostname:
      out.hostname = text_of(in);
      return true;
    case Feature::os_release:
      out.os_release = text_of(in);
      return true;
    case Feature::version:
      out.perf_version = text_of(in);
      return true;
    case Feature::arch:
      out.arch = text_of(in);
      return true;
    case Feature::cpu_description:
      out.cpu_description = text_of(in);
      return true;
    case Feature::cpuid:
      out.cpuid = text_of(in);
      return true;
    case Feature::total_memory:
      out.total_memory_kib = in.u64();
      return true;
    case Feature::cpu_count:
      out.cpus_available = in.u32();
      out.cpus_online = in.u32();
      return true;
    case Feature::cpu_topology:
      read_topology(in, out);
      return true;
    case Feature::numa_topology:
      read_numa(in, out);
      return true;
    case Feature::cache:
      read_caches(in, out);
      return true;
    case Feature::memory_topology:
      read_memory_topology(in, out);
      return true;
    case Feature::hybrid_topology:
      read_pairs(in, out.hybrid_pmus);
      return true;
    case Feature::cpu_pmu_caps:
      out.pmu_capabilities.push_back(read_caps(in));
      out.pmu_capabilities.back().pmu = "cpu";
      return true;
    case Feature::pmu_caps: {
      const auto count = in.count32(8);
      for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        out.pmu_capabilities.push_back(read_caps(in));
        out.pmu_capabilities.back().pmu = text_of(in);
      }
      return true;
    }
    default:
      return false;
  }
}

// Features that describe the recording; false when `feature` is none of them.
bool read_recording(Feature feature, ByteReader& in, Metadata& out) {
  switch (feature) {
    case Feature::build_id:
      read_build_ids(in, out);
      return true;
    case Feature::command_line:
      out.command_line = texts_of(in);
      return true;
    case Feature::event_description:
      read_event_descriptions(in, out);
      return true;
    case Feature::branch_stack:
      out.has_branch_stacks = true;
      return true;
    case Feature::stat:
      out.has_counts_only = true;
      return true;
    case Feature::group_description:
      read_groups(in, out);
      return true;
    case Feature::pmu_mappings: {
      const auto count = in.count32(8);
      for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const auto type = in.u32();
        out.pmu_types.emplace_back(type, text_of(in));
      }
      return true;
    }
    case Feature::sample_time: {
      const auto first = in.u64();
      const auto last = in.u64();
      if (in.ok()) out.sample_time.emplace(first, last);
      return true;
    }
    case Feature::clock_id:
      out.clock_resolution_ns = in.u64();
      return true;
    case Feature::clock_data:
      read_clock(in, out);
      return true;
    case Feature::directory_format:
      out.directory_version = in.u64();
      return true;
    case Feature::compressed:
      in.skip(8);  // version and type
      out.compression_level = in.u32();
      return true;
    case Feature::bpf_program_info:
      read_bpf_programs(in, out);
      return true;
    case Feature::bpf_btf:
      out.bpf_type_infos = in.u32();
      return true;
    case Feature::tracing_data:           // has its own reader
    case Feature::auxtrace:               // an index of AUXTRACE records, which are walked anyway
    case Feature::simpleperf_first_maps:  // records like all others
      return true;
    default:
      return false;
  }
}

// What simpleperf adds; false when `feature` is none of it.
bool read_simpleperf(Feature feature, ByteReader& in, Metadata& out) {
  switch (feature) {
    case Feature::simpleperf_files:
      read_simpleperf_files(in, out.recorded_binaries);
      return true;
    case Feature::simpleperf_files2:
      read_simpleperf_files2(in, out.recorded_binaries);
      return true;
    case Feature::simpleperf_facts:
      read_simpleperf_facts(in, out.simpleperf_facts);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool read_feature(std::uint32_t bit, std::span<const std::byte> bytes, ByteOrder order,
                  pd::Metadata& metadata) {
  ByteReader in(bytes, order);
  const auto feature = static_cast<Feature>(bit);
  if (read_machine(feature, in, metadata) || read_recording(feature, in, metadata) ||
      read_simpleperf(feature, in, metadata))
    return in.ok();
  metadata.other_features.emplace_back(
      bit, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return true;
}

std::string_view name_of_feature(std::uint32_t bit) {
  static constexpr std::array<std::string_view, 35> kNames = {"",
                                                              "TRACING_DATA",
                                                              "BUILD_ID",
                                                              "HOSTNAME",
                                                              "OSRELEASE",
                                                              "VERSION",
                                                              "ARCH",
                                                              "NRCPUS",
                                                              "CPUDESC",
                                                              "CPUID",
                                                              "TOTAL_MEM",
                                                              "CMDLINE",
                                                              "EVENT_DESC",
                                                              "CPU_TOPOLOGY",
                                                              "NUMA_TOPOLOGY",
                                                              "BRANCH_STACK",
                                                              "PMU_MAPPINGS",
                                                              "GROUP_DESC",
                                                              "AUXTRACE",
                                                              "STAT",
                                                              "CACHE",
                                                              "SAMPLE_TIME",
                                                              "MEM_TOPOLOGY",
                                                              "CLOCKID",
                                                              "DIR_FORMAT",
                                                              "BPF_PROG_INFO",
                                                              "BPF_BTF",
                                                              "COMPRESSED",
                                                              "CPU_PMU_CAPS",
                                                              "CLOCK_DATA",
                                                              "HYBRID_TOPOLOGY",
                                                              "PMU_CAPS",
                                                              "CPU_DOMAIN_INFO",
                                                              "E_MACHINE",
                                                              "CLN_SIZE"};
  static constexpr std::array<std::string_view, 7> kSimpleperf = {
      "SIMPLEPERF_FILE",         "SIMPLEPERF_META_INFO",
      "SIMPLEPERF_DEBUG_UNWIND", "SIMPLEPERF_DEBUG_UNWIND_FILE",
      "SIMPLEPERF_FILE2",        "SIMPLEPERF_ETM_BRANCH_LIST",
      "SIMPLEPERF_INIT_MAP"};
  constexpr auto kFirst = static_cast<std::uint32_t>(Feature::simpleperf_files);
  if (bit >= kFirst && bit - kFirst < kSimpleperf.size()) return kSimpleperf[bit - kFirst];
  return bit < kNames.size() ? kNames[bit] : std::string_view{};
}

}  // namespace loft::format::perf
