#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <time.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "engine/classify/stream_plan.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/lanes.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/stream.hpp"
#include "engine/runtime/translation.hpp"
#include "engine/runtime/window.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint64_t kGuard = 4096;
// Not rsp; not r12, which addresses differently.
constexpr std::uint32_t kUsable = 0xFFFFu & ~(1u << 4 | 1u << 12);

constexpr int kGreg[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                         REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::uint64_t& reg(ucontext_t* user, int which) {
  return reinterpret_cast<std::uint64_t&>(user->uc_mcontext.gregs[which]);
}

std::uint64_t& place(Context* context) { return context->counters()[kNoBlock]; }

std::uint32_t used_by(const Instruction& instruction) {
  InstructionFacts facts;
  if (!describe_instruction(instruction.bytes, instruction.length, facts)) return 0;
  return facts.registers.read.general | facts.registers.written.general;
}

// Bytes of a block's record, for the instructions in `bytes`.
std::uint32_t record_bytes(const std::uint8_t* bytes, std::uint32_t size) {
  StreamPlanner planner;
  std::uint32_t sum = 8;
  InstructionFacts facts;
  while (size != 0 && describe_instruction(bytes, size, facts)) {
    planner.add(facts, [&](const StreamWord& word) { sum += word.bytes; });
    bytes += facts.length;
    size -= facts.length;
  }
  return sum;
}

// Waits until loft has read what is there.
void give_stream(Context* context, std::uint32_t bytes) {
  SharedHeader* header = shared_header();
  if (!has_reader()) return;
  SlotEntry& slot = slot_of(context);
  slot.stream_window = context->window;
  __atomic_store_n(&slot.stream_full, bytes, __ATOMIC_RELEASE);
  header->stream_calls.fetch_add(1);
  kernel(SYS_futex, word(&header->stream_calls), FUTEX_WAKE, 1);
  for (std::uint32_t left = bytes; left != 0;
       left = __atomic_load_n(&slot.stream_full, __ATOMIC_ACQUIRE)) {
    const timespec tenth{0, 100000000};
    const long result = kernel(SYS_futex, word(&slot.stream_full), FUTEX_WAIT, left, word(&tenth));
    if (result == -ETIMEDOUT && !has_reader()) return;
  }
}

// What is not finished moves to the front.
void empty_buffer(Context* context) {
  const std::uint64_t base = context->stream_base;
  const std::uint64_t unfinished = place(context);
  give_stream(context, static_cast<std::uint32_t>(unfinished - base));
  std::memmove(reinterpret_cast<void*>(base), reinterpret_cast<void*>(unfinished),
               base + kStreamBytes - unfinished);
  place(context) = base;
}

std::uint32_t record_bytes(std::uint32_t block) {
  const BlockEntry& entry = recorded_block(block);
  return record_bytes(recorded_code(entry), entry.size);
}

}  // namespace

bool has_reader() {
  auto& state = shared_header()->has_reader;
  if (state.load() != static_cast<std::uint32_t>(ReaderState::locked)) return state.load() != 0;
  if (is_locked(0)) return true;
  state = 0;
  return false;
}

void open_stream(Context* context) {
  if (context->stream_base == 0) {
    context->stream_base = word(reserve(kStreamBytes + kGuard));
    kernel(SYS_mprotect, context->stream_base + kStreamBytes, kGuard, PROT_NONE);
  }
  const long memory = map_own(Own::memory, context->stream_base, kStreamBytes,
                              kStreamsOffset + context->slot * kStreamBytes);
  if (is_error(memory)) stop(Message("no address space is left for the stream of a thread"));
  slot_of(context).stream_base = context->stream_base;
  place(context) = context->stream_base;
}

std::uint32_t instructions_for_stream(const Block& block) {
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < block.count; ++i) {
    used |= used_by(block.instructions[i]);
    if (std::popcount(kUsable & ~used) < 2) return i;
  }
  return block.count;
}

