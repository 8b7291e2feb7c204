/* What the program's threads do when the fast way (hooks.S) does not know further: stacks that
 * changed, calls that an exception or longjmp has left, calls that are to be kept. No libc, no
 * registers but the general ones, no data of its own. A signal may come between any two
 * instructions, and its handler may come here too: a frame is reserved first and filled then, and
 * frames above the top have no slot. */
#include <stddef.h>

#include "wire.h"

typedef struct loft_calls_context Context;
typedef struct loft_calls_frame Frame;
typedef struct loft_calls_sums Sums;

enum { kEndedEarly = 1, kRecursive = 4, kEndsLater = 8 };

_Static_assert(sizeof(Frame) == LOFT_CALLS_FRAME_SIZE, "frame");
_Static_assert(sizeof(Sums) == LOFT_CALLS_SUMS_SIZE, "sums");
_Static_assert(offsetof(Context, nodes) == LOFT_CALLS_NODES, "context");
_Static_assert(sizeof(struct loft_calls_node) == LOFT_CALLS_NODE_SIZE, "node");
_Static_assert(offsetof(Context, stacks) == LOFT_CALLS_STACKS, "context");
_Static_assert(offsetof(Sums, not_min) == LOFT_CALLS_NOT_MIN, "sums");
_Static_assert(offsetof(Sums, large) == LOFT_CALLS_LARGE, "sums");
_Static_assert(offsetof(Context, largest) == LOFT_CALLS_LARGEST, "context");

static uint64_t now(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

static Frame* sentinel(const Context* context) {
  return (Frame*)(context->self + LOFT_CALLS_FRAMES);
}
static Frame* top_of(const Context* context) {
  return (Frame*)*(volatile const uint64_t*)&context->top;
}
static void set_top(Context* context, Frame* frame) {
  *(volatile uint64_t*)&context->top = (uint64_t)frame;
}

static uint64_t slot_of(const Frame* frame) { return ~frame->not_slot; }
static uint32_t offset_of(const Frame* frame) {
  return frame->function & ~(uint32_t)LOFT_CALLS_FACTS;
}

static uint32_t step_of(uint64_t value) {
  if (value < 8) return (uint32_t)value;
  const uint32_t shift = (uint32_t)(60 - __builtin_clzll(value));
  return (shift << 3) + (uint32_t)(value >> shift);
}

static uint64_t* steps_of(const Context* context, uint32_t offset) {
  return (uint64_t*)(context->steps + (uint64_t)(offset - LOFT_CALLS_SUMS) *
                                          (LOFT_CALLS_HISTOGRAM_SIZE / LOFT_CALLS_SUMS_SIZE));
}

static uint64_t depth_of(const Context* context, const Frame* frame) {
  return (uint64_t)(frame - sentinel(context)) - 1;
}

static void describe(const Context* context, const Frame* frame, uint64_t ticks, uint64_t own,
                     uint32_t flags, struct loft_calls_kept* call) {
  const uint64_t depth = depth_of(context, frame);
  call->function = offset_of(frame);
  call->caller = depth == 0 ? 0 : offset_of(frame - 1);
  call->begin = frame->start;
  call->ticks = ticks;
  call->own = own;
  call->depth = (uint32_t)depth;
  call->flags = flags;
}

static void keep(Context* context, const Frame* frame, uint64_t ticks, uint64_t own,
                 uint32_t flags) {
  const uint64_t depth = depth_of(context, frame);
  if (ticks < context->longer || depth >= context->depth) return;
  const uint64_t read = __atomic_load_n(&context->read, __ATOMIC_ACQUIRE);
  if (context->written - read >= context->room) {
    ++context->lost;
    return;
  }
  struct loft_calls_kept* call =
      (struct loft_calls_kept*)context->ring + (context->written & (context->room - 1));
  describe(context, frame, ticks, own, flags, call);
  __atomic_store_n(&context->written, context->written + 1, __ATOMIC_RELEASE);
}

/* One of the largest calls of its function takes the place of the smallest of them. */
static void note_large(Context* context, const Frame* frame, uint64_t ticks, uint64_t own,
                       uint32_t flags) {
  const uint32_t offset = offset_of(frame);
  struct loft_calls_kept* calls =
      (struct loft_calls_kept*)context->largest +
      (uint64_t)(offset - LOFT_CALLS_SUMS) / LOFT_CALLS_SUMS_SIZE * LOFT_CALLS_LARGEST_COUNT;
  struct loft_calls_kept* least = calls;
  for (unsigned i = 1; i < LOFT_CALLS_LARGEST_COUNT; ++i)
    if (calls[i].ticks < least->ticks) least = calls + i;
  describe(context, frame, ticks, own, flags, least);
  uint64_t large = least->ticks;
  for (unsigned i = 0; i < LOFT_CALLS_LARGEST_COUNT; ++i)
    if (calls[i].ticks < large) large = calls[i].ticks;
  ((Sums*)(context->self + offset))->large = large;
}

static uint64_t node_key(uint32_t parent, uint32_t offset) {
  return (uint64_t)parent << 32 | offset;
}

/* The number of a node, which is made where there is none; 0 where there is no room. */
uint32_t loft_calls_node_of(Context* context, uint64_t key) {
  enum { kMostSteps = 8, kMask = LOFT_CALLS_NODE_COUNT - 1 };
  uint32_t at = (uint32_t)(key * (uint64_t)LOFT_CALLS_NODE_HASH >> (64 - LOFT_CALLS_NODE_BITS));
  for (unsigned i = 0; i < kMostSteps; ++i, at = (at + 1) & kMask) {
    struct loft_calls_node* node = (struct loft_calls_node*)context->nodes + at;
    if (at == 0) continue;
    if (node->key == 0) {
      node->key = key;
      context->node_count += 1;
    }
    if (node->key == key) return at * LOFT_CALLS_NODE_SIZE;
  }
  return 0;
}

/* Adds what a frame was to the sums of its function. The frame is no longer below the top. */
static void close_frame(Context* context, const Frame* frame, uint64_t end, uint32_t flags) {
  const uint64_t ticks = end - frame->start;
  const uint64_t own = ticks - frame->child;
  const uint32_t offset = offset_of(frame);
  Sums* sums = (Sums*)(context->self + offset);
  sums->calls += 1;
  sums->sum += ticks;
  sums->own += own;
  sums->open -= 1;
  if (sums->open == 0) sums->total += ticks;
  if (sums->open != 0) flags |= kRecursive;
  if (~ticks > sums->not_min) sums->not_min = ~ticks;
  if (ticks > sums->large) note_large(context, frame, ticks, own, flags);
  if (flags & kEndedEarly) sums->ended_early += 1;
  steps_of(context, offset)[step_of(ticks)] += 1;
  struct loft_calls_node* node = (struct loft_calls_node*)(context->nodes + frame->node);
  node->calls += 1;
  node->sum += ticks;
  node->own += own;
  if (context->ring != 0) keep(context, frame, ticks, own, flags);
}

/* Takes one frame out, wherever it is, and closes it. */
static void end_frame(Context* context, Frame* frame, uint64_t end, uint32_t flags) {
  Frame* top = top_of(context);
  if (top <= sentinel(context)) return;
  frame[-1].child += end - frame->start;
  close_frame(context, frame, end, flags);
  for (; frame < top; ++frame) *frame = frame[1];
  top->not_slot = 0;
  set_top(context, top - 1);
}

static uint32_t flags_of_end(const Frame* frame) {
  return frame->function & LOFT_CALLS_LATE_END ? kEndsLater : kEndedEarly;
}

struct AlternateStack {
  uint64_t start;
  uint32_t flags;
  uint64_t size;
};

static long system_call(long number, uint64_t first, uint64_t second, uint64_t third) {
  long result = number;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(first), "S"(second), "d"(third)
                   : "rcx", "r11", "memory");
  return result;
}

