#include "machine/core_parameters.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "machine/buffer.hpp"
#include "machine/core_probes.hpp"
#include "machine/readings.hpp"

namespace loft::machine {
namespace {

constexpr const char* kNotHere = "no kernel for it could be made or run here";

struct Named {
  const char* name;
  const char* item;
};

// Cycles per link of a chain.
constexpr std::array kLatencies = std::to_array<Named>({
    {"int_add_latency_cycles", "int_add chain"},
    {"int_mul_latency_cycles", "int_mul chain"},
    {"lea_latency_cycles", "lea chain"},
    {"shift_latency_cycles", "rotate chain"},
    {"convert_latency_cycles", "convert chain"},
    {"register_file_latency_cycles", "file chain"},
    {"vector_logic_latency_cycles", "logic chain"},
    {"shuffle_latency_cycles", "shuffle chain"},
    {"vector_int_add_latency_cycles", "vector_int_add chain"},
    {"vector_int_mul_latency_cycles", "vector_int_mul chain"},
    {"store_forward_latency_cycles", "forward chain"},
    {"store_forward_renamed_latency_cycles", "forward_same chain"},
    {"store_forward_narrower_latency_cycles", "forward_half chain"},
    {"store_forward_blocked_latency_cycles", "forward_blocked chain"},
    {"store_forward_fp_latency_cycles", "forward_scalar chain"},
});

// Widths that not every machine has.
constexpr std::array kWideForwards = std::to_array<Named>({
    {"store_forward_128_latency_cycles", "forward_sse chain"},
    {"store_forward_256_latency_cycles", "forward_avx2 chain"},
    {"store_forward_512_latency_cycles", "forward_avx512 chain"},
});

// Instructions per cycle of a stream.
constexpr std::array kRates = std::to_array<Named>({
    {"int_add_per_cycle", "int_add stream"},
    {"int_mul_per_cycle", "int_mul stream"},
    {"lea_per_cycle", "lea stream"},
    {"shift_per_cycle", "rotate stream"},
    {"int_to_fp_per_cycle", "to_double stream"},
    {"fp_to_int_per_cycle", "to_int stream"},
    {"int_to_vector_per_cycle", "to_vector stream"},
    {"vector_to_int_per_cycle", "from_vector stream"},
    {"vector_logic_per_cycle", "logic stream"},
    {"shuffle_per_cycle", "shuffle stream"},
    {"vector_int_add_per_cycle", "vector_int_add stream"},
    {"vector_int_mul_per_cycle", "vector_int_mul stream"},
    {"load_per_cycle", "load stream"},
    {"store_per_cycle", "store stream"},
    {"branch_not_taken_per_cycle", "branch stream"},
    {"branch_taken_per_cycle", "BR_lat"},
    {"nop_per_cycle", "nop stream"},
});

// What was measured as a constant for metric files too.
constexpr std::array kConstants = std::to_array<Named>({
    {"fp_add_latency_cycles", "FP_add_lat"},
    {"fp_mul_latency_cycles", "FP_mul_lat"},
    {"fp_fma_latency_cycles", "FP_fma_lat"},
    {"fp_div_latency_cycles", "FP_div_lat"},
    {"fp_sqrt_latency_cycles", "FP_sqrt_lat"},
    {"int_div_latency_cycles", "Int_div_lat"},
    {"l1_latency_cycles", "L1_lat"},
    {"l2_latency_cycles", "L2_lat"},
    {"l3_latency_cycles", "L3_lat"},
    {"dram_latency_cycles", "Mem_lat"},
    {"page_walk_cycles", "TLB_lat"},
    {"misprediction_cycles", "BR_miss_lat"},
    {"atomic_latency_cycles", "Atomic_lat"},
    {"line_transfer_latency_cycles", "Line_transfer_lat"},
});

struct Width {
  const char* isa;
  const char* suffix;
  double bytes;
};
constexpr std::array kWidths = std::to_array<Width>({{"scalar", "", 8},
                                                     {"sse", "_128", 16},
                                                     {"neon", "_128", 16},
                                                     {"avx2", "_256", 32},
                                                     {"avx512", "_512", 64}});

class Collector {
 public:
  Collector(const Plan& plan, const Workbench& bench, const model::Machine& machine)
      : plan_(plan), bench_(bench), machine_(machine) {}

  void chains_and_streams();
  void constants();
  void arithmetic_rates();
  void memory_rates();
  void bandwidths();
  void issue_width();
  void in_flight_at_once();
  void reorder_window();
  void translation(const std::vector<CostPoint>& extra_by_pages);
  void small_pages();
  void cache_share();
  void code();
  void branches();
  void atomics();

  std::vector<model::Constant> take() { return std::move(found_); }

