#include "machine/core_of.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace loft::machine {
namespace {

// Numbers of things are whole; what was measured of them is a little less, or more.
// From a misprediction the test and the branch itself are taken off: a cycle each, in which the
// model executes them.
// The best of all times that memory was asked is one that met lines in L3: the usual is its cost.
enum class Form { as_measured, whole, less_two, usual };

struct Mapping {
  std::string_view core;
  std::string_view machine;
  Form form = Form::as_measured;
};

constexpr std::array kMappings = std::to_array<Mapping>({
    {"issue_width", "issue_width_per_cycle", Form::whole},
    {"nop_width", "nop_per_cycle", Form::whole},
    {"reorder_window", "reorder_window_instructions", Form::whole},
    {"taken_per_cycle", "branch_taken_per_cycle", Form::whole},
    {"fetch_lines", "code_lines_in_flight"},
    {"mispredict_penalty", "misprediction_cycles", Form::less_two},
    {"l1_latency", "l1_latency_cycles"},
    {"l2_latency", "l2_latency_cycles"},
    {"l3_latency", "l3_latency_cycles"},
    {"dram_latency", "dram_latency_cycles", Form::usual},
    {"l1_load_bandwidth", "l1_load_bytes_per_cycle"},
    {"l1_store_bandwidth", "l1_store_bytes_per_cycle"},
    {"l2_bandwidth", "l2_load_bytes_per_cycle"},
    {"l3_bandwidth", "l3_load_bytes_per_cycle"},
    {"dram_bandwidth", "dram_load_bytes_per_cycle", Form::usual},
    {"fill_buffers", "dram_misses_in_flight", Form::whole},
    {"forward_general", "store_forward_latency_cycles"},
    // What a compiler spills and reloads is addressed by the same register.
    {"forward_renamed", "store_forward_renamed_latency_cycles"},
    {"forward_blocked", "store_forward_blocked_latency_cycles"},
    {"forward_vector", "store_forward_128_latency_cycles"},
    {"second_tlb_latency", "dtlb_second_latency_cycles"},
    {"walk_latency", "page_walk_cycles"},
    {"walkers", "page_walks_in_flight", Form::whole},
    {"transfer_latency", "line_transfer_latency_cycles"},
    {"atomic_latency", "atomic_latency_cycles"},
    {"load_after_atomic", "load_after_atomic_cycles"},
    {"units.int_alu", "int_add_per_cycle", Form::whole},
    {"units.int_shift", "shift_per_cycle", Form::whole},
    {"units.int_mul", "int_mul_per_cycle", Form::whole},
    {"units.branch", "branch_not_taken_per_cycle", Form::whole},
    {"units.fp_add", "fp_add_per_cycle", Form::whole},
    {"units.fp_mul", "fp_mul_per_cycle", Form::whole},
    {"units.vector_logic", "vector_logic_per_cycle", Form::whole},
    {"units.vector_shuffle", "shuffle_per_cycle", Form::whole},
    {"units.vector_int_mul", "vector_int_mul_per_cycle", Form::whole},
    {"units.load", "load_per_cycle", Form::whole},
    {"units.store", "store_per_cycle", Form::whole},
    {"units.vector_load", "fp_load_per_cycle", Form::whole},
    {"units.vector_store", "fp_store_per_cycle", Form::whole},
    {"latency.int_alu", "int_add_latency_cycles"},
    {"latency.int_shift", "shift_latency_cycles"},
    {"latency.int_mul", "int_mul_latency_cycles"},
    {"latency.int_div", "int_div_latency_cycles"},
    {"latency.fp_add", "fp_add_latency_cycles"},
    {"latency.fp_mul", "fp_mul_latency_cycles"},
    {"latency.fp_fma", "fp_fma_latency_cycles"},
    {"latency.fp_div_double", "fp_div_latency_cycles"},
    {"latency.fp_sqrt_double", "fp_sqrt_latency_cycles"},
    {"latency.vector_logic", "vector_logic_latency_cycles"},
    {"latency.vector_shuffle", "shuffle_latency_cycles"},
    {"latency.vector_int", "vector_int_add_latency_cycles"},
    {"latency.vector_int_mul", "vector_int_mul_latency_cycles"},
    {"latency.fp_convert", "convert_latency_cycles"},
    {"latency.vector_to_int", "register_file_latency_cycles"},
    {"latency.int_to_vector", "register_file_latency_cycles"},
    {"occupancy.int_div", "int_div_occupancy_cycles"},
    {"occupancy.fp_div_double", "fp_div_occupancy_cycles"},
    {"occupancy.fp_sqrt_double", "fp_sqrt_occupancy_cycles"},
});

double usual(const model::Constant& measured) {
  return measured.median > 0 ? measured.median : measured.value;
}

// Who disturbs a measurement makes the machine look slower, never faster: where it was noisy, as
// many units as are known of such cores are there.
double value_of(const model::Constant& measured, Form form, const core::Parameter& known) {
  const bool is_bound =
      measured.verdict == model::Verdict::noisy && known.origin == core::Origin::documented;
  switch (form) {
    case Form::whole:
      return is_bound ? std::max(std::round(measured.value), known.value)
                      : std::round(measured.value);
    case Form::less_two:
      return std::max(0.0, measured.value - 2);
    case Form::usual:
      return usual(measured);
    case Form::as_measured:
      break;
  }
  return measured.value;
}

// What was usually measured; 0 where nothing was.
double usual(const model::Machine& machine, const char* name) {
  const model::Constant* measured = find_core_parameter(machine, name);
  const bool is_known = measured != nullptr && measured->verdict != model::Verdict::unavailable;
  return is_known ? usual(*measured) : 0.0;
}

// A walk of stores reads each line and writes it back: what it takes longer than a walk of loads is
// for the writing.
void set_write_back_cost(const model::Machine& machine, core::CoreParameters& core) {
  const double loads = usual(machine, "dram_load_bytes_per_cycle");
  const double stores = usual(machine, "dram_store_bytes_per_cycle");
  if (loads > 0 && stores > 0)
    core.write_back_cost = {std::clamp(loads / stores - 1, 0.0, 1.0), core::Origin::measured};
}

// What a link of a chase through memory takes longer in small pages.
void set_walk_to_memory(const model::Machine& machine, core::CoreParameters& core) {
  const model::Constant* small = find_constant(machine, "Mem_small_pages_lat");
  const double large = usual(machine, "dram_latency_cycles");
  if (small == nullptr || small->verdict == model::Verdict::unavailable || !(large > 0)) return;
  core.walk_to_memory = {std::max(0.0, usual(*small) - large), core::Origin::measured};
}

// What a small page takes longer than as much of a large one is what a stream waits for at its
// begin, but for the walk, and for the lines that come meanwhile: as many as there are buffers.
void set_page_start(const model::Machine& machine, core::CoreParameters& core) {
  constexpr double kPage = 4096;
  constexpr double kLine = 64;
  const double small = usual(machine, "dram_small_pages_bytes_per_cycle");
  const double large = usual(machine, "dram_one_stream_bytes_per_cycle");
  if (!(small > 0) || !(large > 0)) return;
  const double longer = std::max(0.0, kPage / small - kPage / large);
  const double hidden = core.fill_buffers.value * kLine / large;
  const double waits = longer > 0 ? longer + hidden - core.walk_latency.value : 0;
  core.page_start = {std::clamp(waits / core.dram_latency.value, 0.0, 2.0), core::Origin::measured};
}

core::Parameter parameter_of(const core::CoreParameters& core, std::string_view name) {
  core::Parameter found;
  core::for_each_parameter(core, [&](const core::ParameterName& each, const core::Parameter& p) {
    if (each.name == name) found = p;
  });
  return found;
}

std::uint64_t data_cache(const model::Machine& machine, int level) {
  for (const model::Cache& cache : machine.topology.caches)
    if (cache.level == level && cache.type != "Instruction") return cache.bytes;
  return 0;
}

// Guests hide the name of their CPU, but not how large its caches are: L1 of 48 KiB came with Ice
// Lake, and L2 of 2 MiB with the servers of Golden Cove. Its clients have 1.25 MiB, and no AVX-512.
std::string nearest_core(const model::Machine& machine) {
  constexpr std::uint64_t kKiB = 1024;
  const bool is_wide = std::ranges::find(machine.isas, "avx512") != machine.isas.end();
  if (machine.cpu.find("AMD") != std::string::npos) return is_wide ? "zen4" : "zen3";
  const bool has_large_l1 = data_cache(machine, 1) >= 48 * kKiB;
  const std::uint64_t l2_of_golden_cove = is_wide ? 2048 * kKiB : 1280 * kKiB;
  if (has_large_l1 && data_cache(machine, 2) >= l2_of_golden_cove) return "golden_cove";
  return is_wide ? "icelake" : "skylake";
}

// The probe of forwarding goes by two registers, without an index. Where that is as quick as by
// one, renaming has joined the load to its store, and how long forwarding takes is still open.
bool is_renamed(const model::Machine& machine) {
  const model::Constant* general = find_core_parameter(machine, "store_forward_latency_cycles");
  const model::Constant* l1 = find_core_parameter(machine, "l1_latency_cycles");
  const auto is_known = [](const model::Constant* constant) {
    return constant != nullptr && constant->verdict != model::Verdict::unavailable;
  };
  return is_known(general) && is_known(l1) && general->value < l1->value / 2;
}

}  // namespace

