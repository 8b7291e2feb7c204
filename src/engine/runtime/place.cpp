#include "engine/runtime/place.hpp"

#include "engine/runtime/arena.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/call_totals.hpp"
#include "engine/runtime/calls.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/lanes.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/stream.hpp"
#include "engine/runtime/thresholds.hpp"
#include "engine/runtime/trace.hpp"
#include "engine/runtime/translate.hpp"

extern "C" {
void engine_resume();
void engine_resume_end();
void engine_syscall();
void engine_syscall_stack();
void engine_syscall_flags();
void engine_syscall_unwind();
void engine_syscall_instruction();
void engine_syscall_done();
void engine_syscall_end();
}

namespace loft::engine::runtime {
namespace {

std::uint64_t& reg(ucontext_t* user, int which) {
  return reinterpret_cast<std::uint64_t&>(user->uc_mcontext.gregs[which]);
}

// ucontext's order of the registers that the hardware numbers 0 to 7.
constexpr int kGreg[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI};

// The last point at or before the offset.
const MapPoint* find_point(const Trace& trace, std::uint64_t offset) {
  const MapPoint* found = nullptr;
  for (std::uint32_t i = 0; i < trace.points && trace.map[i].code <= offset; ++i)
    found = &trace.map[i];
  return found;
}

// The place behind the system call that the context is in, and its trace.
struct CallPlace {
  const Trace* trace;
  std::uint32_t offset;
  const MapPoint* after;
};

CallPlace place_of_call(const Context* context) {
  const Trace* trace = find_trace_at(context->syscall_return);
  const auto offset = static_cast<std::uint32_t>(context->syscall_return - word(trace->code));
  return {trace, offset, find_point(*trace, offset)};
}

Place in_syscall(Context* context, ucontext_t* user, std::uint64_t rip) {
  const CallPlace call = place_of_call(context);
  if (rip >= word(&engine_syscall_done)) {
    const std::uint64_t pc = call.trace->pc + call.after->pc;
    reg(user, REG_RCX) = pc;
    return {Where::program, pc};
  }
  if (rip > word(&engine_syscall_stack) && rip <= word(&engine_syscall_unwind))
    reg(user, REG_RSP) = context->spill2;
  if (rip >= word(&engine_syscall_flags) && rip < word(&engine_syscall_unwind))
    reg(user, REG_EFL) = *reinterpret_cast<const std::uint64_t*>(context->engine_stack - 8);
  // The kernel starts an interrupted call again by going back to the instruction, which then ran.
  const bool ran =
      rip == word(&engine_syscall_instruction) && reg(user, REG_RCX) == word(&engine_syscall_done);
  if (!ran) take_back_call(context, user);
  return {Where::program, call.trace->pc + (call.after - 1)->pc};
}

void give_back_registers(Context* context, ucontext_t* user, const MapPoint& point) {
  if (point.point == Point::branch_spilled) {
    reg(user, REG_RAX) = context->spill0;
    reg(user, REG_RCX) = context->spill1;
  } else if (point.point == Point::lent) {
    reg(user, kGreg[point.reg]) = context->spill2;
  }
}

Instruction instruction_at(const Trace& trace, const MapPoint& point) {
  const BlockPoint& block = trace.block[point.block];
  const BlockEntry& entry = recorded_block(block.number);
  const std::uint32_t start = point.pc - block.pc;
  Instruction instruction;
  decode_instruction(trace.pc + point.pc, recorded_code(entry) + start, entry.size - start,
                     instruction);
  return instruction;
}

// The instruction will look at its mask again, and count what is left of it then.
void take_back_lanes(Context* context, const ucontext_t* user, const Trace& trace,
                     const MapPoint& point) {
  const Instruction instruction = instruction_at(trace, point);
  for (std::uint32_t i = 0; i < instruction.unit_count; ++i) {
    const std::uint64_t lanes = lanes_of(*user, instruction.units[i]);
    context->counters()[trace.units[point.ahead - 1u + i]] -= lanes;
    add_unit_totals(context, instruction, i, 0 - lanes);
  }
}

}  // namespace

void take_back_call(Context* context, ucontext_t* user) {
  const CallPlace call = place_of_call(context);
  const MapPoint& before = call.after[-1];
  const std::uint32_t part = uncount_rest(context, *call.trace, call.offset, before);
  leave_stream(context, user, *call.trace, before, call.offset, part);
}

std::uint64_t leave_block(Context* context, std::uint32_t threshold) {
  const Trace& trace = *find_trace_at(context->resume);
  const auto offset = static_cast<std::uint32_t>(context->resume - word(trace.code));
  const MapPoint& point = *find_point(trace, offset);
  const bool is_at_start = point.block == 0 && point.index == 0;
  if (is_at_start && trace.entered != 0) interrupt_entry(context);
  uncount_rest(context, trace, offset, point);
  context->next_pc = trace.pc + point.pc;
  return recorded_weight(recorded_block(trace.block[point.block].number), threshold);
}

Place locate(Context* context, ucontext_t* user, bool fault) {
  const std::uint64_t rip = reg(user, REG_RIP);
  if (rip >= word(&engine_syscall) && rip < word(&engine_syscall_end))
    return in_syscall(context, user, rip);
  if (rip >= word(&engine_resume) && rip < word(&engine_resume_end)) return {Where::resuming, 0};
  if (arena_of(rip) == nullptr) return {Where::engine, 0};
  const Trace* trace = find_trace_at(rip);
  if (trace == nullptr) return {Where::between, 0};
  const std::uint64_t offset = rip - word(trace->code);
  const MapPoint* point = find_point(*trace, offset);
  if (point == nullptr || point->code != offset) return {Where::between, 0};
  if (point->point == Point::repeating) {
    context->counters()[trace->units[point->reg]] -= reg(user, REG_RCX);
    forget_distances(context);
    add_unit_totals(context, instruction_at(*trace, *point), 0,
                    context->iterations - reg(user, REG_RCX));
  } else if (point->point != Point::clean && !(fault && point->point != Point::ours)) {
    return {Where::between, 0};
  }
  give_back_registers(context, user, *point);
  const bool is_at_start = point->block == 0 && point->index == 0;
  if (is_at_start && trace->entered != 0 && offset >= trace->entered) interrupt_entry(context);
  if (point->ahead != 0) take_back_lanes(context, user, *trace, *point);
  const std::uint32_t part =
      uncount_rest(context, *trace, static_cast<std::uint32_t>(offset), *point);
  if (point->index < recorded_block(trace->block[point->block].number).instructions)
    leave_stream(context, user, *trace, *point, static_cast<std::uint32_t>(offset), part);
  return {Where::program, trace->pc + point->pc};
}

}  // namespace loft::engine::runtime
