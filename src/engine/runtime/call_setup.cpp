// What of calls.hpp happens seldom: the start of a thread, the making of code.
#include <cstring>

#include "engine/runtime/arena.hpp"
#include "engine/runtime/calls.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/region.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/translation.hpp"

extern "C" {
void engine_call_enter();
void engine_call_leave();
void engine_call_peek();
void engine_call_peeked();
void engine_call_entered_tail();
void engine_call_entered_end();
void engine_call_left_tail();
void engine_call_left_end();
void engine_region_entered_tail();
void engine_region_entered_end();
void engine_region_left_tail();
void engine_region_left_end();
}

namespace loft::engine::runtime {

CallOrder g_call_order;

bool has_calls() { return shared_header()->calls.is_given != 0; }

void open_calls(Context* context) {
  CallState& state = call_state(context);
  if (!has_calls()) return;
  g_call_order = shared_header()->calls;
  if (g_call_order.events > kMaxCallEvents) g_call_order.events = kMaxCallEvents;
  auto* area =
      state.area != nullptr ? state.area : static_cast<CallThreadArea*>(reserve(kCallBytes));
  if (is_error(map_own(Own::memory, word(area), kCallBytes,
                       kCallsOffset + std::uint64_t{context->slot} * kCallBytes)))
    stop(Message("no address space is left for the calls of a thread (is ulimit -v set?)"));
  std::memset(&state, 0, sizeof state);
  state.enter = word(&engine_call_enter);
  state.leave = word(&engine_call_leave);
  state.area = area;
  // The first thread's stack is not made yet; nothing that is used lies above it.
  constexpr std::uint64_t kTop = 1ull << 56;
  area->now.base = context->regs[kRsp] != 0 ? context->regs[kRsp] : kTop;
  context->region_check = kNeverLeaves;
}

std::uint64_t restart_of_calls(std::uint64_t rip) {
  struct Tail {
    void (*start)();
    void (*end)();
  };
  static constexpr Tail kTails[] = {{engine_call_entered_tail, engine_call_entered_end},
                                    {engine_call_left_tail, engine_call_left_end},
                                    {engine_region_entered_tail, engine_region_entered_end},
                                    {engine_region_left_tail, engine_region_left_end}};
  for (const Tail& tail : kTails)
    if (rip >= word(tail.start) && rip < word(tail.end)) return word(tail.start);
  return 0;
}

bool is_call_peek(std::uint64_t rip) { return rip == word(&engine_call_peek); }
std::uint64_t behind_call_peek() { return word(&engine_call_peeked); }

namespace {

constexpr int kMemory = -1;
constexpr int kNotAtAll = -2;

// An instruction of the form "load register `reg` from `source`", as far as it matters here.
struct Load {
  int reg = kNotAtAll;
  int source = kNotAtAll;  // a register, or kMemory; of lea, the base
};

Load load_of(const Instruction& instruction) {
  constexpr std::uint8_t kMove = 0x8B, kStore = 0x89, kLea = 0x8D, kExchange = 0x87;
  const std::uint8_t* at = instruction.bytes;
  const std::uint8_t* end = at + instruction.length;
  const auto is_prefix = [](std::uint8_t byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0x64 || byte == 0x65 || byte == 0x2E ||
           byte == 0x36 || byte == 0x3E || byte == 0x26 || byte == 0xF2 || byte == 0xF3;
  };
  while (at < end && is_prefix(*at)) ++at;
  std::uint8_t rex = 0;
  if (at < end && (*at & 0xF0) == 0x40) rex = *at++;
  if (at == end) return {};
  const std::uint8_t opcode = *at++;
  const int high_rm = (rex & 1) << 3;
  if (opcode == 0x58 + kRsp && high_rm == 0) return {kRsp, kMemory};                 // pop
  if (opcode == 0x90 + kRsp && high_rm == 0 && (rex & 8) != 0) return {kRsp, kRax};  // xchg
  if (opcode != kMove && opcode != kStore && opcode != kLea && opcode != kExchange) return {};
  if (at == end || (rex & 8) == 0) return {};
  const std::uint8_t modrm = *at++;
  const int reg = (modrm >> 3 & 7) | (rex & 4) << 1;
  int rm = (modrm & 7) | high_rm;
  const bool is_register = modrm >> 6 == 3;
  if (is_register && opcode == kStore) return {rm, reg};
  if (is_register && opcode == kExchange) return rm == kRsp ? Load{rm, reg} : Load{reg, rm};
  if (opcode == kStore) return {};
  if (opcode != kLea) return {reg, is_register ? rm : kMemory};
  if ((modrm & 7) == 4 && at < end) rm = (*at & 7) | high_rm;
  return {reg, rm};
}

}  // namespace

// Functions give their frames back through rbp, and make room by a copy of rsp. Neither changes the
// stack, and both are too frequent to ask each time.
bool loads_stack(const Block& block, std::uint32_t index) {
  const Load load = load_of(block.instructions[index]);
  if (load.reg != kRsp || load.source == kRsp || load.source == kRbp) return false;
  for (std::uint32_t i = 0; i < index && load.source != kMemory; ++i) {
    const Load before = load_of(block.instructions[i]);
    if (before.reg == load.source && before.source == kRsp) return false;
  }
  return true;
}

// The state is the program's until the jump; whatever is done there is over when it comes back.
void Translation::emit_call_entry(std::uint32_t function) {
  index_ = 0;
  at_pc_ = trace_->pc;
  auto* entry = reinterpret_cast<CallEntry*>(allocate(sizeof(CallEntry), alignof(CallEntry)));
  point(Point::clean);
  emit_.store_context(CTX_SPILL1, kRcx);
  point(Point::ours);
  emit_.load_value(kRcx, word(entry));
  emit_.jump_context(CALLS_ENTER);
  *entry = {trace_->pc, word(emit_.at()), function};
  trace_->entered = static_cast<std::uint16_t>(emit_.at() - trace_->code);
}

void Translation::emit_stack_load(const Instruction& instruction) {
  point(Point::clean);
  emit_.store_context(CALLS_MOVED_FROM, kRsp);
  emit_plain(instruction);
  point(Point::ours);
  emit_.put(0x65, 0x48, 0xC7, 0x04, 0x25);  // mov qword gs:[region_check], kAlwaysLeaves
  emit_.put_32(CTX_REGION_CHECK);
  emit_.put_32(kAlwaysLeaves);
}

}  // namespace loft::engine::runtime