 private:
  model::Constant& add(const std::string& name, const std::string& unit) {
    model::Constant constant;
    constant.name = name;
    constant.unit = unit;
    constant.why = kNotHere;
    return found_.emplace_back(std::move(constant));
  }
  void put(const std::string& name, const std::string& unit, double value, double median,
           double spread, model::Verdict verdict, const std::string& origin = "measured") {
    model::Constant& constant = add(name, unit);
    if (verdict == model::Verdict::unavailable || !(value > 0)) return;
    constant.value = value;
    constant.median = median;
    constant.spread = spread;
    constant.verdict = verdict;
    constant.origin = origin;
    constant.why.clear();
    if (unit != "cycles") return;
    constant.cycles = value;
    if (machine_.frequency_hz > 0) constant.ns = value / machine_.frequency_hz * 1e9;
  }
  void put_latency(const std::string& name, const Reading& reading) {
    put(name, "cycles", reading.cycles, reading.median, reading.spread, reading.verdict);
  }
  void put_rate(const std::string& name, const Reading& reading) {
    put(name, "per_cycle", reading.is_known() ? 1 / reading.cycles : 0,
        reading.is_known() ? 1 / reading.median : 0, reading.spread, reading.verdict);
  }
  [[nodiscard]] Reading read(const std::string& name) const {
    return reading_of(plan_, bench_, name);
  }
  // The best window of a chase through memory is one that met lines in a cache: there the median is
  // the cost. What lives in a cache has its cost in the best window.
  enum class Of { cache, memory };
  [[nodiscard]] std::vector<CostPoint> curve(const char* name, std::span<const int> counts,
                                             Of of) const;
  // The best single-thread roof like `wanted`, which has the fields to look for.
  [[nodiscard]] const model::Roof* roof(model::RoofKind kind, const std::string& isa,
                                        const std::string& op, const std::string& level) const;
  [[nodiscard]] const model::Roof* best_walk(const std::string& op, const std::string& level) const;
  void put_of_roof(const std::string& name, const std::string& unit, const model::Roof* roof,
                   double factor);
  void put_estimate(const std::string& name, const std::string& unit, std::optional<double> value,
                    double spread, model::Verdict verdict, const std::string& origin,
                    const std::string& why);
  [[nodiscard]] const model::Constant* known(const std::string& name) const {
    const auto at = std::ranges::find(found_, name, &model::Constant::name);
    return at == found_.end() || at->verdict == model::Verdict::unavailable ? nullptr : &*at;
  }

