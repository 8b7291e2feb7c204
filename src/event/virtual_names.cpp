#include "event/virtual_names.hpp"

#include <algorithm>

namespace loft::event {
namespace {

constexpr VirtualName kNames[] = {
    {"instructions", "", false, "Instructions executed; a rep-prefixed one counts once"},
    {"loads", "", false, "Memory reads by instructions"},
    {"stores", "", false, "Memory writes by instructions"},
    {"load_bytes", "B", false, "Bytes read by instructions"},
    {"store_bytes", "B", false, "Bytes written by instructions"},
    {"branches", "", false, "Branch instructions"},
    {"branches_taken", "", false, "Branch instructions that were taken"},
    {"calls", "", false, "Call instructions"},
    {"returns", "", false, "Return instructions"},
    {"fp_scalar_sp", "", false, "Scalar single-precision arithmetic instructions"},
    {"fp_scalar_dp", "", false, "Scalar double-precision arithmetic instructions"},
    {"fp_128_sp", "", false, "128-bit single-precision arithmetic instructions"},
    {"fp_128_dp", "", false, "128-bit double-precision arithmetic instructions"},
    {"fp_256_sp", "", false, "256-bit single-precision arithmetic instructions"},
    {"fp_256_dp", "", false, "256-bit double-precision arithmetic instructions"},
    {"fp_512_sp", "", false, "512-bit single-precision arithmetic instructions"},
    {"fp_512_dp", "", false, "512-bit double-precision arithmetic instructions"},
    {"flops_sp", "", false, "Single-precision operations; a fused multiply-add counts two"},
    {"flops_dp", "", false, "Double-precision operations; a fused multiply-add counts two"},
    {"flops", "", false, "Floating-point operations of both precisions"},
    {"x87", "", false, "x87 arithmetic instructions"},
    {"syscalls", "", false, "System calls"},
    {"l1i_misses", "", true, "Misses of the modelled level 1 instruction cache"},
    {"l1d_accesses", "", true, "Accesses to the modelled level 1 data cache"},
    {"l1d_misses", "", true, "Misses of the modelled level 1 data cache"},
    {"l2_misses", "", true, "Misses of the modelled level 2 cache"},
    {"l3_misses", "", true, "Misses of the modelled level 3 cache"},
    {"dtlb_misses", "", true, "Misses of the modelled data TLB"},
    {"itlb_misses", "", true, "Misses of the modelled instruction TLB"},
    {"branch_misses", "", true, "Branches that the modelled predictor got wrong"},
};

}  // namespace

std::span<const VirtualName> virtual_names() { return kNames; }

std::optional<std::uint64_t> find_virtual_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const VirtualName& entry) { return entry.name == name; });
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<std::uint64_t>(found - std::begin(kNames));
}

}  // namespace loft::event
