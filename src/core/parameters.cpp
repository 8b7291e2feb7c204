#include "core/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace loft::core {
namespace {

struct Field {
  std::string_view name;
  std::string_view unit;
  Parameter CoreParameters::*member;
  double least, most;
};

constexpr std::string_view kCycles = "cycles";
constexpr std::string_view kBandwidth = "bytes/cycle";
constexpr double kMostCycles = 100'000;

constexpr Field kFields[] = {
    {"issue_width", "", &CoreParameters::issue_width, 1, 64},
    {"retire_width", "", &CoreParameters::retire_width, 1, 64},
    {"nop_width", "", &CoreParameters::nop_width, 1, 64},
    {"reorder_window", "", &CoreParameters::reorder_window, 1, 4096},
    {"front_width", "", &CoreParameters::front_width, 1, 64},
    {"taken_per_cycle", "", &CoreParameters::taken_per_cycle, 1, 16},
    {"code_lines", "", &CoreParameters::code_lines, 1, 16},
    {"fetch_lines", "", &CoreParameters::fetch_lines, 0.1, 64},
    {"mispredict_penalty", kCycles, &CoreParameters::mispredict_penalty, 0, 1000},
    {"integer_scheduler", "", &CoreParameters::integer_scheduler, 1, 4096},
    {"vector_scheduler", "", &CoreParameters::vector_scheduler, 1, 4096},
    {"core_share", "", &CoreParameters::core_share, 0.1, 1},
    {"vector_width", "bits", &CoreParameters::vector_width, 64, 4096},
    {"fp_add_elsewhere", kCycles, &CoreParameters::fp_add_elsewhere, 0, 100},
    {"l1_latency", kCycles, &CoreParameters::l1_latency, 1, kMostCycles},
    {"vector_load_extra", kCycles, &CoreParameters::vector_load_extra, 0, 100},
    {"indexed_load_extra", kCycles, &CoreParameters::indexed_load_extra, 0, 100},
    {"l2_latency", kCycles, &CoreParameters::l2_latency, 1, kMostCycles},
    {"l3_latency", kCycles, &CoreParameters::l3_latency, 1, kMostCycles},
    {"dram_latency", kCycles, &CoreParameters::dram_latency, 1, kMostCycles},
    {"l1_load_bandwidth", kBandwidth, &CoreParameters::l1_load_bandwidth, 1, 4096},
    {"l1_store_bandwidth", kBandwidth, &CoreParameters::l1_store_bandwidth, 1, 4096},
    {"l2_bandwidth", kBandwidth, &CoreParameters::l2_bandwidth, 0.1, 4096},
    {"l3_bandwidth", kBandwidth, &CoreParameters::l3_bandwidth, 0.1, 4096},
    {"dram_bandwidth", kBandwidth, &CoreParameters::dram_bandwidth, 0.01, 4096},
    {"write_back_cost", "", &CoreParameters::write_back_cost, 0, 4},
    {"page_start", "", &CoreParameters::page_start, 0, 4},
    {"fill_buffers", "", &CoreParameters::fill_buffers, 1, 250},
    {"store_buffer", "", &CoreParameters::store_buffer, 1, 1024},
    {"forward_general", kCycles, &CoreParameters::forward_general, 0, 1000},
    {"forward_renamed", kCycles, &CoreParameters::forward_renamed, 0, 1000},
    {"forward_vector", kCycles, &CoreParameters::forward_vector, 0, 1000},
    {"forward_blocked", kCycles, &CoreParameters::forward_blocked, 0, 1000},
    {"renames", "", &CoreParameters::renames, 0, 2},
    {"second_tlb_latency", kCycles, &CoreParameters::second_tlb_latency, 0, 1000},
    {"walk_latency", kCycles, &CoreParameters::walk_latency, 0, kMostCycles},
    {"walkers", "", &CoreParameters::walkers, 1, 250},
    {"walk_to_memory", kCycles, &CoreParameters::walk_to_memory, 0, kMostCycles},
    {"transfer_latency", kCycles, &CoreParameters::transfer_latency, 1, kMostCycles},
    {"atomic_latency", kCycles, &CoreParameters::atomic_latency, 1, kMostCycles},
    {"load_after_atomic", kCycles, &CoreParameters::load_after_atomic, 0, kMostCycles},
};

// Calls `visit(name, parameter, least, most)` for all; `Core` is const or not.
template <class Core, class F>
void visit_all(Core& core, const F& visit) {
  for (const Field& field : kFields)
    visit(ParameterName{std::string(field.name), field.unit}, core.*field.member, field.least,
          field.most);
  for (std::size_t i = 1; i < kUnits; ++i)
    visit(ParameterName{fmt::format("units.{}", to_string(static_cast<Unit>(i))), ""},
          core.unit_count[i], 1.0, 64.0);
  visit(ParameterName{"units.integer_pipes", ""},
        core.cluster_count[static_cast<std::size_t>(Cluster::integer)], 1.0, 64.0);
  visit(ParameterName{"units.vector_pipes", ""},
        core.cluster_count[static_cast<std::size_t>(Cluster::vector)], 1.0, 64.0);
  for (std::size_t i = 1; i < kOps; ++i) {
    const std::string_view name = to_string(static_cast<Op>(i));
    visit(ParameterName{fmt::format("latency.{}", name), kCycles}, core.ops[i].latency, 0.0,
          10'000.0);
    visit(ParameterName{fmt::format("occupancy.{}", name), kCycles}, core.ops[i].occupancy, 1.0,
          1000.0);
  }
}

Failure bad_value(std::string_view name, double value, double least, double most) {
  return failure(ErrorKind::invalid_input, fmt::format("use {} = {}", name, value),
                 "it is out of range", fmt::format("from {} to {}", least, most));
}

}  // namespace

Result<void> check(const CoreParameters& core) {
  Result<void> result;
  visit_all(core,
            [&](const ParameterName& name, const Parameter& parameter, double least, double most) {
              if (result && !(parameter.value >= least && parameter.value <= most))
                result = bad_value(name.name, parameter.value, least, most);
            });
  return result;
}

void for_each_parameter(const CoreParameters& core,
                        const std::function<void(const ParameterName&, const Parameter&)>& visit) {
  visit_all(core, [&](const ParameterName& name, const Parameter& parameter, double, double) {
    visit(name, parameter);
  });
}

Result<void> set_parameter(CoreParameters& core, std::string_view name, double value,
                           Origin origin) {
  Result<void> result =
      failure(ErrorKind::not_found, fmt::format("set the parameter '{}'", printable(name)),
              "a core has no such parameter");
  visit_all(core, [&](const ParameterName& known, Parameter& parameter, double least, double most) {
    if (known.name != name) return;
    if (!(value >= least && value <= most)) {
      result = bad_value(name, value, least, most);
      return;
    }
    parameter = {value, origin};
    result = {};
  });
  return result;
}

Cluster cluster_of(Unit unit) {
  switch (unit) {
    case Unit::int_alu:
    case Unit::int_shift:
    case Unit::int_mul:
    case Unit::int_div:
    case Unit::branch:
      return Cluster::integer;
    case Unit::fp_add:
    case Unit::fp_mul:
    case Unit::fp_div:
    case Unit::vector_logic:
    case Unit::vector_shuffle:
    case Unit::vector_int_mul:
    case Unit::transfer:
      return Cluster::vector;
    case Unit::none:
    case Unit::load:
    case Unit::store:
    case Unit::vector_load:
    case Unit::vector_store:
    case Unit::count_:
      break;
  }
  return Cluster::none;
}

std::string_view to_string(Origin origin) {
  constexpr std::string_view kNames[] = {"measured", "documented", "assumed"};
  return kNames[static_cast<std::size_t>(origin)];
}

std::string_view to_string(Unit unit) {
  constexpr std::array<std::string_view, kUnits> kNames = {
      "none",     "int_alu", "int_shift", "int_mul",      "int_div",        "branch",
      "fp_add",   "fp_mul",  "fp_div",    "vector_logic", "vector_shuffle", "vector_int_mul",
      "transfer", "load",    "store",     "vector_load",  "vector_store"};
  return kNames[static_cast<std::size_t>(unit)];
}

}  // namespace loft::core
