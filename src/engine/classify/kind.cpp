#include "engine/classify/kind.hpp"

namespace loft::engine {
namespace {

template <class E, std::size_t N>
std::string_view pick(const std::string_view (&names)[N], E value) {
  static_assert(N == static_cast<std::size_t>(E::count_), "a name for each value");
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view{"?"};
}

constexpr std::string_view kClasses[] = {
    "int_arith",
    "int_mul",
    "int_div",
    "int_logic",
    "int_shift",
    "int_bit",
    "int_compare",
    "int_move",
    "int_extend",
    "lea",
    "cmov",
    "setcc",
    "stack",
    "string",
    "flag_control",
    "cond_branch",
    "loop_branch",
    "jump",
    "indirect_jump",
    "call",
    "indirect_call",
    "return",
    "syscall",
    "interrupt",
    "atomic",
    "fence",
    "prefetch",
    "cache_control",
    "nop",
    "x87_arith",
    "x87_transcendental",
    "x87_compare",
    "x87_move",
    "x87_control",
    "mmx",
    "amd3dnow",
    "fp_arith",
    "fp_compare",
    "fp_convert",
    "fp_move",
    "fp_logic",
    "fp_shuffle",
    "fp_other",
    "simd_arith",
    "simd_mul",
    "simd_compare",
    "simd_logic",
    "simd_shift",
    "simd_move",
    "simd_shuffle",
    "simd_convert",
    "simd_other",
    "gather",
    "scatter",
    "mask",
    "amx_compute",
    "amx_move",
    "amx_config",
    "crypto",
    "random",
    "timer",
    "cpu_state",
    "system",
    "transaction",
    "other",
};
constexpr std::string_view kOperations[] = {
    "none", "add",   "sub", "addsub",     "mul", "div",         "sqrt",        "min",      "max",
    "rcp",  "rsqrt", "fma", "horizontal", "dot", "complex_mul", "complex_fma", "quad_fma",
};
constexpr std::string_view kPrecisions[] = {"none", "hp", "bf16", "sp", "dp"};
constexpr std::string_view kWidths[] = {"none", "scalar", "64", "128", "256", "512", "tile"};
constexpr std::string_view kBranches[] = {"none", "conditional",   "loop",  "jump", "indirect_jump",
                                          "call", "indirect_call", "return"};
constexpr std::string_view kOperandSizes[] = {"none", "8", "16", "32", "64"};
constexpr std::string_view kAccessSizes[] = {"none", "1",  "2",  "4",      "8",    "10",
                                             "16",   "32", "64", "masked", "other"};
constexpr std::string_view kForms[] = {"none",    "stack",   "absolute", "rip_relative", "base",
                                       "indexed", "segment", "string",   "vector",       "tile"};
constexpr std::string_view kUnits[] = {"none",        "taken",     "iterations", "mask_lanes",
                                       "mask_any",    "mask_fold", "sign_lanes", "sign_any",
                                       "state_bytes", "tile_rows", "tile_bytes", "tile_ops"};

}  // namespace

std::string_view name_of(InsnClass value) { return pick(kClasses, value); }
std::string_view name_of(FpOp value) { return pick(kOperations, value); }
std::string_view name_of(Precision value) { return pick(kPrecisions, value); }
std::string_view name_of(Width value) { return pick(kWidths, value); }
std::string_view name_of(BranchKind value) { return pick(kBranches, value); }
std::string_view name_of(OperandSize value) { return pick(kOperandSizes, value); }
std::string_view name_of(AccessSize value) { return pick(kAccessSizes, value); }
std::string_view name_of(AddressForm value) { return pick(kForms, value); }
std::string_view name_of(Unit value) { return pick(kUnits, value); }

}  // namespace loft::engine
