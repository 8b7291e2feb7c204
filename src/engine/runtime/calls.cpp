// Compiled for general registers alone and called with the program's fs: nothing here may call a
// library, not even memset.
#include "engine/runtime/calls.hpp"

#include "engine/runtime/region.hpp"

namespace loft::engine::runtime {
namespace {

// rsp may rise this far above where it was first seen on a stack: what started it pops a little.
constexpr std::uint64_t kSlack = 1024;
// And fall so far at once without being on another stack.
constexpr std::uint64_t kLargestStep = 4096;

struct Now {
  std::uint64_t of[kCallQuantities];
};

template <typename T>
T* part(CallThreadArea* area, std::uint64_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uint8_t*>(area) + offset);
}

CallFrame& frame_of(CallThreadArea* area, std::uint32_t number) {
  return part<CallFrame>(area, kCallFramesOffset)[number];
}

CallFunctionEntry& function_of(CallThreadArea* area, std::uint32_t number) {
  return part<CallFunctionEntry>(area, kCallFunctionsOffset)[number];
}

std::uint64_t ticks() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

const CallOrder& order() { return g_call_order; }

// What follows is compiled for one and two events, which are the rule, and for all that there can
// be: those that are not counted stay 0.
constexpr std::uint32_t kAllEvents = kMaxCallEvents;

// All that has passed on this thread.
template <std::uint32_t kEvents>
inline void read_totals(Context* context, std::uint64_t tick, Now& now) {
  const std::uint64_t* totals = context->counters() + kFirstTotal;
  for (std::uint32_t event = 0; event < kEvents; ++event, totals += kTotalLanes)
    now.of[event] = (totals[0] + totals[1]) + (totals[2] + totals[3]);
  now.of[kTicks] = tick;
}
static_assert(kTotalLanes == 4);

// The events, then the ticks.
template <std::uint32_t kEvents = kAllEvents, class Do>
inline void for_quantities(Do&& act) {
  for (std::uint32_t i = 0; i < kEvents; ++i) act(i);
  act(kTicks);
}

std::uint32_t new_frame(CallThreadArea* area) {
  if (area->free_frame != 0) {
    const std::uint32_t number = area->free_frame;
    area->free_frame = frame_of(area, number).below;
    return number;
  }
  if (area->frames + 1 >= kMaxCallFrames) return 0;
  return ++area->frames;
}

std::uint32_t find_node(CallThreadArea* area, std::uint32_t parent, std::uint32_t function) {
  auto* slots = part<std::uint32_t>(area, kCallNodeSlotsOffset);
  auto* nodes = part<CallNodeEntry>(area, kCallNodesOffset);
  const std::uint64_t key = (std::uint64_t{parent} << 32 | function) + 1;
  std::uint64_t at = (key * 0x9E3779B97F4A7C15ull >> 40) % kCallNodeSlots;
  for (; slots[at] != 0; at = (at + 1) % kCallNodeSlots) {
    const CallNodeEntry& node = nodes[slots[at]];
    if (node.parent == parent && node.function == function) return slots[at];
  }
  if (area->nodes + 1 >= kMaxCallNodes) return 0;
  const std::uint32_t number = area->nodes + 1;
  nodes[number].parent = parent;
  nodes[number].function = function;
  area->nodes = number;
  slots[at] = number;
  return number;
}

void set_check(Context* context) {
  CallThreadArea* area = call_state(context).area;
  context->region_check = area->now.top == 0 ? kNeverLeaves : ~frame_of(area, area->now.top).slot;
}

template <std::uint32_t kEvents>
void write_record(CallRecord& to, CallThreadArea* area, const CallFrame& frame, const Now& value,
                  const Now& self) {
  to.begin = frame.begin;
  to.function = frame.function;
  to.caller = frame.below == 0 ? 0 : frame_of(area, frame.below).function + 1;
  to.depth = frame.depth;
  to.flags = frame.flags;
  for_quantities<kEvents>([&](std::uint32_t i) {
    to.value[i] = value.of[i];
    to.self[i] = self.of[i];
  });
}

template <std::uint32_t kEvents>
void keep(CallThreadArea* area, const CallFrame& frame, const Now& value, const Now& self) {
  if (value.of[kTicks] < order().least_ticks) return;
  if (order().depth != 0 && frame.depth >= order().depth) return;
  if (area->kept >= order().most_kept || area->kept >= kMaxCallRecords) {
    ++area->lost;
    return;
  }
  write_record<kEvents>(part<CallRecord>(area, kCallRecordsOffset)[area->kept], area, frame, value,
                        self);
  __atomic_store_n(&area->kept, area->kept + 1, __ATOMIC_RELEASE);
}

// In the place of the fastest of them.
template <std::uint32_t kEvents>
void keep_slow(CallFunctionEntry& function, CallThreadArea* area, const CallFrame& frame,
               const Now& value, const Now& self, std::uint32_t first) {
  const auto least = [&] {
    std::uint32_t found = 0;
    for (std::uint32_t i = 1; i < function.slowest_count; ++i)
      if (function.slowest[i].value[first] < function.slowest[found].value[first]) found = i;
    return found;
  };
  const bool has_room = function.slowest_count < kSlowestCalls;
  const std::uint32_t place = has_room ? function.slowest_count++ : least();
  write_record<kEvents>(function.slowest[place], area, frame, value, self);
  if (function.slowest_count == kSlowestCalls)
    function.slow_above = function.slowest[least()].value[first];
}

template <std::uint32_t kEvents>
void add_to_function(CallThreadArea* area, const CallFrame& frame, const Now& value,
                     const Now& self) {
  CallFunctionEntry& function = function_of(area, frame.function);
  const bool is_outermost = (frame.flags & kFrameRecursive) == 0;
  --function.active;
  ++function.calls;
  if ((frame.flags & kFrameEndedEarly) != 0) ++function.ended_early;
  const std::uint32_t first = order().events != 0 ? 0 : kTicks;
  for_quantities<kEvents>([&](std::uint32_t i) {
    CallSums& sums = function.sums[i];
    if (is_outermost) sums.total += value.of[i];
    sums.self += self.of[i];
    sums.sum += value.of[i];
    if (~value.of[i] > sums.inverse_min) sums.inverse_min = ~value.of[i];
    if (value.of[i] > sums.max) sums.max = value.of[i];
  });
  ++function.histogram[log_linear_step(value.of[first])];
  if (value.of[first] > function.slow_above || function.slowest_count < kSlowestCalls)
    keep_slow<kEvents>(function, area, frame, value, self, first);
}

// Closes the innermost frame of the stack in use.
template <std::uint32_t kEvents>
void close_frame(CallThreadArea* area, const Now& now, bool is_early) {
  const std::uint32_t number = area->now.top;
  CallFrame& frame = frame_of(area, number);
  Now value;
  Now self;
  for_quantities<kEvents>([&](std::uint32_t i) {
    value.of[i] = now.of[i] - area->now.away[i] - frame.start[i];
    self.of[i] = value.of[i] - frame.child[i];
  });
  if (frame.below != 0) {
    CallFrame& around = frame_of(area, frame.below);
    for_quantities<kEvents>([&](std::uint32_t i) { around.child[i] += value.of[i]; });
  }
  frame.flags = (frame.flags & kFrameRecursive) | (is_early ? kFrameEndedEarly : 0u);
  add_to_function<kEvents>(area, frame, value, self);
  if (frame.node != 0) {
    CallNodeEntry& node = part<CallNodeEntry>(area, kCallNodesOffset)[frame.node];
    ++node.calls;
    for_quantities<kEvents>([&](std::uint32_t i) {
      node.value[i] += value.of[i];
      node.self[i] += self.of[i];
    });
  } else {
    ++area->lost_nodes;
  }
  if (order().keeps_calls != 0) keep<kEvents>(area, frame, value, self);
  area->now.top = frame.below;
  --area->now.depth;
  frame.below = area->free_frame;
  area->free_frame = number;
}

// Closes what lies below rsp. A return goes to where the call came from; all else ends it early.
template <std::uint32_t kEvents>
void close_below(CallThreadArea* area, const Now& now, std::uint64_t rsp, std::uint64_t target) {
  while (area->now.top != 0) {
    const CallFrame& frame = frame_of(area, area->now.top);
    if (frame.slot >= rsp) return;
    constexpr std::uint64_t kMostPopped = 8 + 65535;
    const bool is_return = target == frame.return_address && rsp - frame.slot <= kMostPopped;
    close_frame<kEvents>(area, now, !is_return);
  }
}

void copy_stack(CallStack& to, const CallStack& from) {
  to.top = from.top;
  to.depth = from.depth;
  to.is_handlers = from.is_handlers;
  to.base = from.base;
  to.rsp = from.rsp;
  for_quantities([&](std::uint32_t i) {
    to.left_at[i] = from.left_at[i];
    to.away[i] = from.away[i];
  });
}

// The stack is not in use from now on; its rsp is this.
void park(CallThreadArea* area, const CallStack& stack, const Now& now, std::uint64_t rsp) {
  if (area->stacks == kMaxCallStacks) {  // the oldest is forgotten; its calls stay open
    for (std::uint32_t i = 1; i < kMaxCallStacks; ++i)
      copy_stack(area->parked[i - 1], area->parked[i]);
    --area->stacks;
  }
  CallStack& parked = area->parked[area->stacks++];
  copy_stack(parked, stack);
  parked.rsp = rsp;
  for_quantities([&](std::uint32_t i) { parked.left_at[i] = now.of[i]; });
}

void use_parked(CallThreadArea* area, const Now& now, std::uint32_t index) {
  copy_stack(area->now, area->parked[index]);
  for_quantities([&](std::uint32_t i) { area->now.away[i] += now.of[i] - area->now.left_at[i]; });
  for (std::uint32_t i = index + 1; i < area->stacks; ++i)
    copy_stack(area->parked[i - 1], area->parked[i]);
  --area->stacks;
}

void use_new(CallThreadArea* area, std::uint64_t base) {
  area->now.top = 0;
  area->now.depth = 0;
  area->now.is_handlers = 0;
  area->now.base = base;
  area->now.rsp = base;
  for (std::uint32_t i = 0; i < kCallQuantities; ++i) area->now.away[i] = 0;
}

constexpr std::uint32_t kNoStack = ~std::uint32_t{0};

// The parked stack that has this address in use. The last one parked is asked first.
std::uint32_t parked_at(const CallThreadArea* area, std::uint64_t rsp) {
  for (std::uint32_t i = area->stacks; i-- > 0;)
    if (rsp >= area->parked[i].rsp && rsp <= area->parked[i].base + kSlack) return i;
  return kNoStack;
}

// rsp was loaded: it was `from`, it is `to`. What is in use of different stacks never overlaps. A
// handler that jumps away from the stack it was started on does not come back.
void follow_stack(CallThreadArea* area, const Now& now, std::uint64_t from, std::uint64_t to) {
  const std::uint32_t other = parked_at(area, to);
  if (other == kNoStack && to + kLargestStep >= from && to <= area->now.base + kSlack) return;
  const bool is_over = area->now.is_handlers != 0 && other != kNoStack;
  if (is_over) close_below<kAllEvents>(area, now, ~std::uint64_t{0}, 0);
  CallStack left;
  copy_stack(left, area->now);
  if (other == kNoStack)
    use_new(area, to);
  else
    use_parked(area, now, other);
  if (!is_over) park(area, left, now, from);
}

// Whether a call of the function is open on the stack in use.
bool is_open(CallThreadArea* area, const CallFunctionEntry& function, std::uint32_t number) {
  if (function.active == 0 || area->stacks == 0) return function.active != 0;
  for (std::uint32_t i = area->now.top; i != 0; i = frame_of(area, i).below)
    if (frame_of(area, i).function == number) return true;
  return false;
}

template <std::uint32_t kEvents>
void open_frame(Context* context, std::uint64_t slot, std::uint64_t return_address,
                const CallEntry& entry, Now& now) {
  CallThreadArea* area = call_state(context).area;
  CallFunctionEntry& function = function_of(area, entry.function);
  const std::uint32_t number = new_frame(area);
  if (number == 0) {
    ++function.unmeasured;
    return;
  }
  CallFrame& frame = frame_of(area, number);
  const std::uint32_t below = area->now.top;
  const CallFrame* around = below == 0 ? nullptr : &frame_of(area, below);
  frame.slot = slot;
  frame.return_address = return_address;
  frame.function = entry.function;
  frame.node = below != 0 && around->node == 0
                   ? 0
                   : find_node(area, below == 0 ? 0 : around->node, entry.function);
  frame.below = below;
  frame.flags = is_open(area, function, entry.function) ? std::uint32_t{kFrameRecursive} : 0;
  ++function.active;
  frame.depth = area->now.depth++;
  for_quantities<kEvents>([&](std::uint32_t i) { frame.child[i] = 0; });
  area->now.top = number;
  context->region_check = ~slot;
  now.of[kTicks] = ticks();
  frame.begin = now.of[kTicks];
  for_quantities<kEvents>([&](std::uint32_t i) { frame.start[i] = now.of[i] - area->now.away[i]; });
}

template <std::uint32_t kEvents>
inline void enter(Context* context, std::uint64_t slot, std::uint64_t return_address,
                  const CallEntry* entry) {
  CallState& state = call_state(context);
  CallThreadArea* area = state.area;
  state.back = entry->back;
  state.entry_pc = entry->pc;
  Now now;
  read_totals<kEvents>(context, 0, now);
  if (context->region_check == kAlwaysLeaves) {
    read_totals<kAllEvents>(context, ticks(), now);
    follow_stack(area, now, state.moved_from, slot);
    set_check(context);
  }
  if (area->now.top != 0) {
    CallFrame& top = frame_of(area, area->now.top);
    if (top.slot < slot) {
      now.of[kTicks] = ticks();
      close_below<kEvents>(area, now, slot, 0);
      set_check(context);
    } else if ((top.flags & kFrameAtEntry) != 0 && top.slot == slot &&
               top.function == entry->function) {
      top.flags &= ~kFrameAtEntry;
      return;
    }
  }
  open_frame<kEvents>(context, slot, return_address, *entry, now);
}

template <std::uint32_t kEvents>
inline void leave(Context* context, std::uint64_t rsp, std::uint64_t target) {
  CallState& state = call_state(context);
  Now now;
  if (context->region_check == kAlwaysLeaves) {
    read_totals<kAllEvents>(context, ticks(), now);
    follow_stack(state.area, now, state.moved_from, rsp);
  } else {
    read_totals<kEvents>(context, ticks(), now);
  }
  close_below<kEvents>(state.area, now, rsp, target);
  set_check(context);
}

}  // namespace