Result<MeasuredCore> core_of(const model::Machine& machine) {
  if (machine.architecture != "x86_64")
    return failure(ErrorKind::unsupported, "model the core of this machine",
                   "no core of its architecture is known", "x86-64 is");
  MeasuredCore found;
  found.base = nearest_core(machine);
  LOFT_TRY(found.parameters, core::core_parameters(found.base));
  const bool renames = is_renamed(machine);
  for (const Mapping& mapping : kMappings) {
    const std::string name(mapping.machine);
    const model::Constant* measured = find_core_parameter(machine, name);
    if (measured == nullptr || measured->verdict == model::Verdict::unavailable) {
      found.missing.push_back(name);
      continue;
    }
    if (renames && mapping.core == "forward_general") continue;
    const double value =
        value_of(*measured, mapping.form, parameter_of(found.parameters, mapping.core));
    if (!core::set_parameter(found.parameters, mapping.core, value, core::Origin::measured))
      found.unlikely.push_back(name);
  }
  if (renames)
    found.parameters.renames = {std::max(1.0, found.parameters.renames.value),
                                core::Origin::measured};
  set_write_back_cost(machine, found.parameters);
  set_page_start(machine, found.parameters);
  set_walk_to_memory(machine, found.parameters);
  return found;
}

}  // namespace loft::machine
