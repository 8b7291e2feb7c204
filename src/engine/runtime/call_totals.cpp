#include "engine/runtime/call_totals.hpp"

#include "engine/call_layout.hpp"
#include "engine/runtime/calls.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/thresholds.hpp"
#include "engine/runtime/translation.hpp"

namespace loft::engine::runtime {
namespace {

std::uint32_t total_offset(std::uint32_t event, std::uint32_t block) {
  return counter_offset(total_counter(event, block % kTotalLanes));
}

void weigh(const InstructionFacts& facts, std::int32_t* totals) {
  for (std::uint32_t i = 0; i < g_call_order.events; ++i)
    totals[i] += fixed_weight(facts, g_call_order.event[i]);
}

}  // namespace

void weigh_totals(const Block& block, std::int32_t* totals) {
  for (std::uint32_t i = 0; i < kMaxCallEvents; ++i) totals[i] = 0;
  InstructionFacts facts;
  for (std::uint32_t at = 0; at < block.count; ++at) {
    const Instruction& instruction = block.instructions[at];
    if (describe_instruction(instruction.bytes, instruction.length, facts)) weigh(facts, totals);
  }
}

void correct_totals(Context* context, const BlockEntry& block, std::uint32_t index, int rounds) {
  std::int32_t ran[kMaxCallEvents] = {};
  std::int32_t whole[kMaxCallEvents] = {};
  const std::uint8_t* bytes = recorded_code(block);
  InstructionFacts facts;
  std::uint32_t at = 0;
  for (std::uint32_t size = block.size; size != 0; size -= facts.length, bytes += facts.length) {
    if (!describe_instruction(bytes, size, facts)) break;
    weigh(facts, whole);
    if (at++ < index) weigh(facts, ran);
  }
  for (std::uint32_t i = 0; i < g_call_order.events; ++i)
    context->counters()[total_counter(i, 0)] +=
        static_cast<std::uint64_t>(std::int64_t{rounds} * whole[i] + ran[i]);
}

void add_unit_totals(Context* context, const Instruction& instruction, std::uint32_t unit,
                     std::uint64_t count) {
  if (!has_calls()) return;
  for (std::uint32_t i = 0; i < g_call_order.events; ++i)
    context->counters()[total_counter(i, 0)] +=
        static_cast<std::uint64_t>(
            std::int64_t{weight_of_unit(instruction, unit, g_call_order.event[i])}) *
        count;
}

// Behind the block's counter, where the flags are dead unless `position` is kNoDeadFlags.
void Translation::emit_totals(std::uint32_t position, std::uint8_t amount) {
  const std::uint32_t number = block_points_[blocks_ - 1].number;
  if (position == kNoDeadFlags) {
    emit_.store_context(CTX_SPILL2, kRax);
    emit_totals_without_flags(emit_, amount);
    emit_.load_context(kRax, CTX_SPILL2);
    return;
  }
  for (std::uint32_t i = 0; i < g_call_order.events; ++i) {
    const std::int32_t weight = totals_[i] * amount;
    if (weight == 0) continue;
    const bool is_short = weight == static_cast<std::int8_t>(weight);
    emit_.put(0x65, 0x48, is_short ? 0x83 : 0x81, 0x04, 0x25);  // add qword gs:[total], weight
    emit_.put_32(total_offset(i, number));
    if (is_short)
      emit_.put(weight);
    else
      emit_.put_32(static_cast<std::uint32_t>(weight));
  }
}

// rax is free.
void Translation::emit_totals_without_flags(Emitter& emit, std::uint32_t rounds) {
  const std::uint32_t number = block_points_[blocks_ - 1].number;
  for (std::uint32_t i = 0; i < g_call_order.events; ++i) {
    if (totals_[i] == 0) continue;
    emit.load_context(kRax, total_offset(i, number));
    emit.put(0x48, 0x8D, 0x80);  // lea rax, [rax + weight]
    emit.put_32(static_cast<std::uint32_t>(totals_[i]) * rounds);
    emit.store_context(total_offset(i, number), kRax);
  }
}

void Translation::emit_iteration_totals(const Instruction& instruction) {
  const std::uint32_t number = block_points_[blocks_ - 1].number;
  for (std::uint32_t i = 0; i < g_call_order.events; ++i)
    if (const std::int32_t weight = weight_of_unit(instruction, 0, g_call_order.event[i]);
        weight > 0)
      emit_iterations(total_offset(i, number), static_cast<std::uint32_t>(weight));
}

// Inside the sequence of a unit: rcx is how many, flags are free.
void Translation::emit_unit_totals(const Instruction& instruction, std::uint32_t unit) {
  const std::uint32_t number = block_points_[blocks_ - 1].number;
  for (std::uint32_t i = 0; i < g_call_order.events; ++i)
    if (const std::int32_t weight = weight_of_unit(instruction, unit, g_call_order.event[i]);
        weight != 0)
      emit_unit_product(total_offset(i, number), static_cast<std::uint32_t>(weight));
}

}  // namespace loft::engine::runtime