std::uint8_t StreamEmitter::begin(const Block& block, std::uint32_t number, BlockPoint& point,
                                  const std::uint8_t* code) {
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < block.count; ++i) used |= used_by(block.instructions[i]);
  const std::uint32_t free = kUsable & ~used;
  buffer_ = static_cast<std::uint8_t>(31 - std::countl_zero(free));
  scratch_ = static_cast<std::uint8_t>(std::countr_zero(free));
  emit_.store_context(CTX_STREAM_REGISTER, buffer_);
  emit_.load_context(buffer_, counter_offset(kNoBlock));
  point.stream_register = buffer_;
  point.stream_from = static_cast<std::uint16_t>(emit_.at() - code);
  emit_.put(buffer_ >= 8 ? 0x49 : 0x48, 0xC7, 0x80 | (buffer_ & 7));  // mov qword [buffer], number
  emit_.put_32(0);
  emit_.put_32(number);
  offset_ = 8;
  is_open_ = true;
  return buffer_;
}

// mov [buffer + offset], reg
void StreamEmitter::store_register(int source) {
  emit_.put(0x48 | (source >= 8 ? 4 : 0) | (buffer_ >= 8 ? 1 : 0), 0x89,
            0x80 | (source & 7) << 3 | (buffer_ & 7));
  emit_.put_32(offset_);
}

void StreamEmitter::store(const StreamWord& word) {
  const int high = scratch_ >= 8 ? 1 : 0;
  const int into = (scratch_ & 7) << 3;
  const bool spills = word.kind != StreamWord::Kind::general &&
                      word.kind != StreamWord::Kind::general_after &&
                      word.kind != StreamWord::Kind::vector && word.kind != StreamWord::Kind::tiles;
  if (spills) emit_.store_context(CTX_SPILL2, scratch_);
  switch (word.kind) {
    case StreamWord::Kind::general:
    case StreamWord::Kind::general_after:
      store_register(word.number);
      break;
    case StreamWord::Kind::fs_base:  // rdfsbase scratch
      emit_.put(0xF3, 0x48 | high, 0x0F, 0xAE, 0xC0 | (scratch_ & 7));
      store_register(scratch_);
      break;
    case StreamWord::Kind::gs_base:
      emit_.load_context(scratch_, CTX_PROGRAM_GS);
      store_register(scratch_);
      break;
    case StreamWord::Kind::opmask:  // kmovq scratch, k
      emit_.put(0xC4, high != 0 ? 0x61 : 0xE1, 0xFB, 0x93, 0xC0 | into | (word.number & 7));
      store_register(scratch_);
      break;
    case StreamWord::Kind::signs:
      if (word.is_mmx) {  // pmovmskb scratch, mm
        if (high != 0) emit_.put(0x44);
        emit_.put(0x0F, 0xD7, 0xC0 | into | (word.number & 7));
      } else if (word.lane_bytes == 1) {  // pmovmskb scratch, xmm
        emit_.put(0x66);
        if (high != 0 || word.number >= 8) emit_.put(0x40 | high << 2 | (word.number >= 8 ? 1 : 0));
        emit_.put(0x0F, 0xD7, 0xC0 | into | (word.number & 7));
      } else {  // vmovmskps or vmovmskpd scratch, xmm or ymm
        emit_.put(
            0xC4, (high != 0 ? 0x41 : 0xC1) | (word.number >= 8 ? 0 : 0x20),
            0x78 | (word.lanes * word.lane_bytes > 16 ? 4 : 0) | (word.lane_bytes == 8 ? 1 : 0),
            0x50, 0xC0 | into | (word.number & 7));
      }
      store_register(scratch_);
      break;
    case StreamWord::Kind::vector:
      store_vector(word);
      break;
    case StreamWord::Kind::tiles:  // sttilecfg [buffer + offset]
      emit_.put(0xC4, buffer_ >= 8 ? 0xC2 : 0xE2, 0x79, 0x49, 0x80 | (buffer_ & 7));
      emit_.put_32(offset_);
      break;
  }
  if (spills) emit_.load_context(scratch_, CTX_SPILL2);
  offset_ += word.bytes;
}

