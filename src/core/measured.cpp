#include "core/measured.hpp"

#include <cmath>

namespace loft::core {
namespace {

struct Mapping {
  std::string_view measured;
  std::string_view parameter;
};

constexpr Mapping kMappings[] = {
    {"issue_width_per_cycle", "issue_width"},
    {"reorder_window_instructions", "reorder_window"},
    {"branch_taken_per_cycle", "taken_per_cycle"},
    {"misprediction_cycles", "mispredict_penalty"},
    {"int_add_latency_cycles", "latency.int_alu"},
    {"int_mul_latency_cycles", "latency.int_mul"},
    {"int_div_latency_cycles", "latency.int_div"},
    {"int_div_occupancy_cycles", "occupancy.int_div"},
    {"shift_latency_cycles", "latency.int_shift"},
    {"fp_add_latency_cycles", "latency.fp_add"},
    {"fp_mul_latency_cycles", "latency.fp_mul"},
    {"fp_fma_latency_cycles", "latency.fp_fma"},
    {"fp_div_latency_cycles", "latency.fp_div_double"},
    {"fp_div_occupancy_cycles", "occupancy.fp_div_double"},
    {"fp_sqrt_latency_cycles", "latency.fp_sqrt_double"},
    {"fp_sqrt_occupancy_cycles", "occupancy.fp_sqrt_double"},
    {"convert_latency_cycles", "latency.fp_convert"},
    {"vector_logic_latency_cycles", "latency.vector_logic"},
    {"shuffle_latency_cycles", "latency.vector_shuffle"},
    {"vector_int_add_latency_cycles", "latency.vector_int"},
    {"vector_int_mul_latency_cycles", "latency.vector_int_mul"},
    {"register_file_latency_cycles", "latency.vector_to_int"},
    {"register_file_latency_cycles", "latency.int_to_vector"},
    {"int_add_per_cycle", "units.int_alu"},
    {"shift_per_cycle", "units.int_shift"},
    {"int_mul_per_cycle", "units.int_mul"},
    {"branch_not_taken_per_cycle", "units.branch"},
    {"fp_add_256_per_cycle", "units.fp_add"},
    {"fp_fma_256_per_cycle", "units.fp_mul"},
    {"vector_logic_per_cycle", "units.vector_logic"},
    {"shuffle_per_cycle", "units.vector_shuffle"},
    {"vector_int_mul_per_cycle", "units.vector_int_mul"},
    {"vector_to_int_per_cycle", "units.transfer"},
    {"load_per_cycle", "units.load"},
    {"store_per_cycle", "units.store"},
    {"l1_latency_cycles", "l1_latency"},
    {"l2_latency_cycles", "l2_latency"},
    {"l3_latency_cycles", "l3_latency"},
    {"dram_latency_cycles", "dram_latency"},
    {"l1_load_bytes_per_cycle", "l1_load_bandwidth"},
    {"l1_store_bytes_per_cycle", "l1_store_bandwidth"},
    {"l2_load_bytes_per_cycle", "l2_bandwidth"},
    {"l3_load_bytes_per_cycle", "l3_bandwidth"},
    {"dram_load_bytes_per_cycle", "dram_bandwidth"},
    {"dram_misses_in_flight", "fill_buffers"},
    {"store_forward_latency_cycles", "forward_general"},
    {"store_forward_renamed_latency_cycles", "forward_renamed"},
    {"store_forward_fp_latency_cycles", "forward_vector"},
    {"store_forward_blocked_latency_cycles", "forward_blocked"},
    {"dtlb_second_latency_cycles", "second_tlb_latency"},
    {"page_walk_cycles", "walk_latency"},
    {"page_walks_in_flight", "walkers"},
    {"line_transfer_latency_cycles", "transfer_latency"},
    {"atomic_latency_cycles", "atomic_latency"},
};

// Units, and branches a cycle, come in whole numbers: a rate just below one was disturbed.
bool is_count(std::string_view parameter) {
  return parameter.starts_with("units.") || parameter == "taken_per_cycle";
}

}  // namespace

std::size_t apply_measured(CoreParameters& core, std::string_view name, double value) {
  std::size_t set = 0;
  for (const Mapping& mapping : kMappings) {
    if (mapping.measured != name) continue;
    const double used = is_count(mapping.parameter) ? std::round(value) : value;
    if (set_parameter(core, mapping.parameter, used, Origin::measured)) ++set;
  }
  // Units cannot be kept busier than the pipes that they share.
  if (set > 0 && name == "int_add_per_cycle") {
    Parameter& pipes = core.cluster_count[static_cast<std::size_t>(Cluster::integer)];
    if (pipes.value < std::round(value)) pipes = {std::round(value), Origin::measured};
  }
  return set;
}

}  // namespace loft::core
