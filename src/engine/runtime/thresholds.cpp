#include "engine/runtime/thresholds.hpp"

#include <linux/futex.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "engine/runtime/alarms.hpp"
#include "engine/runtime/arena.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/translation.hpp"

namespace loft::engine::runtime {
namespace {

// Those that loft watches; the program's own (alarms.hpp) are there only when there are none.
std::uint32_t count_of_loft() {
  const std::uint32_t count = shared_header()->thresholds.load(std::memory_order_relaxed);
  return count < kMaxThresholds ? count : kMaxThresholds;
}

const EventRule& rule_of(std::uint32_t threshold) {
  return count_of_loft() != 0 ? shared_header()->threshold[threshold] : alarm_rule(threshold);
}

std::uint32_t distance_offset(std::uint32_t threshold) {
  return counter_offset(kFirstDistance + threshold);
}

std::uint32_t positive(std::int32_t value) {
  return value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

// It may have been killed: its lock ends with it.
bool has_keeper() {
  auto& state = shared_header()->has_keeper;
  if (state.load() == 0) return false;
  if (is_locked(1)) return true;
  state = 0;
  return false;
}

void set_distances(Context* context, std::int64_t distance) {
  for (std::uint32_t i = 0; i < threshold_count(); ++i)
    __atomic_store_n(&context->counters()[kFirstDistance + i], static_cast<std::uint64_t>(distance),
                     __ATOMIC_RELAXED);
}

}  // namespace

std::int32_t fixed_weight(const InstructionFacts& facts, const EventRule& rule) {
  return rule.meets(facts.kind) ? facts.kind.fixed[rule.measure] : 0;
}

std::int32_t weight_of_unit(const Instruction& instruction, std::uint32_t unit,
                            const EventRule& rule) {
  InstructionFacts facts;
  if (!describe_instruction(instruction.bytes, instruction.length, facts)) return 0;
  if (!rule.meets(facts.kind)) return 0;
  for (const UnitEffect& effect : facts.kind.units)
    if (effect.unit == instruction.units[unit].unit) return effect.each[rule.measure];
  return 0;
}

std::uint32_t threshold_count() { return count_of_loft() != 0 ? count_of_loft() : g_alarm_count; }

bool is_alarm() { return count_of_loft() == 0; }

namespace {

// Adds what an instruction counts whenever it runs.
void weigh(const InstructionFacts& facts, std::uint32_t* weights) {
  for (std::uint32_t i = 0; i < threshold_count(); ++i)
    weights[i] += positive(fixed_weight(facts, rule_of(i)));
}

}  // namespace

bool weigh_block(const Block& block, std::uint32_t* weights) {
  const std::uint32_t count = threshold_count();
  for (std::uint32_t i = 0; i < count; ++i) weights[i] = 0;
  InstructionFacts facts;
  for (std::uint32_t at = 0; at < block.count && count != 0; ++at) {
    const Instruction& instruction = block.instructions[at];
    if (describe_instruction(instruction.bytes, instruction.length, facts)) weigh(facts, weights);
  }
  bool any = false;
  for (std::uint32_t i = 0; i < count; ++i) any = any || weights[i] != 0;
  return any;
}

void correct_distances(Context* context, const BlockEntry& block, std::uint32_t index,
                       bool counted) {
  const std::uint32_t count = threshold_count();
  if (count == 0) return;
  std::uint32_t ran[kMaxThresholds] = {};
  std::uint32_t left[kMaxThresholds] = {};
  const std::uint8_t* bytes = recorded_code(block);
  InstructionFacts facts;
  std::uint32_t at = 0;
  for (std::uint32_t size = block.size; size != 0; size -= facts.length, bytes += facts.length) {
    if (!describe_instruction(bytes, size, facts)) return forget_distances(context);
    weigh(facts, at++ < index ? ran : left);
  }
  std::uint64_t* distances = context->counters() + kFirstDistance;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (counted) distances[i] -= left[i];
    if (!counted) distances[i] += ran[i];
  }
}

std::uint64_t recorded_weight(const BlockEntry& block, std::uint32_t threshold) {
  std::uint32_t weights[kMaxThresholds] = {};
  const std::uint8_t* bytes = recorded_code(block);
  InstructionFacts facts;
  for (std::uint32_t size = block.size; size != 0; size -= facts.length, bytes += facts.length) {
    if (!describe_instruction(bytes, size, facts)) break;
    weigh(facts, weights);
  }
  return weights[threshold];
}

std::uint32_t unit_weight(const Instruction& instruction, std::uint32_t unit,
                          std::uint32_t threshold) {
  return positive(weight_of_unit(instruction, unit, rule_of(threshold)));
}

void await_distance(Context* context, std::uint32_t threshold) {
  SharedHeader* header = shared_header();
  SlotEntry& slot = slot_of(context);
  if (!has_keeper()) return set_distances(context, -kFarthest);
  slot.threshold_signal = 0;
  __atomic_store_n(&slot.threshold_call, threshold + 1, __ATOMIC_RELEASE);
  header->threshold_calls.fetch_add(1);
  kernel(SYS_futex, word(&header->threshold_calls), FUTEX_WAKE, 1);
  while (const std::uint32_t call = __atomic_load_n(&slot.threshold_call, __ATOMIC_ACQUIRE)) {
    const timespec tenth{0, 100000000};
    const long result =
        kernel(SYS_futex, word(&slot.threshold_call), FUTEX_WAIT, call, word(&tenth));
    if (result == -ETIMEDOUT && !has_keeper()) {
      slot.threshold_call = 0;
      return set_distances(context, -kFarthest);
    }
  }
  if (slot.threshold_signal != 0)
    kernel(SYS_tgkill, static_cast<std::uint64_t>(kernel(SYS_getpid)),
           static_cast<std::uint64_t>(kernel(SYS_gettid)), slot.threshold_signal);
}

void forget_distances(Context* context) { set_distances(context, 0); }

// The way to loft and back to `from`, for when rcx is in spill2 or (`is_spilled` false) the
// program's own.
std::uint8_t* Translation::way_to_threshold(std::uint32_t threshold, bool is_spilled,
                                            const std::uint8_t* back) {
  std::uint8_t* way = take_cold(*trace_->arena, 72);
  Emitter cold(way);
  if (!is_spilled) cold.store_context(CTX_SPILL2, kRcx);
  cold.load_value(kRcx, word(back));
  cold.store_context(CTX_RESUME, kRcx);
  cold.load_context(kRcx, CTX_SPILL2);
  cold.store_context_value(CTX_EXIT_LINK, threshold);
  cold.jump_context(CTX_THRESHOLD);
  return way;
}

// Behind the block's counter, where the flags are dead unless `position` is kNoDeadFlags. All are
// added to before the thread can stop, so that a block has added to all or none.
void Translation::emit_thresholds(std::uint32_t position) {
  if (!has_weights_) return;
  const bool may_change_flags = position != kNoDeadFlags;
  for (std::uint32_t i = 0; i < threshold_count(); ++i) {
    if (weights_[i] == 0) continue;
    if (may_change_flags) {
      emit_.put(0x65, 0x48, 0x81, 0x04, 0x25);  // add qword gs:[distance], weight
      emit_.put_32(distance_offset(i));
      emit_.put_32(weights_[i]);
    } else {
      emit_.store_context(CTX_SPILL2, kRcx);
      emit_.load_context(kRcx, distance_offset(i));
      emit_.put(0x48, 0x8D, 0x89);  // lea rcx, [rcx + weight]
      emit_.put_32(weights_[i]);
      emit_.store_context(distance_offset(i), kRcx);
      emit_.load_context(kRcx, CTX_SPILL2);
    }
  }
  if (is_stepping_) return;  // the dispatcher looks behind the instruction
  for (std::uint32_t i = 0; i < threshold_count(); ++i) {
    if (weights_[i] == 0) continue;
    if (may_change_flags)
      emit_sign_check(i);
    else
      emit_distance_check(i);
  }
}

// Where flags may be changed. The last addition of several left those of another distance.
void Translation::emit_sign_check(std::uint32_t threshold) {
  emit_.put(0x65, 0xF6, 0x04, 0x25);  // test byte gs:[distance + 7], 0x80
  emit_.put_32(distance_offset(threshold) + 7);
  emit_.put(0x80);
  emit_.put(0x0F, 0x84);  // jz
  std::uint8_t* displacement = emit_.at();
  emit_.put_32(0);
  const std::uint8_t* way = way_to_threshold(threshold, false, emit_.at());
  const auto distance = static_cast<std::int32_t>(way - emit_.at());
  std::memcpy(displacement, &distance, sizeof distance);
  point(Point::clean);
}

// Without touching a flag: the highest byte is 0 when the thread has to ask.
void Translation::emit_distance_check(std::uint32_t threshold) {
  emit_.store_context(CTX_SPILL2, kRcx);
  emit_.put(0x65, 0x0F, 0xB6, 0x0C, 0x25);  // movzx ecx, byte gs:[distance + 7]
  emit_.put_32(distance_offset(threshold) + 7);
  emit_.put(0xE3, 2, 0xEB, 5, 0xE9);  // jrcxz ask; jmp past it; ask: jmp to the way
  std::uint8_t* displacement = emit_.at();
  emit_.put_32(0);
  constexpr std::uint32_t kLoadBytes = 9;  // of the load behind
  const std::uint8_t* behind = emit_.at();
  const std::uint8_t* way = way_to_threshold(threshold, true, behind + kLoadBytes);
  const auto distance = static_cast<std::int32_t>(way - behind);
  std::memcpy(displacement, &distance, sizeof distance);
  emit_.load_context(kRcx, CTX_SPILL2);
  point(Point::clean);
}

// Behind an instruction whose units count, and what the stream keeps of it.
void Translation::emit_unit_thresholds(const Instruction& instruction) {
  if (instruction.unit_count == 0 || threshold_count() == 0) return;
  ++index_;
  at_pc_ = instruction.next_pc();
  std::uint32_t weights[kMaxThresholds] = {};
  for (std::uint32_t i = 0; i < threshold_count(); ++i)
    for (std::uint32_t unit = 0; unit < instruction.unit_count; ++unit)
      weights[i] |= unit_weight(instruction, unit, i);
  point(Point::ours);
  const bool is_repeated = instruction.units[0].unit == Unit::iterations;
  for (std::uint32_t i = 0; i < threshold_count() && is_repeated; ++i)
    if (weights[i] != 0) emit_iterations(distance_offset(i), weights[i]);
  for (std::uint32_t i = 0; i < threshold_count(); ++i)
    if (weights[i] != 0 && !is_stepping_) emit_distance_check(i);
  --index_;
  at_pc_ = instruction.pc;
}

// How many there were: what was left before less what is left now.
void Translation::emit_iterations(std::uint32_t counter, std::uint32_t weight) {
  emit_.store_context(CTX_SPILL2, kRcx);
  emit_.store_context(CTX_SPILL1, kRax);
  emit_.put(0x48, 0xF7, 0xD1);  // not rcx, which leaves the flags alone
  emit_.load_context(kRax, CTX_ITERATIONS);
  emit_.put(0x48, 0x8D, 0x44, 0x08, 0x01);  // lea rax, [rax + rcx + 1]
  emit_.load_context(kRcx, counter);
  for (std::uint32_t left = weight; left != 0;) {
    const int scale = left >= 8 ? 3 : 31 - __builtin_clz(left);
    emit_.put(0x48, 0x8D, 0x0C, scale << 6 | 0x01);  // lea rcx, [rcx + rax * 2^scale]
    left -= 1u << scale;
  }
  emit_.store_context(counter, kRcx);
  emit_.load_context(kRax, CTX_SPILL1);
  emit_.load_context(kRcx, CTX_SPILL2);
}

// Inside the sequence of a unit: rcx is how many, flags are free.
void Translation::emit_unit_distances(const Instruction& instruction, std::uint32_t unit) {
  for (std::uint32_t i = 0; i < threshold_count(); ++i) {
    const std::uint32_t weight = unit_weight(instruction, unit, i);
    if (weight != 0) emit_unit_product(distance_offset(i), weight);
  }
}

// Adds rcx times the weight to a counter; flags are free.
void Translation::emit_unit_product(std::uint32_t counter, std::uint32_t weight) {
  emit_.store_context(CTX_SPILL2, kRcx);
  emit_.put(0x48, 0x69, 0xC9);  // imul rcx, rcx, weight
  emit_.put_32(weight);
  emit_.put(0x65, 0x48, 0x01, 0x0C, 0x25);  // add gs:[counter], rcx
  emit_.put_32(counter);
  emit_.load_context(kRcx, CTX_SPILL2);
}

}  // namespace loft::engine::runtime