enum { kRead = 0, kOpen = 2, kClose = 3, kSigaltstack = 131 };

static void read_alternate_stack(struct AlternateStack* stack) {
  if (system_call(kSigaltstack, 0, (uint64_t)stack, 0) != 0) stack->flags = 0;
}

/* Whether the number behind "TracerPid:" is not 0. */
int loft_calls_is_traced(void) {
  char text[512];
  const volatile char path[] = {'/', 'p', 'r', 'o', 'c', '/', 's', 'e', 'l',
                                'f', '/', 's', 't', 'a', 't', 'u', 's', 0};
  const long file = system_call(kOpen, (uint64_t)path, 0, 0);
  if (file < 0) return 0;
  const long size = system_call(kRead, (uint64_t)file, (uint64_t)text, sizeof text);
  system_call(kClose, (uint64_t)file, 0, 0);
  for (long i = 0; i + 11 < size; ++i)
    if (text[i] == 'T' && text[i + 1] == 'r' && text[i + 6] == 'P' && text[i + 9] == ':')
      return text[i + 11] != '0';
  return 0;
}

/* Ends the frames on top that lie below where the thread is now. A handler on a stack of its own
 * may be above the frames that it interrupted: they stay. */
static void end_left_frames(Context* context, uint64_t slot, uint64_t end) {
  struct AlternateStack alternate = {0, 0, 0};
  Frame* top = top_of(context);
  if (slot_of(top) >= slot || top == sentinel(context)) return;
  read_alternate_stack(&alternate);
  for (; slot_of(top) < slot && top != sentinel(context); top = top_of(context)) {
    if (top->stack != context->stack) return;
    if ((alternate.flags & 1) != 0 && slot_of(top) - alternate.start >= alternate.size) {
      context->switched = 1;
      return;
    }
    end_frame(context, top, end, flags_of_end(top));
  }
}

