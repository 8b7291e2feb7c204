// What the address stream holds of a block. Both sides follow the same plan: the engine, which
// writes the stream, and whoever reads it.
//
// A record of the stream is one execution of a block: its number (8 bytes), then the words of its
// instructions in order. A word is the value of a register that an address, a mask or a count
// needs, as it was before the instruction. Where an earlier instruction of the block has given it
// and none has changed it since, it is left out. So most accesses cost nothing: relative to rip, or
// to a base that is known already.
//
//   StreamPlanner planner;
//   for (const InstructionFacts& facts : block) planner.add(facts, take);   // takes each word
#pragma once

#include <cstdint>

#include "engine/classify/facts.hpp"

namespace loft::engine {

struct StreamWord {
  enum class Kind : std::uint8_t {
    general,        // a general register
    general_after,  // the same, after the instruction: what a repeated string instruction left
    fs_base,
    gs_base,
    opmask,
    signs,   // the sign bits of a vector register's lanes, as a number
    vector,  // a whole vector register
    tiles,   // the tile configuration, as sttilecfg writes it
  };
  Kind kind = Kind::general;
  std::uint8_t number = 0;  // of the register; of `tiles`, of the one that is moved
  bool is_mmx = false;      // of `signs`
  std::uint8_t lanes = 0;   // of `signs`
  std::uint8_t lane_bytes = 0;
  std::uint8_t bytes = 8;  // in the stream; always a multiple of 8
};

class StreamPlanner {
 public:
  // Calls take(StreamWord) for the words of the block's next instruction.
  template <class Take>
  void add(const InstructionFacts& facts, Take&& take) {
    for (const MemoryAccess& access : facts.memory()) add_access(facts, access, take);
    if (facts.access_count != 0) add_mask(facts, take);
    known_ &= static_cast<std::uint16_t>(~facts.registers.written.general);
    knows_fs_ = knows_gs_ = false;
    for (const MemoryAccess& access : facts.memory()) {
      if (access.pattern != Pattern::repeated) continue;
      give(StreamWord::Kind::general_after, kRcx, take);
      give(StreamWord::Kind::general_after, general_number(access.base), take);
    }
  }

 private:
  template <class Take>
  void give(StreamWord::Kind kind, int number, Take& take) {
    if (number < 0 || (known_ & general_bit(number)) != 0) return;
    known_ |= general_bit(number);
    take(StreamWord{.kind = kind, .number = static_cast<std::uint8_t>(number)});
  }

  static StreamWord tiles_of(const InstructionFacts& facts) {
    return {.kind = StreamWord::Kind::tiles,
            .number = static_cast<std::uint8_t>(ZydisRegisterGetId(facts.sources[0].reg)),
            .bytes = 64};
  }

  template <class Take>
  void add_access(const InstructionFacts& facts, const MemoryAccess& access, Take& take) {
    for (const ZydisRegister reg : {access.base, access.index, access.bit})
      give(StreamWord::Kind::general, general_number(reg), take);
    if (access.pattern == Pattern::repeated) give(StreamWord::Kind::general, kRcx, take);
    if (access.pattern == Pattern::state) {
      give(StreamWord::Kind::general, kRax, take);
      give(StreamWord::Kind::general, kRdx, take);
    }
    if (access.segment == ZYDIS_REGISTER_FS && !knows_fs_) {
      knows_fs_ = true;
      take(StreamWord{.kind = StreamWord::Kind::fs_base});
    }
    if (access.segment == ZYDIS_REGISTER_GS && !knows_gs_) {
      knows_gs_ = true;
      take(StreamWord{.kind = StreamWord::Kind::gs_base});
    }
    if (access.pattern == Pattern::tile_rows) take(tiles_of(facts));
    if (access.pattern == Pattern::vector)
      take(StreamWord{.kind = StreamWord::Kind::vector,
                      .number = static_cast<std::uint8_t>(vector_number(access.index)),
                      .bytes = static_cast<std::uint8_t>(
                          ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, access.index) / 8)});
  }

  // The first mask is the one that resolve() asks for; others say the same in another unit.
  template <class Take>
  void add_mask(const InstructionFacts& facts, Take& take) {
    for (const UnitSource& source : facts.unit_sources()) {
      if (source.unit < Unit::mask_lanes || source.unit > Unit::sign_any) continue;
      StreamWord word{.kind = StreamWord::Kind::opmask,
                      .number = static_cast<std::uint8_t>(ZydisRegisterGetId(source.reg))};
      if (source.unit == Unit::sign_lanes || source.unit == Unit::sign_any) {
        word.kind = StreamWord::Kind::signs;
        word.is_mmx = vector_number(source.reg) < 0;
        word.lanes = source.lanes;
        word.lane_bytes = source.lane_bytes;
      }
      return take(word);
    }
  }

  std::uint16_t known_ = 0;  // general registers whose value is in the stream and still holds
  bool knows_fs_ = false;
  bool knows_gs_ = false;
};

}  // namespace loft::engine