// vmovdqu [buffer + offset], xmm, ymm or zmm
void StreamEmitter::store_vector(const StreamWord& word) {
  const int low = word.number & 7;
  const bool wide_buffer = buffer_ >= 8;
  if (word.bytes <= 32 && word.number < 16) {
    emit_.put(0xC4, 0x41 | (word.number >= 8 ? 0 : 0x80) | (wide_buffer ? 0 : 0x20),
              0x7A | (word.bytes == 32 ? 4 : 0), 0x7F);
  } else {  // vmovdqu64 with EVEX
    const int r = (word.number & 8) != 0 ? 0 : 0x80;
    const int r2 = (word.number & 16) != 0 ? 0 : 0x10;
    emit_.put(0x62, 0x41 | r | (wide_buffer ? 0 : 0x20) | r2, 0xFE,
              0x08 | (word.bytes == 64   ? 0x40
                      : word.bytes == 32 ? 0x20
                                         : 0),
              0x7F);
  }
  emit_.put(0x80 | low << 3 | (buffer_ & 7));
  emit_.put_32(offset_);
}

void StreamEmitter::before(const Instruction& instruction) {
  after_count_ = 0;
  InstructionFacts facts;
  if (!describe_instruction(instruction.bytes, instruction.length, facts)) return;
  planner_.add(facts, [&](const StreamWord& word) {
    if (word.kind == StreamWord::Kind::general_after) {
      after_[after_count_++] = word;
    } else {
      store(word);
    }
  });
}

void StreamEmitter::after() {
  for (std::uint32_t i = 0; i < after_count_; ++i) store(after_[i]);
  after_count_ = 0;
}

void StreamEmitter::end(BlockPoint& point, const std::uint8_t* code) {
  // lea buffer, [buffer + offset]
  emit_.put(buffer_ >= 8 ? 0x4D : 0x48, 0x8D, 0x80 | (buffer_ & 7) << 3 | (buffer_ & 7));
  emit_.put_32(offset_);
  emit_.store_context(counter_offset(kNoBlock), buffer_);
  emit_.load_context(buffer_, CTX_STREAM_REGISTER);
  point.stream_to = static_cast<std::uint16_t>(emit_.at() - code);
  is_open_ = false;
  planner_ = StreamPlanner();
}

void flush_stream(Context* context) {
  const std::uint64_t base = context->stream_base;
  if (place(context) != base)
    give_stream(context, static_cast<std::uint32_t>(place(context) - base));
  place(context) = base;
}

bool hand_over(Context* context, ucontext_t* user, std::uint64_t address) {
  const std::uint64_t base = context->stream_base;
  const std::uint64_t end = base + kStreamBytes;
  if (base == 0 || address < end || address >= end + kGuard) return false;
  const Trace* trace = find_trace_at(reg(user, REG_RIP));
  if (trace == nullptr) return false;
  const auto offset = static_cast<std::uint32_t>(reg(user, REG_RIP) - word(trace->code));
  for (std::uint32_t i = 0; i < trace->blocks; ++i) {
    const BlockPoint& block = trace->block[i];
    if (block.stream_register == kNoStream || offset < block.stream_from ||
        offset >= block.stream_to)
      continue;
    empty_buffer(context);
    reg(user, kGreg[block.stream_register]) = base;
    spend_window(context, kStreamBytes);
    return true;
  }
  return false;
}

