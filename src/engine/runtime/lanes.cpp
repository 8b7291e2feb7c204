#include "engine/runtime/lanes.hpp"

#include <cpuid.h>

#include <bit>
#include <cstring>

namespace loft::engine::runtime {
namespace {

// The kernel's frame holds the xsave area in its standard form: components at fixed places, and
// those that are not in the header's mask are zero.
constexpr std::uint32_t kMmx = 32;
constexpr std::uint32_t kXmm = 160;
constexpr std::uint32_t kHeader = 512;
constexpr std::uint32_t kYmmHigh = 576;
enum Component : std::uint32_t { kSse = 1, kAvx = 2, kOpmask = 5, kTiles = 17 };

const std::uint8_t* area_of(const ucontext_t& user) {
  return reinterpret_cast<const std::uint8_t*>(user.uc_mcontext.fpregs);
}

bool has(const ucontext_t& user, Component component) {
  constexpr std::uint32_t kExtendedMagic = 0x46505853;
  const std::uint8_t* area = area_of(user);
  if (area == nullptr) return false;
  std::uint32_t magic = 0;
  std::memcpy(&magic, area + 464, sizeof magic);
  if (magic != kExtendedMagic) return component == kSse;
  std::uint64_t present = 0;
  std::memcpy(&present, area + kHeader, sizeof present);
  return (present >> component & 1) != 0;
}

std::uint32_t offset_of(Component component) {
  unsigned eax = 0;
  unsigned offset = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  __cpuid_count(13, component, eax, offset, ecx, edx);
  return offset;
}

}  // namespace

std::uint64_t opmask_of(const ucontext_t& user, unsigned number) {
  std::uint64_t value = 0;
  if (has(user, kOpmask))
    std::memcpy(&value, area_of(user) + offset_of(kOpmask) + number * sizeof value, sizeof value);
  return value;
}

std::uint64_t signs_of(const ucontext_t& user, unsigned number, unsigned lanes, unsigned lane_bytes,
                       bool is_mmx) {
  std::uint8_t bytes[32] = {};
  if (is_mmx) {
    if (area_of(user) != nullptr) std::memcpy(bytes, area_of(user) + kMmx + number * 16, 8);
  } else {
    if (has(user, kSse)) std::memcpy(bytes, area_of(user) + kXmm + number * 16, 16);
    if (has(user, kAvx)) std::memcpy(bytes + 16, area_of(user) + kYmmHigh + number * 16, 16);
  }
  std::uint64_t signs = 0;
  for (unsigned lane = 0; lane < lanes && (lane + 1) * lane_bytes <= sizeof bytes; ++lane)
    signs |= static_cast<std::uint64_t>(bytes[(lane + 1) * lane_bytes - 1] >> 7) << lane;
  return signs;
}

unsigned tile_start_row(const ucontext_t& user) {
  return has(user, kTiles) ? area_of(user)[offset_of(kTiles) + 1] : 0;
}

std::uint64_t lanes_of(const ucontext_t& user, const UnitPlan& plan) {
  const bool is_opmask = plan.unit <= Unit::mask_fold;
  const bool is_mmx = plan.lane_bytes == 1 && plan.lanes == 8;
  std::uint64_t bits = is_opmask ? opmask_of(user, plan.reg)
                                 : signs_of(user, plan.reg, plan.lanes, plan.lane_bytes, is_mmx);
  if (plan.lanes < 64) bits &= (1ull << plan.lanes) - 1;
  if (plan.unit == Unit::mask_fold) bits = fold_lanes(bits, plan.lanes, plan.elements);
  const bool is_any = plan.unit == Unit::mask_any || plan.unit == Unit::sign_any;
  return is_any ? (bits != 0 ? 1u : 0u) : static_cast<std::uint64_t>(std::popcount(bits));
}

}  // namespace loft::engine::runtime
