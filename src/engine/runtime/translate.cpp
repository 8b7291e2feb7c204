#include "engine/runtime/translate.hpp"

#include <cstring>
#include <initializer_list>
#include <new>

#include "engine/runtime/arena.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/emitter.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/protect.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/units.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kMaxBlocksOfTrace = 8;
constexpr std::uint32_t kMaxUnitsOfTrace = 255;
constexpr std::uint32_t kMaxPoints = kMaxBlocksOfTrace * (kMaxInstructions * 4 + 16);

std::uint32_t counter_offset(std::uint32_t block) {
  return static_cast<std::uint32_t>(kCountersFromContext + std::uint64_t{block} * 8);
}

// The condition's number in the opcode of a jcc, short (7x rel8) or long (0F 8x rel32).
std::uint8_t condition_of(const Instruction& branch) {
  const bool is_long = branch.length >= 6;
  return branch.bytes[branch.length - (is_long ? 5 : 2)] & 15;
}

// Makes one trace. The state of the making lives here; the methods are the steps, top down.
class Translation {
 public:
  Translation(std::uint64_t pc, bool indirect, const Region& region);
  Trace* run();

 private:
  bool add_block();  // false when the trace ends here
  void emit_body();
  [[nodiscard]] bool is_short_loop() const;
  void emit_loop();
  [[nodiscard]] std::uint32_t place_of_counter() const;
  bool emit_end(const Instruction& last);
  void emit_plain(const Instruction& instruction);
  void emit_copy(const Instruction& instruction);
  void emit_far_operand(const Instruction& instruction);
  void emit_counter(std::uint32_t number, std::uint32_t position, std::uint8_t amount);
  void emit_conditional(const Instruction& branch);
  void emit_counted_loop(const Instruction& branch);
  void emit_return_address(std::uint64_t pc);
  void emit_indirect(const Instruction& branch);
  void emit_ret(const Instruction& branch);
  void emit_lookup();
  void emit_syscall(const Instruction& instruction);
  void emit_jump_to(std::uint64_t target);
  void finish_conditional_without_next();
  std::uint8_t* way_to(std::uint64_t target, std::uint8_t* displacement);
  void point(Point kind, std::uint8_t reg = 0);

  Emitter emit_;
  Trace* trace_;
  const Region& region_;
  Block block_;
  std::uint64_t next_pc_;
  std::uint32_t index_ = 0;         // of the instruction being emitted, in its block
  std::uint64_t at_pc_ = 0;         // its address
  std::uint32_t falls_from_ = 0;    // the block whose branch falls into the next one
  std::uint8_t round_ = 0;          // of an unrolled loop
  bool indirect_;
  std::uint32_t points_ = 0;
  std::uint32_t blocks_ = 0;
  std::uint32_t unit_count_ = 0;
  std::uint32_t units_[kMaxUnitsOfTrace];
  MapPoint map_[kMaxPoints];
  BlockPoint block_points_[kMaxBlocksOfTrace + 1];
};

Translation::Translation(std::uint64_t pc, bool indirect, const Region& region)
    : emit_(nullptr), region_(region), next_pc_(pc), indirect_(indirect) {
  trace_ = static_cast<Trace*>(allocate(sizeof(Trace)));
  trace_->pc = pc;
  trace_->live = true;
  trace_->arena = arena_near(pc);
}

Trace* Translation::run() {
  std::uint8_t* start = reinterpret_cast<std::uint8_t*>((word(trace_->arena->hot) + 15) & ~15ull);
  if (indirect_) {
    // The check stands right in front of the code, which starts at a multiple of 16.
    constexpr std::uint64_t kEntryBytes = 39;
    start = reinterpret_cast<std::uint8_t*>(((word(start) + kEntryBytes + 15) & ~15ull));
    if (emit_indirect_entry(*trace_, start - kEntryBytes, true) != start)
      stop(Message("the engine's indirect entry has an unexpected size"));
  }
  trace_->code = start;
  emit_ = Emitter(start);
  while (add_block()) {
  }
  trace_->code_size = static_cast<std::uint32_t>(emit_.at() - start);
  trace_->pc_end = next_pc_;
  trace_->arena->hot = emit_.at();
  trace_->points = static_cast<std::uint16_t>(points_);
  trace_->map = static_cast<MapPoint*>(allocate(points_ * sizeof(MapPoint), 8));
  std::memcpy(trace_->map, map_, points_ * sizeof(MapPoint));
  trace_->blocks = static_cast<std::uint8_t>(blocks_);
  trace_->block = static_cast<BlockPoint*>(allocate(blocks_ * sizeof(BlockPoint), 8));
  std::memcpy(trace_->block, block_points_, blocks_ * sizeof(BlockPoint));
  if (unit_count_ != 0) {
    trace_->units = static_cast<std::uint32_t*>(allocate(unit_count_ * sizeof(std::uint32_t), 8));
    std::memcpy(trace_->units, units_, unit_count_ * sizeof(std::uint32_t));
  }
  add_trace(trace_);
  if (indirect_) enter_in_table(*trace_);
  return trace_;
}

