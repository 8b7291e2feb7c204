// The making of one trace, step by step: translate.cpp has blocks, counters and plain instructions,
// gs.cpp those that use the gs segment, door_code.cpp the door, check.cpp code that may change,
// ends.cpp what ends a block, call_setup.cpp and call_totals.cpp what is watched of calls.
#pragma once

#include <cstdint>

#include "engine/layout.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/emitter.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/stream.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {

inline constexpr std::uint32_t kMaxBlocksOfTrace = 8;
inline constexpr std::uint32_t kMaxUnitsOfTrace = 255;
inline constexpr std::uint32_t kMaxPoints =
    kMaxBlocksOfTrace * (kMaxInstructions * (7 + 2 * kMaxThresholds) + 16 + kMaxThresholds);
// Offsets in the code have 16 bits; no further block begins behind this.
inline constexpr std::int64_t kLongCode = 16384;
// Nor does one begin so many bytes behind the trace's start in the program.
inline constexpr std::uint64_t kFarthestBlock = 8192;

inline std::uint32_t counter_offset(std::uint32_t block) {
  return static_cast<std::uint32_t>(kCountersFromContext + std::uint64_t{block} * 8);
}

// The condition's number in the opcode of a jcc, short (7x rel8) or long (0F 8x rel32).
inline std::uint8_t condition_of(const Instruction& branch) {
  const bool is_long = branch.length >= 6;
  return branch.bytes[branch.length - (is_long ? 5 : 2)] & 15;
}

// Makes one trace. The state of the making lives here; the methods are the steps, top down.
class Translation {
 public:
  Translation(std::uint64_t pc, Version version, bool indirect, const Region& region);
  Trace* run();

 private:
  bool add_block();  // false when the trace ends here
  void emit_body();
  [[nodiscard]] bool is_short_loop() const;
  void end_behind_store();
  void emit_check();
  void emit_loop();
  [[nodiscard]] std::uint32_t place_of_counter() const;
  bool emit_end(const Instruction& last);
  void emit_plain(const Instruction& instruction);
  void emit_units(const Instruction& instruction, const std::uint32_t* numbers);
  // Thresholds: thresholds.cpp.
  void emit_thresholds(std::uint32_t position);
  void emit_sign_check(std::uint32_t threshold);
  void emit_distance_check(std::uint32_t threshold);
  void emit_unit_thresholds(const Instruction& instruction);
  void emit_iterations(std::uint32_t counter, std::uint32_t weight);
  void emit_unit_product(std::uint32_t counter, std::uint32_t weight);
  void emit_unit_distances(const Instruction& instruction, std::uint32_t unit);
  std::uint8_t* way_to_threshold(std::uint32_t threshold, bool is_spilled,
                                 const std::uint8_t* back);
  void emit_copy(const Instruction& instruction);
  void emit_far_operand(const Instruction& instruction);
  void emit_gs(const Instruction& instruction);
  void emit_gs_base(const Instruction& instruction);
  void emit_counter(std::uint32_t number, std::uint32_t position, std::uint8_t amount);
  void emit_conditional(const Instruction& branch);
  [[nodiscard]] bool is_seldom_taken(const Instruction& branch) const;
  [[nodiscard]] bool can_follow(const Instruction& jump) const;
  void emit_counted_exits();
  [[nodiscard]] bool promises_code() const { return !region_.writable && !region_.shared; }
  void emit_counted_loop(const Instruction& branch);
  void emit_return_address(std::uint64_t pc);
  void emit_indirect(const Instruction& branch);
  void emit_ret(const Instruction& branch);
  void emit_lookup();
  void load_target(const Instruction& branch);
  void emit_entry();
  void emit_region_entry();
  void emit_exit();
  void emit_exit_check(std::uint8_t way_out);
  // Calls: call_setup.cpp, call_totals.cpp.
  void emit_call_entry(std::uint32_t function);
  void emit_stack_load(const Instruction& instruction);
  void emit_totals(std::uint32_t position, std::uint8_t amount);
  void emit_totals_changing_flags(std::uint8_t amount);
  void emit_unit_totals(const Instruction& instruction, std::uint32_t unit);
  void emit_iteration_totals(const Instruction& instruction);
  void emit_totals_without_flags(Emitter& emit, std::uint32_t rounds, int reg);
  [[nodiscard]] std::uint64_t end_of_code(std::uint64_t pc) const;
  [[nodiscard]] bool is_entry(std::uint64_t pc) const;
  void end_before_entry();
  void begin_stream();
  void end_stream();
  void emit_syscall(const Instruction& instruction);
  void emit_door(const Instruction& instruction);  // door_code.cpp
  void emit_jump_to(std::uint64_t target);
  void finish_conditional_without_next();
  std::uint8_t* way_to(std::uint64_t target, std::uint8_t* displacement);
  void point(Point kind, std::uint8_t reg = 0);

  Emitter emit_;
  Trace* trace_;
  const Region& region_;
  Block block_;
  std::uint64_t next_pc_;
  std::uint32_t index_ = 0;       // of the instruction being emitted, in its block
  std::uint64_t at_pc_ = 0;       // its address
  std::uint32_t falls_from_ = 0;  // the block whose branch falls into the next one, or what counts
                                  // how often it does not
  bool counts_taken_ = false;     // it is the latter: the next block needs no counter
  bool has_counter_ = true;       // the block at hand counts itself
  std::uint8_t round_ = 0;        // of an unrolled loop
  std::uint8_t ahead_ = 0;        // as in MapPoint
  bool knows_tiles_ = false;      // the block has put their configuration into the context
  bool is_checked_ = false;       // the block compares its bytes before it runs
  bool indirect_;
  bool has_region_;
  bool has_calls_;
  bool skips_blocks_;
  std::int32_t totals_[kMaxCallEvents];  // what the block adds to each
  bool has_stream_;
  bool is_stepping_;
  bool has_weights_ = false;  // the block counts something that a threshold is on
  std::uint32_t weights_[kMaxThresholds];
  struct Exit {
    std::uint8_t* displacement;  // of the branch
    std::uint64_t pc;            // likewise
    std::uint64_t target;
    std::uint32_t counter;
  };
  std::uint32_t exit_count_ = 0;
  Exit exits_[kMaxBlocksOfTrace];
  StreamEmitter stream_;
  std::uint32_t points_ = 0;
  std::uint32_t blocks_ = 0;
  std::uint32_t unit_count_ = 0;
  std::uint32_t units_[kMaxUnitsOfTrace];
  MapPoint map_[kMaxPoints];
  BlockPoint block_points_[kMaxBlocksOfTrace + 1];
};

}  // namespace loft::engine::runtime
