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
_Static_assert(offsetof(Context, floor) == LOFT_CALLS_FLOOR, "context");
_Static_assert(offsetof(Context, skew) == LOFT_CALLS_SKEW, "context");
_Static_assert(offsetof(Frame, begin) == LOFT_CALLS_BEGIN, "frame");
_Static_assert(sizeof(Context) <= LOFT_CALLS_FRAMES, "context");

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

/* Of struct perf_event_mmap_page. */
struct CounterPage {
  uint32_t version, compatible;
  volatile uint32_t lock, index;
  volatile int64_t offset;
  uint64_t enabled, running;
  uint64_t capabilities;
  uint16_t width;
};
enum { kMayRead = 4 };

static uint64_t read_hardware(uint32_t index) {
  uint32_t low, high;
  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
  return (uint64_t)high << 32 | low;
}

/* The kernel's part, and what the hardware has counted since. The kernel may take the counter away
 * and give it back between any two instructions: it tells by `lock`. */
static uint64_t read_counter(Context* context, const struct CounterPage* page) {
  uint64_t count;
  uint32_t lock, index;
  do {
    lock = page->lock;
    __asm__ volatile("" ::: "memory");
    index = page->index;
    count = (uint64_t)page->offset;
    if ((page->capabilities & kMayRead) != 0 && index != 0) {
      const unsigned unused = 64 - page->width;
      count += (uint64_t)((int64_t)(read_hardware(index - 1) << unused) >> unused);
    }
    __asm__ volatile("" ::: "memory");
  } while (page->lock != lock);
  if (index == 0) context->uncounted += 1;
  return count;
}

static void read_counters(Context* context, uint64_t* counts) {
  for (unsigned i = 0; i < context->counters; ++i)
    counts[i] = read_counter(context, (const struct CounterPage*)context->pages[i]);
}

static struct loft_calls_frame_counts* counts_of(const Context* context, const Frame* frame) {
  return (struct loft_calls_frame_counts*)context->frame_counts + (frame - sentinel(context));
}

/* What a moment is: ticks without those of the clock, and what the counters show. */
typedef struct {
  uint64_t ticks;
  uint64_t counts[LOFT_CALLS_COUNTER_COUNT];
} Moment;

static void take_moment(Context* context, Moment* moment) {
  read_counters(context, moment->counts);
  moment->ticks = now() - context->skew;
}

/* What a call was that ends now. */
typedef struct {
  uint64_t ticks;
  uint64_t own;
  struct loft_calls_counts counts;
} Extent;

static uint64_t less(uint64_t value, uint64_t part) { return value > part ? value - part : 0; }

static Extent extent_of(const Context* context, const Frame* frame, const Moment* end) {
  Extent extent;
  extent.ticks = less(end->ticks, frame->start);
  extent.own = less(extent.ticks, frame->child);
  for (unsigned i = 0; i < context->counters; ++i) {
    const struct loft_calls_frame_counts* counts = counts_of(context, frame);
    extent.counts.value[i] = end->counts[i] - counts->start[i];
    extent.counts.own[i] = extent.counts.value[i] - counts->child[i];
  }
  return extent;
}

static void put_counts(const Context* context, uint64_t table, uint64_t place,
                       const Extent* extent) {
  struct loft_calls_counts* counts = (struct loft_calls_counts*)table + place;
  for (unsigned i = 0; i < context->counters; ++i) {
    counts->value[i] = extent->counts.value[i];
    counts->own[i] = extent->counts.own[i];
  }
}

static void describe(const Context* context, const Frame* frame, const Extent* extent,
                     uint32_t flags, struct loft_calls_kept* call) {
  const uint64_t depth = depth_of(context, frame);
  call->function = offset_of(frame);
  call->caller = depth == 0 ? 0 : offset_of(frame - 1);
  call->begin = frame->begin;
  call->ticks = extent->ticks;
  call->own = extent->own;
  call->depth = (uint32_t)depth;
  call->flags = flags;
}