void Translation::point(Point kind, std::uint8_t reg) {
  if (points_ == kMaxPoints) stop(Message("a block has more parts than the engine foresaw, at ").add_place(trace_->pc));
  map_[points_++] = {static_cast<std::uint16_t>(emit_.at() - trace_->code),
                     static_cast<std::uint16_t>(at_pc_ - trace_->pc), kind,
                     static_cast<std::uint8_t>(blocks_ - 1), static_cast<std::uint8_t>(index_), reg, round_};
}

bool Translation::add_block() {
  const bool is_last = blocks_ + 1 == kMaxBlocksOfTrace || next_pc_ - trace_->pc > 8192;
  if (blocks_ != 0 && (is_last || next_pc_ >= region_.end)) {
    finish_conditional_without_next();
    emit_jump_to(next_pc_);
    return false;
  }
  read_block(block_, next_pc_, region_.end);
  if (blocks_ != 0 && block_.instructions[0].flow == Flow::refused) {  // perhaps never reached
    finish_conditional_without_next();
    emit_jump_to(next_pc_);
    return false;
  }
  const std::uint32_t number = record_block(next_pc_, block_.bytes, block_.size, block_.count, BlockKind::body);
  if (falls_from_ != 0) record_fall(falls_from_, number);
  falls_from_ = 0;
  block_points_[blocks_++] = {number, 0, static_cast<std::uint16_t>(next_pc_ - trace_->pc), 1};
  next_pc_ += block_.size;
  if (is_short_loop()) {
    emit_loop();
    return true;
  }
  emit_body();
  const Instruction& last = block_.instructions[block_.count - 1];
  index_ = block_.count - 1;
  at_pc_ = last.pc;
  if (last.ends_block()) return emit_end(last);
  return true;  // cut for its length
}

void Translation::emit_body() {
  const std::uint32_t number = block_points_[blocks_ - 1].number;
  const std::uint32_t position = place_of_counter();
  for (std::uint32_t i = 0; i < block_.count; ++i) {
    const Instruction& instruction = block_.instructions[i];
    index_ = i;
    at_pc_ = instruction.pc;
    if (i == (position == kNoDeadFlags ? 0 : position)) emit_counter(number, position, 1);
    if (!instruction.ends_block()) emit_plain(instruction);
  }
}

std::uint32_t Translation::place_of_counter() const {
  // Code that may be rewritten promises nothing about what follows.
  return region_.writable ? counter_position(block_, 0, 0) : counter_position(block_, region_.start, region_.end);
}

// The whole trace so far is one block that jumps back to itself.
bool Translation::is_short_loop() const {
  const Instruction& last = block_.instructions[block_.count - 1];
  if (blocks_ != 1 || last.flow != Flow::conditional || last.target != trace_->pc || block_.count > 24) return false;
  for (std::uint32_t i = 0; i < block_.count; ++i)
    if (block_.instructions[i].unit_count != 0) return false;
  return true;
}

// Several rounds with one counter in the last. Who leaves earlier counts his rounds on the way out.
void Translation::emit_loop() {
  constexpr std::uint8_t kRounds = 4;
  const std::uint32_t number = block_points_[0].number;
  const std::uint32_t position = place_of_counter();
  const Instruction& last = block_.instructions[block_.count - 1];
  std::uint8_t* exits[kRounds];
  for (round_ = 0; round_ < kRounds; ++round_) {
    for (std::uint32_t i = 0; i < block_.count; ++i) {
      index_ = i;
      at_pc_ = block_.instructions[i].pc;
      if (round_ == kRounds - 1 && i == (position == kNoDeadFlags ? 0 : position)) emit_counter(number, position, kRounds);
      if (i + 1 < block_.count) emit_plain(block_.instructions[i]);
    }
    if (round_ == kRounds - 1) break;
    point(Point::clean);
    exits[round_] = emit_.at() + 2;
    emit_.put(0x0F, 0x80 | (condition_of(last) ^ 1));
    emit_.put_32(0);
  }
  emit_conditional(last);
  for (std::uint8_t rounds = 1; rounds < kRounds; ++rounds) {
    std::uint8_t* way = take_cold(*trace_->arena, 48);
    const auto distance = static_cast<std::int32_t>(way - (exits[rounds - 1] + 4));
    std::memcpy(exits[rounds - 1], &distance, sizeof distance);
    Emitter cold(way);
    cold.store_context(CTX_SPILL2, kRax);
    cold.load_context(kRax, counter_offset(number));
    cold.add_without_flags(kRax, static_cast<std::int8_t>(rounds));
    cold.store_context(counter_offset(number), kRax);
    cold.load_context(kRax, CTX_SPILL2);
    cold.jump(emit_.at());
  }
  round_ = 0;
}

