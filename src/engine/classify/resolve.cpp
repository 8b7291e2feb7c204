#include "engine/classify/resolve.hpp"

#include <cpuid.h>

#include <bit>
#include <cstring>
#include <utility>

namespace loft::engine {
namespace {

constexpr std::uint64_t kDirectionFlag = 1u << 10;

std::uint64_t value_of(ZydisRegister reg, const RegisterState& state) {
  if (reg == ZYDIS_REGISTER_NONE) return 0;
  if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP) return state.next_rip;
  const int number = general_number(reg);
  if (number < 0) return 0;
  const std::uint64_t whole = state.general[static_cast<std::size_t>(number)];
  switch (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
    case 8:
      return whole & 0xFF;
    case 16:
      return whole & 0xFFFF;
    case 32:
      return whole & 0xFFFFFFFF;
    default:
      return whole;
  }
}

std::int64_t signed_value_of(ZydisRegister reg, const RegisterState& state) {
  const std::uint64_t value = value_of(reg, state);
  switch (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
    case 16:
      return static_cast<std::int16_t>(value);
    case 32:
      return static_cast<std::int32_t>(value);
    default:
      return static_cast<std::int64_t>(value);
  }
}

const std::uint8_t* bytes_of(ZydisRegister reg, const RegisterState& state) {
  if (const int number = vector_number(reg); number >= 0)
    return state.vector[static_cast<std::size_t>(number)].data();
  return reinterpret_cast<const std::uint8_t*>(
      &state.mmx[static_cast<std::size_t>(ZydisRegisterGetId(reg)) & 7]);
}

// Bit i is set when lane i is active.
std::uint64_t active_lanes(const UnitSource& source, const RegisterState& state) {
  const std::uint64_t all = source.lanes >= 64 ? ~0ull : (1ull << source.lanes) - 1;
  if (source.unit <= Unit::mask_fold) {
    const auto number = static_cast<std::size_t>(ZydisRegisterGetId(source.reg)) & 7;
    const std::uint64_t active = state.opmask[number] & all;
    return source.unit == Unit::mask_fold ? fold_lanes(active, source.lanes, source.elements)
                                          : active;
  }
  std::uint64_t active = 0;
  const std::uint8_t* const bytes = bytes_of(source.reg, state);
  for (unsigned lane = 0; lane < source.lanes; ++lane)
    if (bytes[lane * source.lane_bytes + source.lane_bytes - 1u] >> 7) active |= 1ull << lane;
  return active;
}

std::uint64_t lanes_of(const InstructionFacts& facts, const RegisterState& state) {
  for (const UnitSource& source : facts.unit_sources())
    if (source.unit >= Unit::mask_lanes && source.unit <= Unit::sign_any)
      return active_lanes(source, state);
  return ~0ull;
}

int tile_number(const InstructionFacts& facts) { return ZydisRegisterGetId(facts.sources[0].reg); }

// Follows one access.
class Resolver {
 public:
  Resolver(const InstructionFacts& facts, const RegisterState& state, std::vector<Touch>& touched)
      : facts_(facts), state_(state), touched_(touched) {}

  void add(const MemoryAccess& access) {
    switch (access.pattern) {
      case Pattern::plain:
        return touch(access, address(access), access.size);
      case Pattern::cache_line:
        return touch(access, address(access) & ~63ull, access.size);
      case Pattern::masked:
        return add_masked(access);
      case Pattern::packed:
        return add_packed(access);
      case Pattern::any_lane:
        if (lanes_of(facts_, state_) != 0) touch(access, address(access), access.size);
        return;
      case Pattern::vector:
        return add_vector(access);
      case Pattern::bit_string:
        return add_bit_string(access);
      case Pattern::tile_rows:
        return add_tile(access);
      case Pattern::state:
        return touch(access, address(access), static_cast<std::uint32_t>(state_bytes()));
      case Pattern::repeated:
      case Pattern::enter_copy:
        return;  // interleaved: see add_step()
    }
  }

  // Step `i` of a repeated string instruction or of enter's copies.
  void add_step(const MemoryAccess& access, std::uint64_t i) {
    if (access.pattern == Pattern::repeated) {
      const bool down = (state_.rflags & kDirectionFlag) != 0;
      const std::uint64_t moved = i * access.size;
      touch(access, cut(access, address(access) + (down ? 0 - moved : moved)), access.size);
    } else {
      touch(access, address(access) - (i + 1) * access.size, access.size);
    }
  }