/* Whether the call on top, whose slot a new call has too, goes on: it has jumped to the new one. */
static int goes_on(const Frame* top, uint32_t function, uint64_t return_address) {
  return top->return_address == return_address &&
         (top->function & LOFT_CALLS_HAS_TAIL_CALLS) != 0 &&
         (top->function & LOFT_CALLS_LATE_END) == 0 && top->function != function;
}

void loft_calls_entry(Context* context, uint64_t slot, uint32_t function) {
  const uint64_t return_address = *(const uint64_t*)slot;
  Sums* sums = (Sums*)(context->self + (function & ~(uint32_t)LOFT_CALLS_FACTS));
  const uint64_t begin = now();
  end_left_frames(context, slot, begin);
  for (Frame* top = top_of(context); slot_of(top) == slot && top != sentinel(context);
       top = top_of(context)) {
    if (top->function == function && (function & LOFT_CALLS_LOOPS) != 0 &&
        top->return_address == return_address)
      return;
    if (goes_on(top, function, return_address)) break;
    end_frame(context, top, begin, flags_of_end(top));
  }
  Frame* frame = top_of(context) + 1;
  if ((uint64_t)frame > context->limit) {
    __atomic_fetch_add(&sums->unmeasured, 1, __ATOMIC_RELAXED);  // threads may share this one
    return;
  }
  set_top(context, frame);
  frame->function = function;
  frame->stack = context->stack;
  frame->child = 0;
  frame->return_address = return_address;
  frame->node = loft_calls_node_of(context, node_key(frame[-1].node, offset_of(frame)));
  frame->start = begin;
  sums->open += 1;
  __asm__ volatile("" ::: "memory");
  frame->not_slot = ~slot;
  frame->start = now();
}

/* The innermost frame with that slot; the sentinel where there is none. */
static Frame* frame_at(Context* context, uint64_t slot) {
  Frame* frame = top_of(context);
  while (frame != sentinel(context) && slot_of(frame) != slot) --frame;
  return frame;
}

void loft_calls_exit(Context* context, uint64_t slot) {
  const uint64_t end = now();
  Frame* found = frame_at(context, slot);
  if (found == sentinel(context)) {
    end_left_frames(context, slot, end);
    return;
  }
  const uint32_t stack = found->stack;
  for (Frame* frame = top_of(context); frame > found; --frame)
    if (frame->stack == stack) end_frame(context, frame, end, flags_of_end(frame));
  for (; slot_of(found) == slot && found != sentinel(context); --found)
    end_frame(context, found, end, 0);
}

/* swapcontext(from, to) or setcontext(to): the thread goes on on another stack. */
static void switch_stack(Context* context, uint64_t from, uint64_t to) {
  enum { kCount = LOFT_CALLS_STACK_COUNT };
  uint32_t next = (uint32_t)(to >> 4) | 1;
  for (unsigned i = 0; i < kCount; ++i)
    if (context->stacks[i].saved_at == to) next = (uint32_t)context->stacks[i].number;
  if (from != 0) {
    unsigned at = (unsigned)(from >> 6) % kCount;
    for (unsigned i = 0; i < kCount; ++i)
      if (context->stacks[i].saved_at == from) at = i;
    for (unsigned i = 0;
         i < kCount && context->stacks[at].saved_at != from && context->stacks[at].saved_at != 0;
         ++i)
      at = (at + 1) % kCount;
    context->stacks[at].saved_at = from;
    context->stacks[at].number = context->stack;
  }
  context->switched = 1;
  context->stack = next;
}

/* Where longjmp() will put the stack pointer: glibc keeps it rotated and mixed with a secret. */
static uint64_t target_of_jump(const uint64_t* environment) {
  enum { kStackPointer = 6, kRotation = 0x11 };
  const uint64_t kept = environment[kStackPointer];
  uint64_t secret;
  __asm__("movq %%fs:0x30, %0" : "=r"(secret));
  return (kept >> kRotation | kept << (64 - kRotation)) ^ secret;
}

/* The program takes gs for itself, which is where contexts are found: loft takes its patches out
 * of the program before that happens. Where loft is gone, nobody can. */
static void give_up_segment(uint64_t code) {
  enum { kSetsGs = 0x1001 };
  if (code == kSetsGs && loft_calls_is_traced()) __asm__ volatile("int3");
}

/* A function that leaves calls without their returns, or changes what the agent stands on, is about
 * to begin: `what` is one of loft_calls_leave, `slot` where its return address is. */
void loft_calls_leave(Context* context, uint64_t first, uint64_t second, uint32_t what,
                      uint64_t slot) {
  switch (what) {
    case kLoftSetsContext:
      return switch_stack(context, 0, first);
    case kLoftSwapsContext:
      return switch_stack(context, first, second);
    case kLoftCatches:
      return end_left_frames(context, slot + 8, now());
    case kLoftJumps:
      return end_left_frames(context, target_of_jump((const uint64_t*)first), now());
    case kLoftSetsSegment:
      return give_up_segment(first);
    case kLoftCallsSystem:
      if (first == 158) give_up_segment(second);
      return;
  }
}
