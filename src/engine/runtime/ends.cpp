// How a block ends: branches, calls, returns, system calls.
#include <cstring>
#include <span>

#include "engine/runtime/arena.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/thresholds.hpp"
#include "engine/runtime/translation.hpp"
#include "engine/runtime/unknown.hpp"

namespace loft::engine::runtime {

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
    case Flow::door:
      emit_door(last);
      return true;
    case Flow::jump:
      if (can_follow(last)) {
        falls_from_ = record_taken(block_points_[blocks_ - 1].number);
        counts_taken_ = true;
        next_pc_ = last.target;
        return true;
      }
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
      if (last.length == 0) {
        emit_.put(0x0F, 0x0B);
        return false;
      }
      emit_.bytes(last.bytes, last.length);
      emit_jump_to(last.pc | kBehindUnknown);
      return false;
    default:
      stop(Message("cannot run ").add(last.reason).add(" at ").add_place(last.pc));
  }
}

// Where a branch goes: straight to the target's trace, or to a stub that has it made.
std::uint8_t* Translation::way_to(std::uint64_t target, std::uint8_t* displacement) {
  // Every loop of direct branches has one that does not lead forward.
  const bool polls = target <= at_pc_;
  const Trace* known = target == trace_->pc ? trace_ : find_trace(target, trace_->version);
  if (known != nullptr && !is_stepping_) {
    std::uint8_t* entry = polls ? entry_with_poll(*known) : known->code;
    if (fits_32(entry - displacement)) return entry;
  }
  const std::uint32_t number = add_link({target, displacement, trace_->arena, polls, is_stepping_});
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

// A branch that leads forward mostly falls through. Then it counts when it is taken, and the block
// that follows has no counter. Thresholds, totals of calls and the stream need to know each block.
bool Translation::is_seldom_taken(const Instruction& branch) const {
  return branch.target > branch.pc && !has_stream_ && !has_calls_ && threshold_count() == 0;
}

// A jump that leads forward, and not far, needs no code: the trace goes on where it leads. The
// block there runs as often as this one, as one does behind a branch that is never taken.
bool Translation::can_follow(const Instruction& jump) const {
  return !is_stepping_ && is_seldom_taken(jump) && !is_checked_ && jump.target < region_.end &&
         jump.target - trace_->pc <= kFarthestBlock && blocks_ < kMaxBlocksOfTrace - 1 &&
         find_trace(jump.target, trace_->version) == nullptr;
}

// The ways of branches that count when they are taken, behind the rest of the trace: not in the
// way, but near.
void Translation::emit_counted_exits() {
  if (exit_count_ != 0) point(Point::ours);
  for (const Exit& exit : std::span(exits_, exit_count_)) {
    const auto distance = static_cast<std::int32_t>(emit_.at() - (exit.displacement + 4));
    std::memcpy(exit.displacement, &distance, sizeof distance);
    at_pc_ = exit.pc;
    if (promises_code() && are_flags_dead(exit.target, region_.start, region_.end)) {
      emit_.add_context_changing_flags(counter_offset(exit.counter), 1);
    } else {
      emit_.count_without_flags(counter_offset(exit.counter), 1);
    }
    emit_jump_to(exit.target);
  }
}

void Translation::emit_conditional(const Instruction& branch) {
  if (is_seldom_taken(branch)) {
    point(Point::clean);
    emit_.put(0x0F, 0x80 | condition_of(branch));
    falls_from_ = record_taken(block_points_[blocks_ - 1].number);
    counts_taken_ = true;
    exits_[exit_count_++] = {emit_.at(), branch.pc, branch.target, falls_from_};
    emit_.put_32(0);
    return;
  }
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
  if (falls_from_ == 0 || counts_taken_) return;
  const std::uint32_t number =
      record_block(next_pc_, region_.mapping, nullptr, 0, 0, BlockKind::fall_through);
  record_fall(falls_from_, number);
  if (skips_blocks_) return;
  point(Point::ours);
  emit_.count_without_flags(counter_offset(number), 1);
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

// Loads the operand of a jmp or call through a register or memory into rax, instead of going there.
void Translation::load_target(const Instruction& branch) {
  constexpr std::int64_t kLoadBytes = 7;
  const std::int64_t distance =
      static_cast<std::int64_t>(branch.rip_target - word(emit_.at())) - kLoadBytes;
  if (branch.rip_offset != 0 && fits_32(distance)) {
    emit_.put(0x48, 0x8B, 0x05);  // mov rax, [rip + distance]
    emit_.put_32(static_cast<std::uint32_t>(distance));
    return;
  }
  if (branch.rip_offset != 0) {
    emit_.load_value(kRax, branch.rip_target);
    emit_.put(0x48, 0x8B, 0x00);  // mov rax, [rax]
    return;
  }
  const std::uint8_t* bytes = branch.bytes;
  const std::uint32_t opcode_at = branch.modrm_offset - 1u;
  std::uint8_t rex = 0x48;
  for (std::uint32_t i = 0; i < opcode_at; ++i) {
    if (bytes[i] == 0x64 || bytes[i] == 0x67) emit_.put(bytes[i]);
    if (bytes[i] >> 4 == 4) rex = static_cast<std::uint8_t>(0x48 | (bytes[i] & 3));
  }
  emit_.put(rex, 0x8B, bytes[opcode_at + 1] & 0xC7);
  emit_.bytes(bytes + opcode_at + 2, branch.length - opcode_at - 2);
}

void Translation::emit_indirect(const Instruction& branch) {
  point(Point::clean);
  emit_.store_context(CTX_SPILL0, kRax);
  emit_.store_context(CTX_SPILL1, kRcx);
  point(Point::branch_spilled);
  load_target(branch);
  if (branch.flow == Flow::call_indirect) {
    point(Point::branch_spilled);
    emit_return_address(branch.next_pc());
  } else {
    emit_exit();
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
  emit_exit();
  emit_lookup();
}

// Where the region starts: whoever is outside goes in.
void Translation::emit_region_entry() {
  index_ = 0;
  at_pc_ = trace_->pc;
  point(Point::clean);
  emit_.store_context(CTX_SPILL1, kRcx);
  point(Point::ours);
  emit_.load_context(kRcx, CTX_REGION_OUTSIDE);
  emit_.put(0xE3, 0);  // jrcxz past the way in
  std::uint8_t* skip = emit_.at();
  emit_.load_value(kRcx, trace_->pc);
  emit_.store_context(CTX_NEXT_PC, kRcx);
  emit_.put(0x48, 0x8D, 0x0D);  // lea rcx, [rip + past the jump]
  emit_.put_32(8);
  emit_.jump_context(CTX_REGION_ENTER);
  skip[-1] = static_cast<std::uint8_t>(emit_.at() - skip);
  emit_.load_context(kRcx, CTX_SPILL1);
}

// What follows in the next `way_out` bytes happens when rsp has risen above the limit.
void Translation::emit_exit_check(std::uint8_t way_out) {
  point(Point::ours);
  emit_.load_context(kRcx, CTX_REGION_CHECK);
  emit_.put(0x48, 0x8D, 0x0C, 0x0C);  // lea rcx, [rsp + rcx]
  emit_.put(0x48, 0x0F, 0xC9);        // bswap rcx
  emit_.put(0x0F, 0xB6, 0xC9);        // movzx ecx, cl
  emit_.put(0xE3, 2);                 // jrcxz to the way out
  emit_.put(0xEB, way_out);
}

// rax: the target, rcx free. Leaves when rsp has risen above that of the region, or of a call.
void Translation::emit_exit() {
  if (!has_calls_ && !has_region_) return;
  constexpr std::uint8_t kWayOut = 15;
  emit_exit_check(kWayOut);
  emit_.put(0x48, 0x8D, 0x0D);  // lea rcx, [rip + past the jump]
  emit_.put_32(8);
  emit_.jump_context(has_calls_ ? CALLS_LEAVE : CTX_REGION_LEAVE);
}

// rax: the target. Jumps to the first entry code for its low 16 bits, which checks the rest.
void Translation::emit_lookup() {
  point(Point::ours);
  if (is_stepping_) return emit_.jump(trace_->arena->miss);
  emit_.put(0x0F, 0xB7, 0xC8);  // movzx ecx, ax
  emit_.put(0xFF, 0x24, 0xCD);  // jmp [rcx * 8 + table]
  emit_.put_32(indirect_table(trace_->version));
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

}  // namespace loft::engine::runtime
