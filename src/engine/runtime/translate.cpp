#include "engine/runtime/translate.hpp"

#include <cstring>
#include <initializer_list>
#include <new>

#include "engine/runtime/arena.hpp"
#include "engine/runtime/call_totals.hpp"
#include "engine/runtime/calls.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/entries.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/protect.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/thresholds.hpp"
#include "engine/runtime/translation.hpp"
#include "engine/runtime/units.hpp"

namespace loft::engine::runtime {

Translation::Translation(std::uint64_t pc, Version version, bool indirect, const Region& region)
    : emit_(nullptr),
      region_(region),
      next_pc_(pc),
      indirect_(indirect),
      has_region_(has_region()),
      has_calls_(has_calls()),
      skips_blocks_(has_calls_ && g_call_order.skips_blocks != 0),
      has_stream_(version == Version::streaming),
      is_stepping_(version == Version::stepping),
      stream_(emit_) {
  trace_ = static_cast<Trace*>(allocate(sizeof(Trace)));
  trace_->pc = pc;
  trace_->live = true;
  trace_->version = version;
  trace_->arena = arena_near(pc);
}

Trace* Translation::run() {
  // The check of the indirect entry and the poll stand right in front of the code, which starts at
  // a multiple of 16.
  constexpr std::uint64_t kEntryBytes = 39;
  const std::uint64_t front = (indirect_ ? kEntryBytes : 0) + poll_size();
  auto* start = reinterpret_cast<std::uint8_t*>((word(trace_->arena->hot) + front + 15) & ~15ull);
  trace_->code = start;
  if (indirect_ && emit_indirect_entry(*trace_, start - front, true) != entry_with_poll(*trace_))
    stop(Message("the engine's indirect entry has an unexpected size"));
  if (poll_size() != 0) Emitter(entry_with_poll(*trace_)).store_context(kPollOffset, kRsp);
  emit_ = Emitter(start);
  while (add_block()) {
  }
  emit_counted_exits();
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
  if (points_ == kMaxPoints)
    stop(Message("a block has more parts than the engine foresaw, at ").add_place(trace_->pc));
  map_[points_++] = {static_cast<std::uint16_t>(emit_.at() - trace_->code),
                     static_cast<std::uint16_t>(at_pc_ - trace_->pc),
                     kind,
                     static_cast<std::uint8_t>(blocks_ - 1),
                     static_cast<std::uint8_t>(index_),
                     reg,
                     round_,
                     ahead_};
}

bool Translation::add_block() {
  const bool is_last = is_stepping_ || blocks_ + 1 == kMaxBlocksOfTrace ||
                       next_pc_ - trace_->pc > kFarthestBlock ||
                       emit_.at() - trace_->code > kLongCode || is_checked_;
  if (blocks_ != 0 && (is_last || next_pc_ >= region_.end || is_entry(next_pc_))) {
    finish_conditional_without_next();
    emit_jump_to(next_pc_);
    return false;
  }
  read_block(block_, next_pc_, region_.end, end_of_code(next_pc_));
  if (has_region_ || has_calls_) end_before_entry();
  if (has_stream_) cut_block(block_, instructions_for_stream(block_));
  if (is_stepping_) cut_block(block_, 1);
  is_checked_ = is_checked(next_pc_, next_pc_ + block_.size);
  if (is_checked_) end_behind_store();
  has_weights_ = weigh_block(block_, weights_);
  if (has_calls_) weigh_totals(block_, totals_);
  const Flow first = block_.instructions[0].flow;
  if (blocks_ != 0 && (first == Flow::refused || first == Flow::invalid ||
                       is_checked_)) {  // perhaps never reached, or entered at its top only
    finish_conditional_without_next();
    emit_jump_to(next_pc_);
    return false;
  }
  const std::uint32_t number = record_block(next_pc_, region_.mapping, block_.bytes, block_.size,
                                            block_.count, BlockKind::body);
  if (falls_from_ != 0) record_fall(falls_from_, number);
  has_counter_ = !counts_taken_;
  falls_from_ = 0;
  counts_taken_ = false;
  block_points_[blocks_++] = {
      number, 0, static_cast<std::uint16_t>(next_pc_ - trace_->pc), 1, kNoStream, 0, 0};
  knows_tiles_ = false;
  if (is_checked_) emit_check();
  if (blocks_ == 1 && is_entry(next_pc_)) emit_entry();
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

// An instruction may reach into the region behind: pages that the engine protects are apart from
// their neighbours.
std::uint64_t Translation::end_of_code(std::uint64_t pc) const {
  constexpr std::uint64_t kLongest = 15;
  if (region_.end - pc >= kMaxBlockBytes || find_region(region_.end) == nullptr) return region_.end;
  return region_.end + kLongest;
}

bool Translation::is_entry(std::uint64_t pc) const {
  return (has_region_ || has_calls_) && find_entry(pc, region_.mapping) != nullptr;
}

void Translation::emit_entry() {
  if (has_calls_) return emit_call_entry(find_entry(trace_->pc, region_.mapping)->function);
  emit_region_entry();
}

// Code may run into the function from above: its first instruction starts a trace of its own.
void Translation::end_before_entry() {
  std::uint64_t pc = next_pc_;
  for (std::uint32_t i = 0; i < block_.count; ++i) {
    if (i != 0 && is_entry(pc)) return cut_block(block_, i);
    pc += block_.instructions[i].length;
  }
}

void Translation::begin_stream() {
  index_ = 0;
  at_pc_ = block_.instructions[0].pc;
  point(Point::clean);
  BlockPoint& block = block_points_[blocks_ - 1];
  stream_.begin(block_, block.number, block, trace_->code);
  // The first instruction of the sequence is the only one that may be interrupted.
  map_[points_ - 1].point = Point::clean;
}

// Before what ends the block: its words are complete.
void Translation::end_stream() {
  point(Point::ours);
  stream_.end(block_points_[blocks_ - 1], trace_->code);
}

void Translation::emit_body() {
  if (has_stream_) begin_stream();
  const std::uint32_t number = block_points_[blocks_ - 1].number;
  const std::uint32_t position = has_counter_ ? place_of_counter() : kNoDeadFlags;
  // Without a counter it counts from its first instruction on.
  block_points_[blocks_ - 1].counted = static_cast<std::uint16_t>(emit_.at() - trace_->code);
  for (std::uint32_t i = 0; i < block_.count; ++i) {
    const Instruction& instruction = block_.instructions[i];
    index_ = i;
    at_pc_ = instruction.pc;
    if (has_counter_ && i == (position == kNoDeadFlags ? 0 : position)) {
      emit_counter(number, position, 1);
      emit_thresholds(position);
      if (has_calls_) emit_totals(position, 1);
    }
    if (has_stream_) {
      point(Point::ours);
      stream_.before(instruction);
    }
    if (has_calls_ && loads_stack(block_, i))
      emit_stack_load(instruction);
    else if (!instruction.ends_block())
      emit_plain(instruction);
    if (stream_.has_words_after()) {
      point(Point::ours);
      stream_.after();
    }
    emit_unit_thresholds(instruction);
  }
  if (has_stream_) end_stream();
}

std::uint32_t Translation::place_of_counter() const {
  // Code that may be rewritten promises nothing about what follows.
  return promises_code() ? counter_position(block_, region_.start, region_.end)
                         : counter_position(block_, 0, 0);
}

// The whole trace so far is one block that jumps back to itself.
bool Translation::is_short_loop() const {
  const Instruction& last = block_.instructions[block_.count - 1];
  if (has_stream_ || is_stepping_ || has_weights_ || is_checked_ || blocks_ != 1 ||
      trace_->entered != 0 || last.flow != Flow::conditional || last.target != trace_->pc ||
      block_.count > 24)
    return false;
  for (std::uint32_t i = 0; i < block_.count; ++i)
    if (block_.instructions[i].unit_count != 0 || (has_calls_ && loads_stack(block_, i)))
      return false;
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
      if (round_ == kRounds - 1 && i == (position == kNoDeadFlags ? 0 : position)) {
        emit_counter(number, position, kRounds);
        if (has_calls_) emit_totals(position, kRounds);
      }
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
    std::uint8_t* way = take_cold(*trace_->arena, has_calls_ ? 48 + kMaxCallEvents * 25 : 48);
    const auto distance = static_cast<std::int32_t>(way - (exits[rounds - 1] + 4));
    std::memcpy(exits[rounds - 1], &distance, sizeof distance);
    Emitter cold(way);
    cold.store_context(CTX_SPILL2, kR11);
    if (!skips_blocks_) {
      cold.load_context(kR11, counter_offset(number));
      cold.add_without_flags(kR11, static_cast<std::int8_t>(rounds));
      cold.store_context(counter_offset(number), kR11);
    }
    if (has_calls_) emit_totals_without_flags(cold, rounds, kR11);
    cold.load_context(kR11, CTX_SPILL2);
    cold.jump(emit_.at());
  }
  round_ = 0;
}

void Translation::emit_counter(std::uint32_t number, std::uint32_t position, std::uint8_t amount) {
  BlockPoint& block = block_points_[blocks_ - 1];
  block.weight = amount;
  point(Point::clean);
  if (skips_blocks_) return;  // emit_totals() counts alone
  if (position != kNoDeadFlags) {
    emit_.add_context_changing_flags(counter_offset(number), amount);
    block.counted = static_cast<std::uint16_t>(emit_.at() - trace_->code);
    return;
  }
  const int spare = spare_register(block_);
  const int reg = spare >= 0 ? spare : static_cast<int>(kR11);
  if (spare < 0) emit_.store_context(CTX_SPILL2, reg);
  emit_.load_context(reg, counter_offset(number));
  emit_.add_without_flags(reg, static_cast<std::int8_t>(amount));
  emit_.store_context(counter_offset(number), reg);
  block.counted = static_cast<std::uint16_t>(emit_.at() - trace_->code);
  if (spare < 0) emit_.load_context(reg, CTX_SPILL2);
}

void Translation::emit_plain(const Instruction& instruction) {
  if (instruction.changes_tiles) knows_tiles_ = false;
  if (instruction.unit_count == 0) return emit_copy(instruction);
  std::uint32_t* numbers = units_ + unit_count_;
  if (unit_count_ + instruction.unit_count > kMaxUnitsOfTrace)
    stop(Message("a block has more masked instructions than the engine foresaw, at ")
             .add_place(instruction.pc));
  for (std::uint32_t i = 0; i < instruction.unit_count; ++i)
    numbers[i] = record_units(block_points_[blocks_ - 1].number, index_,
                              static_cast<std::uint32_t>(instruction.units[i].unit));
  point(Point::clean);
  UnitEmitter units(emit_);
  if (instruction.units[0].unit == Unit::iterations) {
    if (threshold_count() != 0 || has_calls_) emit_.store_context(CTX_ITERATIONS, kRcx);
    units.add_iterations(counter_offset(numbers[0]));
    point(Point::repeating, static_cast<std::uint8_t>(unit_count_));
    emit_.bytes(instruction.bytes, instruction.length);
    point(Point::ours);
    units.take_back_iterations(counter_offset(numbers[0]));
    if (has_calls_) emit_iteration_totals(instruction);
  } else {
    if (!instruction.units_before) emit_copy(instruction);
    point(Point::ours);
    emit_units(instruction, numbers);
    ahead_ = static_cast<std::uint8_t>(unit_count_ + 1);
    if (instruction.units_before) emit_copy(instruction);
    ahead_ = 0;
  }
  unit_count_ += instruction.unit_count;
}

// A tile instruction has just run, so the configuration may be asked for. Where the block is left
// and entered again, it is another block that asks again.
void Translation::emit_units(const Instruction& instruction, const std::uint32_t* numbers) {
  UnitEmitter units(emit_);
  if (instruction.units[0].unit >= Unit::tile_rows && !knows_tiles_) {
    units.store_tiles();
    knows_tiles_ = true;
  }
  for (std::uint32_t i = 0; i < instruction.unit_count; ++i) {
    units.load(instruction.units[i]);
    units.add_to(counter_offset(numbers[i]));
    emit_unit_distances(instruction, i);
    if (has_calls_) emit_unit_totals(instruction, i);
    units.finish();
  }
}

void Translation::emit_copy(const Instruction& instruction) {
  point(Point::clean);
  if (instruction.uses_gs) return emit_gs(instruction);
  if (instruction.rip_offset == 0) {
    emit_.bytes(instruction.bytes, instruction.length);
    return;
  }
  const std::int64_t distance =
      static_cast<std::int64_t>(instruction.rip_target - (word(emit_.at()) + instruction.length));
  if (!fits_32(distance)) return emit_far_operand(instruction);
  std::uint8_t* copy = emit_.at();
  emit_.bytes(instruction.bytes, instruction.length);
  const auto displacement = static_cast<std::int32_t>(distance);
  std::memcpy(copy + instruction.rip_offset, &displacement, sizeof displacement);
}

// An operand out of reach: its address goes into a register that the instruction does not use.
void Translation::emit_far_operand(const Instruction& instruction) {
  std::uint32_t used = registers_touched(instruction);
  if (stream_.is_open()) used |= 1u << block_points_[blocks_ - 1].stream_register;
  std::uint8_t reg = kRax;
  for (const std::uint8_t candidate : {kRbx, kRsi, kRdi, kRdx, kRcx, kRax})
    if ((used & 1u << candidate) == 0) reg = candidate;
  if ((used & 1u << reg) != 0)
    stop(Message("no register is free for a far operand at ").add_place(instruction.pc));
  emit_.store_context(CTX_SPILL2, reg);
  emit_.load_value(reg, instruction.rip_target);
  point(Point::lent, reg);
  std::uint8_t* copy = emit_.at();
  emit_.bytes(instruction.bytes, instruction.length);
  copy[instruction.modrm_offset] =
      static_cast<std::uint8_t>((copy[instruction.modrm_offset] & 0x38) | 0x80 | reg);
  std::memset(copy + instruction.rip_offset, 0, 4);
  point(Point::lent, reg);
  emit_.load_context(reg, CTX_SPILL2);
}

namespace {

// Whether the instruction goes on where there is no more code.
bool is_cut_off(std::uint64_t pc, const Region& region) {
  constexpr std::uint64_t kLongest = 15;
  if (region.end - pc >= kLongest || find_region(region.end) != nullptr) return false;
  std::uint8_t bytes[kLongest];
  const auto available = static_cast<long>(region.end - pc);
  return read_code(bytes, pc, available) == available &&
         is_incomplete(bytes, static_cast<std::uint32_t>(available));
}

}  // namespace

Trace* translate(std::uint64_t pc, Version version, bool indirect) {
  const Region* region = find_region(pc);
  if (region == nullptr || is_cut_off(pc, *region)) return nullptr;
  static std::uint8_t memory[sizeof(Translation)] __attribute__((aligned(16)));
  Trace* trace = (new (memory) Translation(pc, version, indirect, *region))->run();
  note_pages(*trace);
  return trace;
}

std::uint32_t uncount_rest(Context* context, const Trace& trace, std::uint32_t code_offset,
                           const MapPoint& point) {
  const BlockPoint& block = trace.block[point.block];
  std::uint64_t* counters = context->counters();
  const BlockEntry& whole = recorded_block(block.number);
  const bool counted = code_offset >= block.counted;
  if (point.index >= whole.instructions) return 0;
  if (point.block > 0) {
    // The branch before fell through to here, whatever becomes of this block.
    const std::uint32_t before = trace.block[point.block - 1].number;
    if (recorded_block(before).next_fall == block.number) counters[record_extra_fall(before)] += 1;
  }
  correct_distances(context, whole, point.index, counted);
  if (has_calls())
    correct_totals(context, whole, point.index, point.round - (counted ? block.weight : 0));
  counters[block.number] += point.round;
  if (counted) counters[block.number] -= block.weight;
  if (point.index == 0) return 0;
  const std::uint32_t part = record_head(block.number, point.index, point.pc - block.pc);
  counters[part] += 1;
  return part;
}

}  // namespace loft::engine::runtime