void Translation::emit_counter(std::uint32_t number, std::uint32_t position, std::uint8_t amount) {
  BlockPoint& block = block_points_[blocks_ - 1];
  block.weight = amount;
  point(Point::clean);
  if (position != kNoDeadFlags) {
    emit_.add_context_changing_flags(counter_offset(number), amount);
    block.counted = static_cast<std::uint16_t>(emit_.at() - trace_->code);
    return;
  }
  const int spare = spare_register(block_);
  const int reg = spare >= 0 ? spare : static_cast<int>(kRax);
  if (spare < 0) emit_.store_context(CTX_SPILL2, reg);
  emit_.load_context(reg, counter_offset(number));
  emit_.add_without_flags(reg, static_cast<std::int8_t>(amount));
  emit_.store_context(counter_offset(number), reg);
  block.counted = static_cast<std::uint16_t>(emit_.at() - trace_->code);
  if (spare < 0) emit_.load_context(reg, CTX_SPILL2);
}

void Translation::emit_plain(const Instruction& instruction) {
  if (instruction.unit_count == 0) return emit_copy(instruction);
  std::uint32_t* numbers = units_ + unit_count_;
  if (unit_count_ + instruction.unit_count > kMaxUnitsOfTrace)
    stop(Message("a block has more masked instructions than the engine foresaw, at ").add_place(instruction.pc));
  for (std::uint32_t i = 0; i < instruction.unit_count; ++i)
    numbers[i] = record_units(block_points_[blocks_ - 1].number, index_, static_cast<std::uint32_t>(instruction.units[i].unit));
  point(Point::clean);
  UnitEmitter units(emit_);
  if (instruction.units[0].unit == Unit::iterations) {
    units.add_iterations(counter_offset(numbers[0]));
    point(Point::repeating, static_cast<std::uint8_t>(unit_count_));
    emit_.bytes(instruction.bytes, instruction.length);
    point(Point::ours);
    units.take_back_iterations(counter_offset(numbers[0]));
  } else {
    if (!instruction.units_before) emit_copy(instruction);
    point(Point::ours);
    for (std::uint32_t i = 0; i < instruction.unit_count; ++i)
      units.add(instruction.units[i], counter_offset(numbers[i]));
    if (instruction.units_before) emit_copy(instruction);
  }
  unit_count_ += instruction.unit_count;
}

void Translation::emit_copy(const Instruction& instruction) {
  point(Point::clean);
  if (instruction.rip_offset == 0) {
    emit_.bytes(instruction.bytes, instruction.length);
    return;
  }
  const std::int64_t distance = static_cast<std::int64_t>(instruction.rip_target - (word(emit_.at()) + instruction.length));
  if (!fits_32(distance)) return emit_far_operand(instruction);
  std::uint8_t* copy = emit_.at();
  emit_.bytes(instruction.bytes, instruction.length);
  const auto displacement = static_cast<std::int32_t>(distance);
  std::memcpy(copy + instruction.rip_offset, &displacement, sizeof displacement);
}

// An operand out of reach: its address goes into a register that the instruction does not use.
void Translation::emit_far_operand(const Instruction& instruction) {
  const std::uint32_t used = registers_touched(instruction);
  std::uint8_t reg = kRax;
  for (const std::uint8_t candidate : {kRbx, kRsi, kRdi, kRdx, kRcx, kRax})
    if ((used & 1u << candidate) == 0) reg = candidate;
  if ((used & 1u << reg) != 0) stop(Message("no register is free for a far operand at ").add_place(instruction.pc));
  emit_.store_context(CTX_SPILL2, reg);
  emit_.load_value(reg, instruction.rip_target);
  point(Point::lent, reg);
  std::uint8_t* copy = emit_.at();
  emit_.bytes(instruction.bytes, instruction.length);
  copy[instruction.modrm_offset] = static_cast<std::uint8_t>((copy[instruction.modrm_offset] & 0x38) | 0x80 | reg);
  std::memset(copy + instruction.rip_offset, 0, 4);
  point(Point::lent, reg);
  emit_.load_context(reg, CTX_SPILL2);
}