namespace {

// The words of the last instruction of a begun block, as what it has done: the registers that a
// string instruction has moved, the lanes that a gather has struck off its mask, the rows of a
// tile.
void complete_words(const BlockEntry& block, const ucontext_t* user, std::uint8_t* words) {
  StreamPlanner planner;
  const std::uint8_t* bytes = recorded_code(block);
  InstructionFacts facts;
  std::uint32_t offset = 8;
  for (std::uint32_t left = block.size; left != 0; left -= facts.length, bytes += facts.length) {
    if (!describe_instruction(bytes, left, facts)) return;
    const bool is_last = facts.length == left;
    planner.add(facts, [&](const StreamWord& word) {
      std::uint8_t* at = words + offset;
      offset += word.bytes;
      if (!is_last) return;
      std::uint64_t value = 0;
      std::memcpy(&value, at, sizeof value);
      if (word.kind == StreamWord::Kind::tiles) {
        constexpr std::uint32_t kRows = 48;
        at[kRows + word.number] = static_cast<std::uint8_t>(tile_start_row(*user));
        return;
      }
      if (word.kind == StreamWord::Kind::general_after) {
        value = reg(const_cast<ucontext_t*>(user), kGreg[word.number]);
      } else if (word.kind == StreamWord::Kind::opmask) {
        value &= ~opmask_of(*user, word.number);
      } else if (word.kind == StreamWord::Kind::signs) {
        value &= ~signs_of(*user, word.number, word.lanes, word.lane_bytes, word.is_mmx);
      } else {
        return;
      }
      std::memcpy(at, &value, sizeof value);
    });
  }
}

// The instruction at the point is a tile load or store that did some of its rows.
bool has_moved_rows(const Trace& trace, const MapPoint& point, const ucontext_t& user) {
  if (tile_start_row(user) == 0) return false;
  const BlockPoint& block = trace.block[point.block];
  const BlockEntry& entry = recorded_block(block.number);
  const std::uint32_t before = point.pc - block.pc;
  InstructionFacts facts;
  return describe_instruction(recorded_code(entry) + before, entry.size - before, facts) &&
         facts.access_count != 0 && facts.accesses[0].pattern == Pattern::tile_rows;
}

// Up to the instruction at the point, which had begun.
std::uint32_t record_begun(const Trace& trace, const MapPoint& point) {
  const BlockPoint& block = trace.block[point.block];
  const BlockEntry& whole = recorded_block(block.number);
  const std::uint32_t before = point.pc - block.pc;
  InstructionFacts facts;
  if (!describe_instruction(recorded_code(whole) + before, whole.size - before, facts)) return 0;
  return record_block(whole.address, whole.mapping, recorded_code(whole), before + facts.length,
                      point.index + 1u, BlockKind::begun);
}

}  // namespace

void leave_stream(Context* context, ucontext_t* user, const Trace& trace, const MapPoint& point,
                  std::uint32_t code_offset, std::uint32_t part) {
  const BlockPoint& block = trace.block[point.block];
  if (block.stream_register == kNoStream) return;
  const bool is_unfinished = code_offset >= block.stream_from && code_offset < block.stream_to;
  if (is_unfinished) {
    reg(user, kGreg[block.stream_register]) = context->stream_register;
  } else if (code_offset >= block.stream_to) {  // its branch did not run
    place(context) -= record_bytes(block.number);
  } else {
    return;  // it has not begun
  }
  std::uint64_t number = part;
  const bool has_begun =
      point.point == Point::repeating || point.ahead != 0 || has_moved_rows(trace, point, *user);
  if (is_unfinished && has_begun) {
    const std::uint32_t begun = record_begun(trace, point);
    if (begun != 0) {
      number = begun;
      if (place(context) + record_bytes(begun) > context->stream_base + kStreamBytes)
        empty_buffer(context);
      complete_words(recorded_block(begun), user, reinterpret_cast<std::uint8_t*>(place(context)));
    }
  }
  if (number == 0) return;
  std::memcpy(reinterpret_cast<void*>(place(context)), &number, sizeof number);
  place(context) += record_bytes(static_cast<std::uint32_t>(number));
}

}  // namespace loft::engine::runtime
