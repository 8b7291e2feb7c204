// What the timing of a window depends on: widths, units, latencies and bandwidths of a core. Each
// number carries its origin.
//
//   CoreParameters core = *core_parameters("zen3");
//   LOFT_CHECK(set_parameter(core, "dram_latency", 574, Origin::measured));
//   for_each_parameter(core, [](const ParameterName& name, const Parameter& value) { ... });
//
// Cycles are cycles of the core.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/window.hpp"

namespace loft::core {

enum class Origin : std::uint8_t {
  measured,    // on this machine
  documented,  // by the maker, or by published measurements of this kind of core
  assumed,
};

struct Parameter {
  double value = 0;
  Origin origin = Origin::assumed;
  bool operator==(const Parameter&) const = default;
};

// Units that start operations. Each belongs to a cluster of pipes that they share.
enum class Unit : std::uint8_t {
  none,
  int_alu,
  int_shift,
  int_mul,
  int_div,
  branch,
  fp_add,
  fp_mul,  // also FMA
  fp_div,  // also square roots
  vector_logic,
  vector_shuffle,
  vector_int_mul,
  transfer,  // between the register files
  load,
  store,
  vector_load,  // of vector registers, beside a unit that loads
  vector_store,
  count_
};
inline constexpr std::size_t kUnits = static_cast<std::size_t>(Unit::count_);

enum class Cluster : std::uint8_t { none, integer, vector, count_ };
inline constexpr std::size_t kClusters = static_cast<std::size_t>(Cluster::count_);
[[nodiscard]] Cluster cluster_of(Unit unit);

struct OpParameters {
  Unit unit = Unit::none;
  Parameter latency;
  Parameter occupancy{1};  // cycles until its unit can start the next one
  bool operator==(const OpParameters&) const = default;
};

struct CoreParameters {
  // Front end and reorder window.
  Parameter issue_width, retire_width, reorder_window;
  Parameter nop_width;        // nops that pass in a cycle: several may share a slot
  Parameter front_width;      // instructions that the front end delivers in a cycle
  Parameter taken_per_cycle;  // taken branches it follows in a cycle
  Parameter code_lines{1};    // lines of code that it delivers from in a cycle
  Parameter fetch_lines;      // lines of code that it has asked a cache for at a time
  Parameter mispredict_penalty;
  // Operations that wait for what they need; those behind them do not start before one leaves.
  Parameter integer_scheduler, vector_scheduler;
  Parameter core_share{1};  // of the core's cycles; the rest has a sibling of the thread
  // Units.
  std::array<Parameter, kUnits> unit_count;
  std::array<Parameter, kClusters> cluster_count;
  std::array<OpParameters, kOps> ops;
  Parameter vector_width;  // bits that a vector unit handles in a cycle
  // What an addition takes longer where no addition uses its result: some cores hand it on earlier
  // among the units that add.
  Parameter fp_add_elsewhere;
  // Memory.
  Parameter l1_latency, l2_latency, l3_latency, dram_latency;
  // What a load from L1 takes longer into a vector register, and where its address has an index.
  Parameter vector_load_extra, indexed_load_extra;
  Parameter l1_load_bandwidth, l1_store_bandwidth;       // bytes a cycle
  Parameter l2_bandwidth, l3_bandwidth, dram_bandwidth;  // bytes a cycle
  // What a byte that is written back to memory takes of its bandwidth: 1 as much as one that is
  // read, 0 nothing.
  Parameter write_back_cost{1};
  // Of the latency of memory, what a stream waits for at the begin of a page that needs a walk:
  // only then can its prefetcher go on.
  Parameter page_start{0.5};
  Parameter fill_buffers;  // L1 misses under way
  Parameter store_buffer;
  // From a store's data to the result of a load: in general; where renaming knows that both have
  // the same address; of vector registers; where the load wants more than the store has.
  Parameter forward_general, forward_renamed, forward_vector, forward_blocked;
  // Which loads renaming joins to the last execution of a store: 0, those whose address is made of
  // the same registers; 1, those without an index; 2, any. Never those of one or two bytes.
  Parameter renames;
  Parameter second_tlb_latency, walk_latency, walkers;
  // Of a walk for a line that comes from memory: its tables are in the caches as seldom as the line
  // itself. 0: as long as any.
  Parameter walk_to_memory;
  Parameter transfer_latency;  // of a line that another core holds modified
  Parameter atomic_latency;
  Parameter load_after_atomic;  // from the end of an atomic to the result of a load behind it

  [[nodiscard]] OpParameters& operator[](Op op) { return ops[static_cast<std::size_t>(op)]; }
  [[nodiscard]] const OpParameters& operator[](Op op) const {
    return ops[static_cast<std::size_t>(op)];
  }
  [[nodiscard]] Parameter& operator[](Unit unit) {
    return unit_count[static_cast<std::size_t>(unit)];
  }
  bool operator==(const CoreParameters&) const = default;
};

// Cores that are known: zen3, zen4, skylake, icelake, golden_cove. Memory is that of a server with
// 2.6 GHz and wants to be measured.
[[nodiscard]] Result<CoreParameters> core_parameters(std::string_view name);

// Every value is one that timing can work with.
[[nodiscard]] Result<void> check(const CoreParameters& core);

struct ParameterName {
  std::string name;       // "dram_latency", "units.fp_mul", "latency.fp_fma", "occupancy.int_div"
  std::string_view unit;  // "cycles", "bytes/cycle", "" for counts
};
void for_each_parameter(const CoreParameters& core,
                        const std::function<void(const ParameterName&, const Parameter&)>& visit);
[[nodiscard]] Result<void> set_parameter(CoreParameters& core, std::string_view name, double value,
                                         Origin origin);

[[nodiscard]] std::string_view to_string(Origin origin);
[[nodiscard]] std::string_view to_string(Unit unit);

}  // namespace loft::core