  const Plan& plan_;
  const Workbench& bench_;
  const model::Machine& machine_;
  std::vector<model::Constant> found_;
};

void Collector::chains_and_streams() {
  for (const Named& each : kLatencies) put_latency(each.name, read(each.item));
  for (const Named& each : kWideForwards)
    if (read(each.item).is_known()) put_latency(each.name, read(each.item));
  if (read("forward_neon chain").is_known())
    put_latency("store_forward_128_latency_cycles", read("forward_neon chain"));
  for (const Named& each : kRates) put_rate(each.name, read(each.item));
  put_latency("int_div_occupancy_cycles", read("int_div stream"));
}

void Collector::constants() {
  for (const Named& each : kConstants) {
    const model::Constant* constant = find_constant(machine_, each.item);
    if (constant == nullptr) {
      add(each.name, "cycles");
      continue;
    }
    model::Constant& copy = add(each.name, "cycles");
    copy = *constant;
    copy.name = each.name;
  }
}

const model::Roof* Collector::roof(model::RoofKind kind, const std::string& isa,
                                   const std::string& op, const std::string& level) const {
  const auto at = std::ranges::find_if(machine_.roofs, [&](const model::Roof& each) {
    return each.kind == kind && each.threads == 1 && each.isa == isa && each.op == op &&
           each.level == level && (each.precision.empty() || each.precision == "dp") &&
           each.verdict != model::Verdict::unavailable;
  });
  return at == machine_.roofs.end() ? nullptr : &*at;
}

// Of all widths: the widest instructions are not always the quickest.
const model::Roof* Collector::best_walk(const std::string& op, const std::string& level) const {
  const model::Roof* best = nullptr;
  for (const std::string& isa : machine_.isas) {
    const model::Roof* walk = roof(model::RoofKind::bandwidth, isa, op, level);
    if (walk != nullptr && (best == nullptr || walk->per_cycle > best->per_cycle)) best = walk;
  }
  return best;
}

void Collector::put_of_roof(const std::string& name, const std::string& unit,
                            const model::Roof* roof, double factor) {
  if (roof == nullptr) {
    add(name, unit);
    return;
  }
  const double value = roof->per_cycle * factor;
  const double median = value * (roof->best > 0 ? roof->median / roof->best : 1);
  put(name, unit, value, median, roof->spread, roof->verdict);
}

// From the peaks of one thread: operations per cycle, shared out over the lanes of an instruction.
void Collector::arithmetic_rates() {
  for (const Width& width : kWidths) {
    if (std::ranges::find(machine_.isas, width.isa) == machine_.isas.end()) continue;
    const double lanes = width.bytes / 8;
    for (const char* op : {"add", "mul", "fma"}) {
      const model::Roof* peak = roof(model::RoofKind::flops, width.isa, op, "");
      put_of_roof("fp_" + std::string(op) + width.suffix + "_per_cycle", "per_cycle", peak,
                  1 / (lanes * (op[0] == 'f' ? 2 : 1)));
    }
    for (const char* op : {"div", "sqrt"}) {
      const model::Roof* peak = roof(model::RoofKind::flops, width.isa, op, "");
      const std::string name = "fp_" + std::string(op) + width.suffix + "_occupancy_cycles";
      if (peak == nullptr || peak->per_cycle <= 0)
        add(name, "cycles");
      else
        put(name, "cycles", lanes / peak->per_cycle,
            lanes / peak->per_cycle * peak->best / peak->median, peak->spread, peak->verdict);
    }
  }
}

void Collector::memory_rates() {
  for (const Width& width : kWidths) {
    if (std::ranges::find(machine_.isas, width.isa) == machine_.isas.end()) continue;
    for (const char* op : {"load", "store"})
      put_of_roof("fp_" + std::string(op) + width.suffix + "_per_cycle", "per_cycle",
                  roof(model::RoofKind::bandwidth, width.isa, op, "L1"), 1 / width.bytes);
  }
}

void Collector::bandwidths() {
  const std::string widest = machine_.isas.empty() ? std::string() : machine_.isas.back();
  for (const auto& [level, name] :
       {std::pair{"L1", "l1"}, {"L2", "l2"}, {"L3", "l3"}, {"DRAM", "dram"}})
    for (const char* op : {"load", "store", "copy"})
      put_of_roof(std::string(name) + "_" + op + "_bytes_per_cycle", "bytes_per_cycle",
                  best_walk(op, level), 1);
  // One stream alone is not a roof where several reach more: its trial tells.
  const auto one = std::ranges::find_if(plan_.items, [&](const Item& item) {
    return item.latency.empty() && item.roof.level == "DRAM" && item.roof.isa == widest &&
           item.roof.op == "load" && item.roof.threads == 1 && item.roof.streams == 1;
  });
  const std::string name = "dram_one_stream_bytes_per_cycle";
  if (one == plan_.items.end() || one->trial.estimate.best() <= 0) {
    add(name, "bytes_per_cycle");
    return;
  }
  const Estimate& estimate = one->trial.estimate;
  const double clock = bench_.clock_of(one->trial);
  put(name, "bytes_per_cycle", estimate.best() / clock, estimate.median() / clock,
      estimate.spread(), estimate.verdict(one->tolerance));
  const model::Constant* latency = known("dram_latency_cycles");
  put_estimate("dram_stream_lines_in_flight", "lines",
               latency == nullptr ? std::nullopt
                                  : std::optional(estimate.best() / clock * latency->value / kLine),
               estimate.spread() + (latency == nullptr ? 0 : latency->spread),
               estimate.verdict(one->tolerance),
               "derived: the bandwidth of one stream times the latency of memory", kNotHere);
}

void Collector::issue_width() {
  const model::Roof* peak = roof(model::RoofKind::instructions, "scalar", "mixed", "");
  put_of_roof("issue_width_per_cycle", "per_cycle", peak, 1);
  if (peak != nullptr) found_.back().origin = "measured: " + peak->mix;
}

std::vector<CostPoint> Collector::curve(const char* name, std::span<const int> counts,
                                        Of of) const {
  std::vector<CostPoint> points;
  for (const int count : counts) {
    const Reading reading = read(name + std::to_string(count));
    if (reading.is_known())
      points.push_back(
          {static_cast<double>(count), of == Of::memory ? reading.median : reading.cycles});
  }
  return points;
}

void Collector::put_estimate(const std::string& name, const std::string& unit,
                             std::optional<double> value, double spread, model::Verdict verdict,
                             const std::string& origin, const std::string& why) {
  put(name, unit, value.value_or(0), value.value_or(0), spread, verdict, origin);
  if (!value) found_.back().why = why;
}

void Collector::in_flight_at_once() {
  const auto put_chases = [&](const char* name, const char* chases, const char* alone, Of of) {
    const Reading one = read(alone);
    put_estimate(
        name, "lines",
        in_flight(of == Of::memory ? one.median : one.cycles, curve(chases, parallel_chases(), of)),
        one.spread, one.verdict, "measured: chases side by side until more gain nothing",
        "no ring for the chases could be made");
  };
  put_chases("dram_misses_in_flight", kMemoryChases, "Mem_lat", Of::memory);
  put_chases("l3_hits_in_flight", kCacheChases, "L3_lat", Of::cache);
}

void Collector::reorder_window() {
  const auto step = step_of(curve(kSpacedChases, window_fillers(), Of::memory));
  put_estimate("reorder_window_instructions", "instructions",
               step ? std::optional(step->count) : std::nullopt, step ? step->uncertainty : 0,
               model::Verdict::stable,
               "measured: two misses so many instructions apart no longer overlap",
               "two misses overlap, or not, at all distances that were tried");
}

void Collector::translation(const std::vector<CostPoint>& extra_by_pages) {
  const Reading walk = difference(read("tlb_pages"), read("tlb_dense"));
  put_estimate("page_walks_in_flight", "walks",
               in_flight(walk.cycles, curve(kPageChases, parallel_chases(), Of::cache)),
               walk.spread, walk.verdict, "measured: chases through pages side by side",
               "too little memory for a test beyond the TLB");
  const TlbEntries entries = tlb_entries(extra_by_pages);
  const std::string why = "the cost of more pages shows no step";
  put_estimate("dtlb_entries", "entries", entries.first, 0, model::Verdict::stable,
               "measured: where pages of 4 KiB begin to cost", why);
  put_estimate("dtlb_second_latency_cycles", "cycles", entries.second_cycles, 0,
               model::Verdict::stable, "measured: what pages cost beyond the first level", why);
  put_estimate("dtlb_second_entries", "entries", entries.second, 0, model::Verdict::stable,
               "measured: where pages of 4 KiB begin to cost a walk", why);
}

void Collector::small_pages() {
  const Reading byte = read(kSmallPageStream);
  put("dram_small_pages_bytes_per_cycle", "bytes_per_cycle", byte.is_known() ? 1 / byte.cycles : 0,
      byte.is_known() ? 1 / byte.median : 0, byte.spread, byte.verdict,
      "measured: one stream of loads through pages of 4 KiB");
}

void Collector::cache_share() {
  const auto level = std::ranges::find(machine_.levels, "L3", &model::Level::name);
  const bool found = level != machine_.levels.end() && level->found && level->knee > 0;
  put_estimate("l3_effective_bytes", "bytes",
               found ? std::optional(static_cast<double>(level->knee)) : std::nullopt, 0,
               model::Verdict::stable, "measured: the knee of the sweep",
               "the sweep shows no plateau of L3");
}

void Collector::code() {
  const Reading byte = read(kCodeInL2);
  const double rate = byte.is_known() ? 1 / byte.cycles : 0;
  put("code_l2_bytes_per_cycle", "bytes_per_cycle", rate, byte.is_known() ? 1 / byte.median : 0,
      byte.spread, byte.verdict);
  const model::Constant* latency = known("l2_latency_cycles");
  const bool is_known = byte.is_known() && latency != nullptr;
  put_estimate("code_lines_in_flight", "lines",
               is_known ? std::optional(rate * latency->value / kLine) : std::nullopt, byte.spread,
               byte.verdict, "derived: the rate of code from L2 times the latency of L2", kNotHere);
}

void Collector::branches() {
  const Reading steady = read("branch_steady");
  const Reading random = read("branch_random");
  const bool is_known = steady.is_known() && random.is_known();
  put_estimate("branch_pattern_branches", "branches",
               is_known ? remembered(steady.cycles, random.cycles,
                                     curve(kBranchPattern, pattern_lengths(), Of::cache))
                        : std::nullopt,
               random.spread, random.verdict,
               "measured: random branches that repeat themselves, half of them mispredicted",
               kNotHere);
}

void Collector::atomics() {
  const Reading both = read(kAtomicAndLoad);
  const Reading atomic = read("Atomic_lat");
  const bool is_known = both.is_known() && atomic.is_known();
  // A load that begins before the atomic has finished may cost nothing at all.
  put_estimate("load_after_atomic_cycles", "cycles",
               is_known ? std::optional(std::max(0.01, both.cycles - atomic.cycles)) : std::nullopt,
               both.spread, both.verdict, "measured: a load behind each atomic addition", kNotHere);
}

}  // namespace

std::vector<model::Constant> core_parameters(const Plan& plan, const Workbench& bench,
                                             const model::Machine& machine,
                                             const std::vector<CostPoint>& extra_by_pages) {
  Collector collector(plan, bench, machine);
  collector.issue_width();
  collector.reorder_window();
  collector.chains_and_streams();
  collector.constants();
  collector.arithmetic_rates();
  collector.memory_rates();
  collector.bandwidths();
  collector.in_flight_at_once();
  collector.translation(extra_by_pages);
  collector.small_pages();
  collector.cache_share();
  collector.code();
  collector.branches();
  collector.atomics();
  return collector.take();
}

}  // namespace loft::machine
