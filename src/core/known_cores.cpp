// Cores by name. Latencies and units are those of the makers' optimization manuals and of published
// measurements; what no manual tells is an assumption.
#include <fmt/format.h>

#include "base/text.hpp"
#include "core/parameters.hpp"

namespace loft::core {
namespace {

constexpr Parameter told(double value) { return {value, Origin::documented}; }
constexpr Parameter guess(double value) { return {value, Origin::assumed}; }

void op(CoreParameters& core, Op which, Unit unit, double latency, double occupancy = 1) {
  core[which] = {unit, told(latency), told(occupancy)};
}

void units(CoreParameters& core, std::initializer_list<std::pair<Unit, double>> counts) {
  for (const auto& [unit, count] : counts) core[unit] = told(count);
}

void pipes(CoreParameters& core, double integer, double vector) {
  core.cluster_count[static_cast<std::size_t>(Cluster::integer)] = told(integer);
  core.cluster_count[static_cast<std::size_t>(Cluster::vector)] = told(vector);
}

// What all have alike.
void common(CoreParameters& core) {
  op(core, Op::none, Unit::none, 0);
  op(core, Op::int_alu, Unit::int_alu, 1);
  op(core, Op::int_shift, Unit::int_shift, 1);
  op(core, Op::int_bits, Unit::int_shift, 1);
  op(core, Op::int_mul, Unit::int_mul, 3);
  op(core, Op::branch, Unit::branch, 1);
  op(core, Op::vector_logic, Unit::vector_logic, 1);
  op(core, Op::vector_shuffle, Unit::vector_shuffle, 1);
  op(core, Op::vector_int, Unit::vector_logic, 1);
  op(core, Op::vector_shift, Unit::vector_shuffle, 1);
  op(core, Op::crypto, Unit::vector_shuffle, 4);
  op(core, Op::x87, Unit::fp_add, 6);
  op(core, Op::x87_slow, Unit::fp_add, 100, 40);
  op(core, Op::microcode, Unit::int_alu, 10, 4);
  op(core, Op::system, Unit::int_alu, 100, 20);
  core.forward_general = guess(7);
  core.forward_renamed = guess(1);
  core.forward_blocked = guess(14);
  core.forward_vector = guess(9.5);
  core.walk_latency = guess(40);
  core.fetch_lines = guess(4);
  core.dram_latency = guess(300);
  core.dram_bandwidth = guess(8);
  core.transfer_latency = guess(110);
  core.mispredict_penalty = guess(15);
  core.load_after_atomic = guess(5);
}

CoreParameters zen(double window, double vector_width) {
  CoreParameters core;
  common(core);
  core.issue_width = told(6);
  core.nop_width = told(6);
  core.retire_width = told(8);
  core.reorder_window = told(window);
  core.front_width = told(8);
  core.taken_per_cycle = told(1);
  // An entry of the op cache has instructions of one line: a loop of four instructions that lies in
  // two lines takes two cycles on Zen 4.
  core.code_lines = told(1);
  core.integer_scheduler = told(96);
  // Two of 32 entries; what depends on each other waits in one of them: chains of 32 and 64 FMAs
  // run side by side on Zen 4 as with 32 entries in all.
  core.vector_scheduler = told(32);
  units(core, {{Unit::int_alu, 4},
               {Unit::int_shift, 2},
               {Unit::int_mul, 1},
               {Unit::int_div, 1},
               {Unit::branch, 2},
               {Unit::fp_add, 2},
               {Unit::fp_mul, 2},
               {Unit::fp_div, 1},
               {Unit::vector_logic, 4},
               {Unit::vector_shuffle, 2},
               {Unit::vector_int_mul, 2},
               {Unit::transfer, 2},
               {Unit::load, 3},
               {Unit::store, 2},
               {Unit::vector_load, 2},
               {Unit::vector_store, 1}});
  pipes(core, 5, 4);
  op(core, Op::int_div, Unit::int_div, 12, 6);
  op(core, Op::fp_add, Unit::fp_add, 3);
  op(core, Op::fp_mul, Unit::fp_mul, 3);
  op(core, Op::fp_fma, Unit::fp_mul, 4);
  op(core, Op::fp_div_single, Unit::fp_div, 10.5, 3.5);
  op(core, Op::fp_div_double, Unit::fp_div, 13, 5);
  op(core, Op::fp_sqrt_single, Unit::fp_div, 15, 5);
  op(core, Op::fp_sqrt_double, Unit::fp_div, 21, 9);
  op(core, Op::fp_compare, Unit::fp_add, 1);
  op(core, Op::fp_convert, Unit::fp_add, 3);
  op(core, Op::vector_int_mul, Unit::vector_int_mul, 3);
  op(core, Op::vector_to_int, Unit::transfer, 3);
  op(core, Op::int_to_vector, Unit::transfer, 3);
  core.vector_width = told(vector_width);
  core.l1_latency = told(4);
  core.vector_load_extra = told(3);
  core.indexed_load_extra = told(1);
  core.l2_latency = told(14);
  core.l3_latency = told(46);
  core.l1_load_bandwidth = told(64);
  core.l1_store_bandwidth = told(32);
  core.l2_bandwidth = told(32);
  core.l3_bandwidth = guess(20);
  core.fill_buffers = told(24);
  core.store_buffer = told(64);
  core.second_tlb_latency = told(7);
  core.walkers = told(6);
  core.atomic_latency = guess(18);
  return core;
}

CoreParameters zen4() {
  CoreParameters core = zen(320, 256);
  core.renames = told(2);
  return core;
}

CoreParameters intel(double width, double window, double scheduler, double loads, double stores) {
  CoreParameters core;
  common(core);
  core.issue_width = told(width);
  core.nop_width = told(width);
  core.retire_width = told(8);
  core.reorder_window = told(window);
  core.front_width = told(6);
  core.taken_per_cycle = told(1);
  core.code_lines = told(2);
  core.integer_scheduler = core.vector_scheduler = told(scheduler);  // one for both
  units(core, {{Unit::int_alu, 4},
               {Unit::int_shift, 2},
               {Unit::int_mul, 1},
               {Unit::int_div, 1},
               {Unit::branch, 2},
               {Unit::fp_add, 2},
               {Unit::fp_mul, 2},
               {Unit::fp_div, 1},
               {Unit::vector_logic, 3},
               {Unit::vector_shuffle, 1},
               {Unit::vector_int_mul, 2},
               {Unit::transfer, 1},
               {Unit::load, loads},
               {Unit::store, stores},
               {Unit::vector_load, loads},
               {Unit::vector_store, stores}});
  pipes(core, 4, 3);
  op(core, Op::int_bits, Unit::int_mul, 3);
  op(core, Op::int_div, Unit::int_div, 26, 6);
  for (const Op which : {Op::fp_add, Op::fp_mul, Op::fp_fma, Op::fp_convert, Op::fp_compare})
    op(core, which, Unit::fp_mul, 4);  // additions and multiplications share two pipes
  op(core, Op::fp_div_single, Unit::fp_div, 11, 3);
  op(core, Op::fp_div_double, Unit::fp_div, 13.5, 4);
  op(core, Op::fp_sqrt_single, Unit::fp_div, 12, 3);
  op(core, Op::fp_sqrt_double, Unit::fp_div, 15.5, 4.5);
  op(core, Op::vector_int_mul, Unit::vector_int_mul, 5);
  op(core, Op::vector_to_int, Unit::transfer, 2);
  op(core, Op::int_to_vector, Unit::transfer, 2);
  core.vector_width = told(256);
  core.l1_latency = told(5);
  core.vector_load_extra = told(2);
  core.l2_latency = told(14);
  core.l3_latency = guess(50);
  core.l1_load_bandwidth = told(64);
  core.l1_store_bandwidth = told(32);
  core.l2_bandwidth = told(64);
  core.l3_bandwidth = guess(16);
  core.fill_buffers = told(12);
  core.store_buffer = told(56);
  core.forward_general = told(4);
  core.forward_renamed = told(4);
  core.forward_vector = told(6);
  core.second_tlb_latency = told(7);
  core.walkers = told(2);
  core.atomic_latency = told(18);
  return core;
}

// Sapphire and Emerald Rapids, and the large cores of Alder Lake and its successors: Intel's
// optimization manual, and measurements of latencies and ports that others published.
CoreParameters golden_cove() {
  CoreParameters core = intel(6, 512, 97, 3, 2);
  core.front_width = told(8);
  core.taken_per_cycle = told(1);
  pipes(core, 5, 3);
  units(
      core,
      {{Unit::int_alu, 5}, {Unit::vector_shuffle, 2}, {Unit::fp_add, 2}, {Unit::vector_store, 2}});
  op(core, Op::int_div, Unit::int_div, 14, 6);
  // Additions have two pipes of their own. They take three cycles, and two from one to the next.
  for (const Op which : {Op::fp_add, Op::fp_compare}) op(core, which, Unit::fp_add, 2);
  core.fp_add_elsewhere = told(1);
  op(core, Op::fp_div_single, Unit::fp_div, 11, 3);
  op(core, Op::fp_div_double, Unit::fp_div, 14, 4);
  op(core, Op::fp_sqrt_single, Unit::fp_div, 12, 3);
  op(core, Op::fp_sqrt_double, Unit::fp_div, 18, 6);
  core.vector_width = told(512);
  core.l2_latency = told(15);
  core.l1_load_bandwidth = told(128);
  core.l1_store_bandwidth = told(64);
  core.l3_latency = guess(75);
  core.fill_buffers = told(16);
  core.store_buffer = told(112);
  // A load that renaming cannot join to its store waits for five cycles.
  core.forward_general = told(5);
  core.forward_renamed = told(0);
  core.renames = told(1);
  core.walkers = told(4);
  return core;
}

}  // namespace

Result<CoreParameters> core_parameters(std::string_view name) {
  if (name == "zen3") return zen(256, 256);
  if (name == "zen4") return zen4();
  if (name == "skylake") return intel(4, 224, 97, 2, 1);
  if (name == "icelake") return intel(5, 352, 97, 2, 2);
  if (name == "golden_cove") return golden_cove();
  return failure(ErrorKind::not_found, fmt::format("find the core '{}'", printable(name)),
                 "its parameters are not known",
                 "known are zen3, zen4, skylake, icelake, golden_cove");
}

}  // namespace loft::core