 private:
  static std::uint64_t cut(const MemoryAccess& access, std::uint64_t address) {
    return access.address_bits == 32 ? address & 0xFFFFFFFF : address;
  }
  [[nodiscard]] std::uint64_t segment(const MemoryAccess& access) const {
    if (access.segment == ZYDIS_REGISTER_FS) return state_.fs_base;
    return access.segment == ZYDIS_REGISTER_GS ? state_.gs_base : 0;
  }
  [[nodiscard]] std::uint64_t address(const MemoryAccess& access) const {
    std::uint64_t sum =
        value_of(access.base, state_) + static_cast<std::uint64_t>(access.displacement);
    if (access.pattern != Pattern::vector && access.pattern != Pattern::tile_rows)
      sum += value_of(access.index, state_) * access.scale;
    return cut(access, sum) + segment(access);
  }
  void touch(const MemoryAccess& access, std::uint64_t address, std::uint32_t size) {
    touched_.push_back({address, size, access.is_store});
  }
  void add_masked(const MemoryAccess& access) {
    const std::uint64_t active = lanes_of(facts_, state_);
    const std::uint64_t start = address(access);
    for (unsigned lane = 0; lane < access.lanes;) {
      unsigned end = lane;
      while (end < access.lanes && (active >> end & 1) != 0) ++end;
      if (end > lane) touch(access, start + lane * access.size, (end - lane) * access.size);
      lane = end + 1;
    }
  }
  void add_packed(const MemoryAccess& access) {
    const auto count = static_cast<std::uint32_t>(std::popcount(lanes_of(facts_, state_)));
    if (count != 0) touch(access, address(access), count * access.size);
  }
  void add_vector(const MemoryAccess& access) {
    const std::uint64_t active = lanes_of(facts_, state_);
    const std::uint8_t* const indices = bytes_of(access.index, state_);
    for (unsigned lane = 0; lane < access.lanes; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      std::int64_t index = 0;
      if (access.index_bytes == 4) {
        std::int32_t narrow = 0;
        std::memcpy(&narrow, indices + lane * 4, 4);
        index = narrow;
      } else {
        std::memcpy(&index, indices + lane * 8, 8);
      }
      const std::uint64_t sum = value_of(access.base, state_) +
                                static_cast<std::uint64_t>(access.displacement) +
                                static_cast<std::uint64_t>(index) * access.scale;
      touch(access, cut(access, sum) + segment(access), access.size);
    }
  }
  void add_bit_string(const MemoryAccess& access) {
    const std::int64_t offset = bit_string_offset(signed_value_of(access.bit, state_), access.size);
    touch(access, address(access) + static_cast<std::uint64_t>(offset), access.size);
  }
  void add_tile(const MemoryAccess& access) {
    const TileShape shape = tile_shape(state_.tile_config, tile_number(facts_));
    const std::uint64_t stride = value_of(access.index, state_) * access.scale;
    for (unsigned row = shape.start_row; row < shape.rows; ++row)
      touch(access, address(access) + row * stride, shape.row_bytes);
  }
  [[nodiscard]] std::uint64_t state_bytes() const {
    const std::uint64_t asked = (state_.general[kRdx] << 32) | (state_.general[kRax] & 0xFFFFFFFF);
    return xsave_bytes(asked & state_.xcr0);
  }

  const InstructionFacts& facts_;
  const RegisterState& state_;
  std::vector<Touch>& touched_;
};

std::uint64_t tile_operations(const InstructionFacts& facts, const RegisterState& state) {
  const TileShape result = tile_shape(state.tile_config, facts.tiles[0]);
  const TileShape left = tile_shape(state.tile_config, facts.tiles[1]);
  return std::uint64_t{result.rows} * (result.row_bytes / 4) * (left.row_bytes / 4);
}

}  // namespace

void resolve(const InstructionFacts& facts, const RegisterState& state, std::uint64_t iterations,
             std::vector<Touch>& touched) {
  Resolver resolver(facts, state, touched);
  std::uint64_t steps = 0;
  for (const MemoryAccess& access : facts.memory()) {
    if (access.pattern == Pattern::repeated) steps = iterations;
    if (access.pattern == Pattern::enter_copy) steps = access.lanes;
  }
  bool stepped = false;
  for (const MemoryAccess& access : facts.memory()) {
    const bool in_steps =
        access.pattern == Pattern::repeated || access.pattern == Pattern::enter_copy;
    if (!in_steps) {
      resolver.add(access);
      continue;
    }
    if (std::exchange(stepped, true)) continue;
    for (std::uint64_t i = 0; i < steps; ++i)
      for (const MemoryAccess& member : facts.memory())
        if (member.pattern == access.pattern) resolver.add_step(member, i);
  }
}

std::uint64_t units_of(const InstructionFacts& facts, const UnitSource& source,
                       const RegisterState& state, std::uint64_t iterations, bool taken) {
  switch (source.unit) {
    case Unit::none:
    case Unit::count_:
      return 0;
    case Unit::taken:
      return taken ? 1 : 0;
    case Unit::iterations:
      return iterations;
    case Unit::mask_lanes:
    case Unit::mask_fold:
    case Unit::sign_lanes:
      return static_cast<std::uint64_t>(std::popcount(active_lanes(source, state)));
    case Unit::mask_any:
    case Unit::sign_any:
      return active_lanes(source, state) != 0 ? 1 : 0;
    case Unit::state_bytes:
      return xsave_bytes(((state.general[kRdx] << 32) | (state.general[kRax] & 0xFFFFFFFF)) &
                         state.xcr0);
    case Unit::tile_rows:
      return tile_shape(state.tile_config, ZydisRegisterGetId(source.reg)).rows;
    case Unit::tile_bytes: {
      const TileShape shape = tile_shape(state.tile_config, ZydisRegisterGetId(source.reg));
      return std::uint64_t{shape.rows} * shape.row_bytes;
    }
    case Unit::tile_ops:
      return tile_operations(facts, state);
  }
  return 0;
}

TileShape tile_shape(const std::array<std::uint8_t, 64>& config, int number) {
  if (number < 0 || number > 7 || config[0] == 0) return {};
  const auto at = static_cast<std::size_t>(number);
  const unsigned row_bytes = config[16 + at * 2] | config[17 + at * 2] << 8;
  return {config[48 + at], row_bytes, config[1]};
}

std::uint64_t xsave_bytes(std::uint64_t components) {
  constexpr std::uint64_t kLegacyAndHeader = 512 + 64;
  std::uint64_t bytes = kLegacyAndHeader;
  for (unsigned component = 2; component < 63; ++component) {
    if ((components >> component & 1) == 0) continue;
    unsigned size = 0, offset = 0, flags = 0, unused = 0;
    if (__get_cpuid_count(0xD, component, &size, &offset, &flags, &unused) != 0) bytes += size;
  }
  return bytes;
}

}  // namespace loft::engine