bool Translation::emit_end(const Instruction& last) {
  switch (last.flow) {
    case Flow::conditional:
      emit_conditional(last);
      return true;
    case Flow::counted_loop:
      emit_counted_loop(last);
      return true;
    case Flow::syscall:
      emit_syscall(last);
      return true;
    case Flow::jump:
      point(Point::clean);
      emit_jump_to(last.target);
      return false;
    case Flow::call:
      point(Point::clean);
      emit_return_address(last.next_pc());
      emit_jump_to(last.target);
      return false;
    case Flow::jump_indirect:
    case Flow::call_indirect:
      emit_indirect(last);
      return false;
    case Flow::ret:
      emit_ret(last);
      return false;
    case Flow::trap:
      point(Point::clean);
      emit_.bytes(last.bytes, last.length);
      ++index_;
      at_pc_ = last.next_pc();
      point(Point::clean);  // where int3 leaves the program
      emit_jump_to(last.next_pc());
      return false;
    case Flow::invalid:
      point(Point::clean);
      emit_.put(0x0F, 0x0B);
      return false;
    default:
      stop(Message("cannot run ").add(last.reason).add(" at ").add_place(last.pc));
  }
}

// Where a branch goes: straight to the target's trace, or to a stub that has it made.
std::uint8_t* Translation::way_to(std::uint64_t target, std::uint8_t* displacement) {
  if (target == trace_->pc) return trace_->code;
  const Trace* known = find_trace(target);
  if (known != nullptr && fits_32(known->code - displacement)) return known->code;
  const std::uint32_t number = add_link({target, displacement, trace_->arena});
  std::uint8_t* stub = take_cold(*trace_->arena, 24);
  Emitter cold(stub);
  cold.store_context_value(CTX_EXIT_LINK, number);
  cold.jump_context(CTX_DISPATCH);
  return stub;
}

void Translation::emit_jump_to(std::uint64_t target) {
  emit_.align_patch(1);
  std::uint8_t* displacement = emit_.at() + 1;
  const std::uint8_t* way = way_to(target, displacement);
  emit_.put(0xE9);
  emit_.put_32(static_cast<std::uint32_t>(way - (displacement + 4)));
}

void Translation::emit_conditional(const Instruction& branch) {
  emit_.align_patch(2);
  point(Point::clean);
  std::uint8_t* displacement = emit_.at() + 2;
  const std::uint8_t* way = way_to(branch.target, displacement);
  emit_.put(0x0F, 0x80 | condition_of(branch));
  emit_.put_32(static_cast<std::uint32_t>(way - (displacement + 4)));
  falls_from_ = block_points_[blocks_ - 1].number;
}

// loop, jrcxz: taken, they hop over a short jump that stands for falling through.
void Translation::emit_counted_loop(const Instruction& branch) {
  point(Point::clean);
  emit_.bytes(branch.bytes, branch.length - 1u);
  emit_.put(2);
  std::uint8_t* skip = emit_.at();
  emit_.put(0xEB, 0);
  emit_jump_to(branch.target);
  skip[1] = static_cast<std::uint8_t>(emit_.at() - (skip + 2));
  falls_from_ = block_points_[blocks_ - 1].number;
}

// The trace ends behind a conditional branch: a counter alone says how often it fell through.
void Translation::finish_conditional_without_next() {
  if (falls_from_ == 0) return;
  const std::uint32_t number = record_block(next_pc_, nullptr, 0, 0, BlockKind::fall_through);
  record_fall(falls_from_, number);
  point(Point::ours);
  emit_.store_context(CTX_SPILL2, kRax);
  emit_.load_context(kRax, counter_offset(number));
  emit_.add_without_flags(kRax, 1);
  emit_.store_context(counter_offset(number), kRax);
  emit_.load_context(kRax, CTX_SPILL2);
}

void Translation::emit_return_address(std::uint64_t pc) {
  if (pc < 0x80000000) {
    emit_.put(0x68);
    emit_.put_32(static_cast<std::uint32_t>(pc));
  } else {
    std::uint8_t* literal = take_cold(*trace_->arena, 8);
    std::memcpy(literal, &pc, sizeof pc);
    emit_.put(0xFF, 0x35);
    emit_.put_32(static_cast<std::uint32_t>(literal - (emit_.at() + 4)));
  }
  point(Point::ours);
}

