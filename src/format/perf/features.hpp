// Header features: what a recording says about the machine and the command. In a file they are
// sections behind the data, in a pipe HEADER_FEATURE records; the bytes are the same.
#pragma once

#include "base/bytes.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::format::perf {

// HEADER_* numbers of the perf tool.
enum class Feature : std::uint32_t {
  tracing_data = 1,
  build_id,
  hostname,
  os_release,
  version,
  arch,
  cpu_count,
  cpu_description,
  cpuid,
  total_memory,
  command_line,
  event_description,
  cpu_topology,
  numa_topology,
  branch_stack,
  pmu_mappings,
  group_description,
  auxtrace,
  stat,
  cache,
  sample_time,
  memory_topology,
  clock_id,
  directory_format,
  bpf_program_info,
  bpf_btf,
  compressed,
  cpu_pmu_caps,
  clock_data,
  hybrid_topology,
  pmu_caps,
  cpu_domain_info,
  elf_machine,
  cache_line_size,
  // Those of simpleperf.
  simpleperf_files = 128,
  simpleperf_facts,
  simpleperf_debug_unwind,
  simpleperf_debug_unwind_file,
  simpleperf_files2,
  simpleperf_etm_branches,
  simpleperf_first_maps,
};

// Adds what one feature says. False when its bytes are damaged; what was good of it is kept.
bool read_feature(std::uint32_t bit, std::span<const std::byte> bytes, ByteOrder order,
                  perf_data::Metadata& metadata);

// "HOSTNAME" and so on; empty for an unknown bit.
std::string_view name_of_feature(std::uint32_t bit);

}  // namespace loft::format::perf