extern "C" {

void engine_call_entered(Context* context, std::uint64_t slot, std::uint64_t return_address,
                         const CallEntry* entry) {
  switch (order().events) {
    case 1:
      return enter<1>(context, slot, return_address, entry);
    case 2:
      return enter<2>(context, slot, return_address, entry);
    default:
      return enter<kAllEvents>(context, slot, return_address, entry);
  }
}

// A signal waits, and comes first.
void engine_call_interrupted(Context* context) {
  interrupt_entry(context);
  context->next_pc = call_state(context).entry_pc;
}

void engine_call_left(Context* context, std::uint64_t rsp, std::uint64_t target) {
  switch (order().events) {
    case 1:
      return leave<1>(context, rsp, target);
    case 2:
      return leave<2>(context, rsp, target);
    default:
      return leave<kAllEvents>(context, rsp, target);
  }
}

}  // extern "C"

void interrupt_entry(Context* context) {
  CallThreadArea* area = call_state(context).area;
  if (area->now.top != 0) frame_of(area, area->now.top).flags |= kFrameAtEntry;
}

void start_handler_in_calls(Context* context, std::uint64_t rsp, std::uint64_t interrupted) {
  CallState& state = call_state(context);
  if (state.area == nullptr) return;
  Now now;
  read_totals<kAllEvents>(context, ticks(), now);
  if (context->region_check == kAlwaysLeaves)
    follow_stack(state.area, now, state.moved_from, interrupted);
  constexpr std::uint64_t kLargestFrame = 256u << 10;
  if (interrupted - rsp > kLargestFrame) {
    follow_stack(state.area, now, interrupted, rsp);
    state.area->now.is_handlers = 1;
  }
  set_check(context);
}

void end_handler_in_calls(Context* context, std::uint64_t rsp) {
  CallState& state = call_state(context);
  if (state.area == nullptr) return;
  Now now;
  read_totals<kAllEvents>(context, ticks(), now);
  const std::uint64_t own = context->regs[kRsp];
  if (context->region_check == kAlwaysLeaves) follow_stack(state.area, now, state.moved_from, own);
  if (parked_at(state.area, rsp) != kNoStack) follow_stack(state.area, now, own, rsp);
  close_below<kAllEvents>(state.area, now, rsp, 0);
  set_check(context);
}

}  // namespace loft::engine::runtime