// jmp or call through a register or memory: its operand is loaded into rax instead.
void Translation::emit_indirect(const Instruction& branch) {
  point(Point::clean);
  emit_.store_context(CTX_SPILL0, kRax);
  emit_.store_context(CTX_SPILL1, kRcx);
  point(Point::branch_spilled);
  const std::uint8_t* bytes = branch.bytes;
  const std::uint32_t opcode_at = branch.modrm_offset - 1u;
  std::uint8_t rex = 0x48;
  for (std::uint32_t i = 0; i < opcode_at; ++i) {
    if (bytes[i] == 0x64 || bytes[i] == 0x67) emit_.put(bytes[i]);
    if (bytes[i] >> 4 == 4) rex = static_cast<std::uint8_t>(0x48 | (bytes[i] & 3));
  }
  if (branch.rip_offset != 0) {
    emit_.load_value(kRax, branch.rip_target);
    emit_.put(0x48, 0x8B, 0x00);  // mov rax, [rax]
  } else {
    emit_.put(rex, 0x8B, bytes[opcode_at + 1] & 0xC7);
    emit_.bytes(bytes + opcode_at + 2, branch.length - opcode_at - 2);
  }
  if (branch.flow == Flow::call_indirect) {
    point(Point::branch_spilled);
    emit_return_address(branch.next_pc());
  }
  emit_lookup();
}

void Translation::emit_ret(const Instruction& branch) {
  point(Point::clean);
  emit_.store_context(CTX_SPILL0, kRax);
  emit_.store_context(CTX_SPILL1, kRcx);
  point(Point::branch_spilled);
  emit_.put(0x58);  // pop rax
  if (branch.pop_bytes != 0) {
    emit_.put(0x48, 0x8D, 0xA4, 0x24);  // lea rsp, [rsp + n]
    emit_.put_32(branch.pop_bytes);
  }
  emit_lookup();
}

// rax: the target. Jumps to the first entry code for its low 16 bits, which checks the rest.
void Translation::emit_lookup() {
  point(Point::ours);
  emit_.put(0x0F, 0xB7, 0xC8);        // movzx ecx, ax
  emit_.put(0xFF, 0x24, 0xCD);        // jmp [rcx * 8 + table]
  emit_.put_32(indirect_table());
}

void Translation::emit_syscall(const Instruction& instruction) {
  point(Point::clean);
  emit_.put(0x48, 0x8D, 0x0D);  // lea rcx, [rip + past the jump]
  emit_.put_32(9 + 8);
  point(Point::ours);
  emit_.store_context(CTX_SYSCALL_RETURN, kRcx);
  emit_.jump_context(CTX_SYSCALL);
  ++index_;
  at_pc_ = instruction.next_pc();
  point(Point::clean);  // rcx is what the instruction leaves in it
  emit_.load_value(kRcx, instruction.next_pc());
}

}  // namespace

Trace* translate(std::uint64_t pc, bool indirect) {
  const Region* region = find_region(pc);
  if (region == nullptr) return nullptr;
  static std::uint8_t memory[sizeof(Translation)] __attribute__((aligned(16)));
  Trace* trace = (new (memory) Translation(pc, indirect, *region))->run();
  note_pages(*trace, region->writable);
  return trace;
}

void uncount_rest(Context* context, const Trace& trace, std::uint32_t code_offset, const MapPoint& point) {
  const BlockPoint& block = trace.block[point.block];
  std::uint64_t* counters = context->counters();
  const BlockEntry& whole = recorded_block(block.number);
  const bool counted = code_offset >= block.counted;
  if (point.index >= whole.instructions) return;
  if (point.block > 0) {
    // The branch before fell through to here, whatever becomes of this block.
    const std::uint32_t before = trace.block[point.block - 1].number;
    if (recorded_block(before).next_fall == block.number) counters[record_extra_fall(before)] += 1;
  }
  counters[block.number] += point.round;
  if (counted) counters[block.number] -= block.weight;
  if (point.index == 0) return;
  const std::uint64_t start = trace.pc + block.pc;
  const auto size = static_cast<std::uint32_t>(trace.pc + point.pc - start);
  std::uint8_t bytes[kMaxBlockBytes];
  if (size > sizeof bytes || engine_safe_copy(bytes, reinterpret_cast<const void*>(start), size) != size) return;
  counters[record_block(start, bytes, size, point.index, BlockKind::body)] += 1;
}

}  // namespace loft::engine::runtime