static void keep(Context* context, const Frame* frame, const Extent* extent, uint32_t flags) {
  const uint64_t depth = depth_of(context, frame);
  if (extent->ticks < context->longer || depth >= context->depth) return;
  const uint64_t read = __atomic_load_n(&context->read, __ATOMIC_ACQUIRE);
  if (context->written - read >= context->room) {
    ++context->lost;
    return;
  }
  const uint64_t place = context->written & (context->room - 1);
  describe(context, frame, extent, flags, (struct loft_calls_kept*)context->ring + place);
  put_counts(context, context->kept_counts, place, extent);
  __atomic_store_n(&context->written, context->written + 1, __ATOMIC_RELEASE);
}

/* One of the largest calls of its function takes the place of the smallest of them. */
static void note_large(Context* context, const Frame* frame, const Extent* extent, uint32_t flags) {
  const uint32_t offset = offset_of(frame);
  const uint64_t first =
      (uint64_t)(offset - LOFT_CALLS_SUMS) / LOFT_CALLS_SUMS_SIZE * LOFT_CALLS_LARGEST_COUNT;
  struct loft_calls_kept* calls = (struct loft_calls_kept*)context->largest + first;
  struct loft_calls_kept* least = calls;
  for (unsigned i = 1; i < LOFT_CALLS_LARGEST_COUNT; ++i)
    if (calls[i].ticks < least->ticks) least = calls + i;
  describe(context, frame, extent, flags, least);
  put_counts(context, context->largest_counts, first + (uint64_t)(least - calls), extent);
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

/* The counters' part of close_frame(). */
static void add_counts(const Context* context, const Frame* frame, const Extent* extent,
                       int is_outermost) {
  struct loft_calls_count_sums* sums = (struct loft_calls_count_sums*)context->count_sums +
                                       (uint64_t)(offset_of(frame) - LOFT_CALLS_SUMS) /
                                           LOFT_CALLS_SUMS_SIZE * LOFT_CALLS_COUNTER_COUNT;
  struct loft_calls_counts* node =
      (struct loft_calls_counts*)context->node_counts + frame->node / LOFT_CALLS_NODE_SIZE;
  for (unsigned i = 0; i < context->counters; ++i, ++sums) {
    const uint64_t value = extent->counts.value[i];
    sums->sum += value;
    sums->own += extent->counts.own[i];
    if (is_outermost) sums->total += value;
    if (~value > sums->not_min) sums->not_min = ~value;
    if (value > sums->max) sums->max = value;
    node->value[i] += value;
    node->own[i] += extent->counts.own[i];
  }
}

/* Adds what a frame was to the sums of its function. */
static void close_frame(Context* context, const Frame* frame, const Extent* extent,
                        uint32_t flags) {
  const uint64_t ticks = extent->ticks;
  const uint32_t offset = offset_of(frame);
  Sums* sums = (Sums*)(context->self + offset);
  sums->calls += 1;
  sums->sum += ticks;
  sums->own += extent->own;
  sums->open -= 1;
  if (sums->open == 0) sums->total += ticks;
  if (sums->open != 0) flags |= kRecursive;
  if (~ticks > sums->not_min) sums->not_min = ~ticks;
  if (ticks > sums->large) note_large(context, frame, extent, flags);
  if (flags & kEndedEarly) sums->ended_early += 1;
  steps_of(context, offset)[step_of(ticks)] += 1;
  struct loft_calls_node* node = (struct loft_calls_node*)(context->nodes + frame->node);
  node->calls += 1;
  node->sum += ticks;
  node->own += extent->own;
  if (context->counters != 0) add_counts(context, frame, extent, sums->open == 0);
  if (context->room != 0) keep(context, frame, extent, flags);
}

/* Takes one frame out, wherever it is, and closes it. */
static void end_frame(Context* context, Frame* frame, const Moment* end, uint32_t flags) {
  Frame* top = top_of(context);
  if (top <= sentinel(context)) return;
  const Extent extent = extent_of(context, frame, end);
  frame[-1].child += extent.ticks;
  for (unsigned i = 0; i < context->counters; ++i)
    counts_of(context, frame - 1)->child[i] += extent.counts.value[i];
  close_frame(context, frame, &extent, flags);
  for (; frame < top; ++frame) {
    *frame = frame[1];
    if (context->counters != 0) *counts_of(context, frame) = *counts_of(context, frame + 1);
  }
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
static void end_left_frames(Context* context, uint64_t slot, const Moment* end) {
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

static void begin_counts(Context* context, const Frame* frame) {
  struct loft_calls_frame_counts* counts = counts_of(context, frame);
  for (unsigned i = 0; i < context->counters; ++i) counts->child[i] = 0;
  read_counters(context, counts->start);
}

void loft_calls_entry(Context* context, uint64_t slot, uint32_t function) {
  const uint64_t return_address = *(const uint64_t*)slot;
  Sums* sums = (Sums*)(context->self + (function & ~(uint32_t)LOFT_CALLS_FACTS));
  Moment begin;
  take_moment(context, &begin);
  end_left_frames(context, slot, &begin);
  for (Frame* top = top_of(context); slot_of(top) == slot && top != sentinel(context);
       top = top_of(context)) {
    if (top->function == function && (function & LOFT_CALLS_LOOPS) != 0 &&
        top->return_address == return_address)
      return;
    if (goes_on(top, function, return_address)) break;
    end_frame(context, top, &begin, flags_of_end(top));
  }
  Frame* frame = top_of(context) + 1;
  if ((uint64_t)frame > context->last) {
    __atomic_fetch_add(&sums->unmeasured, 1, __ATOMIC_RELAXED);  // threads may share this one
    return;
  }
  set_top(context, frame);
  frame->function = function;
  frame->stack = context->stack;
  frame->child = 0;
  frame->return_address = return_address;
  frame->node = loft_calls_node_of(context, node_key(frame[-1].node, offset_of(frame)));
  frame->start = begin.ticks;
  frame->begin = begin.ticks + context->skew;
  sums->open += 1;
  __asm__ volatile("" ::: "memory");
  frame->not_slot = ~slot;
  if (context->counters != 0) begin_counts(context, frame);
  frame->begin = now();
  frame->start = frame->begin - context->skew;
  context->skew += context->floor;
}

/* The innermost frame with that slot; the sentinel where there is none. */
static Frame* frame_at(Context* context, uint64_t slot) {
  Frame* frame = top_of(context);
  while (frame != sentinel(context) && slot_of(frame) != slot) --frame;
  return frame;
}

void loft_calls_exit(Context* context, uint64_t slot) {
  Moment end;
  end.ticks = now() - context->skew;
  read_counters(context, end.counts);
  Frame* found = frame_at(context, slot);
  if (found == sentinel(context)) {
    end_left_frames(context, slot, &end);
    return;
  }
  const uint32_t stack = found->stack;
  for (Frame* frame = top_of(context); frame > found; --frame)
    if (frame->stack == stack) end_frame(context, frame, &end, flags_of_end(frame));
  for (; slot_of(found) == slot && found != sentinel(context); --found)
    end_frame(context, found, &end, 0);
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
static void give_up_segment(void) {
  if (loft_calls_is_traced()) __asm__ volatile("int3");
}

/* A function that leaves calls without their returns, or changes what the agent stands on, is about
 * to begin: `what` is one of loft_calls_leave, `slot` where its return address is. */
void loft_calls_leave(Context* context, uint64_t first, uint64_t second, uint32_t what,
                      uint64_t slot) {
  enum { kArchPrctl = 158, kSetsGs = 0x1001 };
  Moment end;
  switch (what) {
    case kLoftSetsContext:
      return switch_stack(context, 0, first);
    case kLoftSwapsContext:
      return switch_stack(context, first, second);
    case kLoftCatches:
      take_moment(context, &end);
      return end_left_frames(context, slot + 8, &end);
    case kLoftJumps:
      take_moment(context, &end);
      return end_left_frames(context, target_of_jump((const uint64_t*)first), &end);
    case kLoftSetsSegment:
      if (first == kSetsGs) give_up_segment();
      return;
    case kLoftCallsSystem:
      if (first == kArchPrctl && second == kSetsGs) give_up_segment();
      return;
    case kLoftWritesSegment:
      return give_up_segment();
  }
}
