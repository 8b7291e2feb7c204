/* What the agent inside the program and loft outside of it both know of the memory they share.
 *
 * Each thread has a context, which its gs register points at. In it lie the frames of the calls
 * that are open, and of each function the sums of all calls that have ended: nothing that another
 * thread writes. Offsets are macros: the assembler includes this file, too.
 */
#pragma once

/* The head of a context. */
#define LOFT_CALLS_TOP 0x00      /* the innermost open frame */
#define LOFT_CALLS_LIMIT 0x08    /* the last frame that there is room for */
#define LOFT_CALLS_SELF 0x10     /* the address of the context */
#define LOFT_CALLS_STEPS 0x18    /* the address of the histograms */
#define LOFT_CALLS_STACK 0x20    /* 32 bits: which of the thread's stacks it runs on */
#define LOFT_CALLS_SWITCHED 0x24 /* 32 bits: not 0 once it has run on another one */
#define LOFT_CALLS_RING 0x28     /* the address of the kept calls; 0: none are kept */
#define LOFT_CALLS_WRITTEN 0x30  /* how many were kept so far */
#define LOFT_CALLS_READ 0x38     /* how many of them loft has read */
#define LOFT_CALLS_ROOM 0x40     /* how many may be unread; a power of two */
#define LOFT_CALLS_LOST 0x48     /* calls that were to be kept and found no room */
#define LOFT_CALLS_LONGER 0x50   /* keep calls of at least so many ticks */
#define LOFT_CALLS_DEPTH 0x58    /* keep calls below this frame */
#define LOFT_CALLS_NODES 0x60    /* the address of the nodes */
#define LOFT_CALLS_LARGEST 0x70  /* the address of the largest calls */
#define LOFT_CALLS_FLOOR 0x78    /* ticks that the clock takes in each call */
#define LOFT_CALLS_STACKS 0x80   /* the stacks that were left */
#define LOFT_CALLS_STACK_COUNT 64
#define LOFT_CALLS_SKEW                                                    \
  0x480 /* what the clock took of the thread's time so far: no call has it \
         */

/* A frame. Memory begins as 0: the slot of a frame that is not used is above all others. */
#define LOFT_CALLS_FRAMES 0x1000 /* the first is a sentinel that never ends */
#define LOFT_CALLS_FRAME_SIZE 56
#define LOFT_CALLS_NOT_SLOT 0  /* the complement of where the return address of the call is */
#define LOFT_CALLS_START 8     /* ticks, without those of the clock (SKEW) */
#define LOFT_CALLS_CHILD 16    /* ticks that watched callees took */
#define LOFT_CALLS_FUNCTION 24 /* 32 bits: the offset of its sums, and what is known of it */
#define LOFT_CALLS_ON_STACK 28 /* 32 bits */
#define LOFT_CALLS_RETURN 32   /* the return address */
#define LOFT_CALLS_NODE 40     /* 32 bits: its node, see below */
#define LOFT_CALLS_BEGIN 48    /* ticks */
#define LOFT_CALLS_FRAME_COUNT 16384

/* The lowest bits of a frame's function. */
#define LOFT_CALLS_HAS_TAIL_CALLS 1 /* may end in a jump to another function */
#define LOFT_CALLS_LATE_END 2       /* and nobody tells when that one returns */
#define LOFT_CALLS_LOOPS 4          /* jumps back to its own first instruction */
#define LOFT_CALLS_FACTS 63

/* The sums of a function. */
#define LOFT_CALLS_SUMS (LOFT_CALLS_FRAMES + LOFT_CALLS_FRAME_SIZE * LOFT_CALLS_FRAME_COUNT)
#define LOFT_CALLS_SUMS_SIZE 64
#define LOFT_CALLS_CALLS 0    /* that have ended */
#define LOFT_CALLS_OPEN 8     /* that have not */
#define LOFT_CALLS_SUM 16     /* of all that have ended */
#define LOFT_CALLS_TOTAL 24   /* of those that were not inside another of the same function */
#define LOFT_CALLS_OWN 32     /* without what watched callees took */
#define LOFT_CALLS_NOT_MIN 40 /* the complement of the smallest: memory begins as 0 */
#define LOFT_CALLS_LARGE \
  48 /* how long a call must take, more than this, to be one of the largest */
#define LOFT_CALLS_UNUSUAL \
  56 /* 32 bits: ended early; 32 bits: not measured, the frames were full */

/* The histogram of a function: as in base/log_linear.hpp. */
#define LOFT_CALLS_STEP_COUNT 496
#define LOFT_CALLS_HISTOGRAM_SIZE (8 * LOFT_CALLS_STEP_COUNT)

/* The largest calls of a function, which have ended, in no order: as those that are kept. One that
 * was never used has taken no time. */
#define LOFT_CALLS_LARGEST_COUNT 8

/* A node of the tree of calls: a function, and the node of its caller. A table that is searched by
 * both, whose first entry is nobody's: what found no room. A node's number is its offset. */
#define LOFT_CALLS_NODE_SIZE 32
#define LOFT_CALLS_NODE_BITS 15
#define LOFT_CALLS_NODE_COUNT (1 << LOFT_CALLS_NODE_BITS)
#define LOFT_CALLS_NODE_HASH 0x1e3779b1
#define LOFT_CALLS_NODE_CALLS 8
#define LOFT_CALLS_NODE_SUM 16
#define LOFT_CALLS_NODE_OWN 24

/* Hardware counters, read beside the clock by the slow way alone: a context with counters has no
 * LIMIT and a RING that nobody writes, so that the fast ways hand over to it. */
#define LOFT_CALLS_COUNTER_COUNT 4

/* A call that was kept. */
#define LOFT_CALLS_KEPT_SIZE 40

#ifndef __ASSEMBLER__
#include <stdint.h>

struct loft_calls_frame {
  uint64_t not_slot;
  uint64_t start;
  uint64_t child;
  uint32_t function;
  uint32_t stack;
  uint64_t return_address;
  uint32_t node;
  uint32_t spare;
  uint64_t begin;
};

struct loft_calls_node {
  uint64_t key; /* the number of the caller's node, and in the lower half the offset of the sums */
  uint64_t calls;
  uint64_t sum;
  uint64_t own;
};

struct loft_calls_sums {
  uint64_t calls;
  uint64_t open;
  uint64_t sum;
  uint64_t total;
  uint64_t own;
  uint64_t not_min;
  uint64_t large;
  uint32_t ended_early;
  uint32_t unmeasured;
};

struct loft_calls_kept {
  uint32_t function; /* the offset of its sums */
  uint32_t caller;   /* likewise; 0: none that is watched */
  uint64_t begin;
  uint64_t ticks;
  uint64_t own;
  uint32_t depth;
  uint32_t flags; /* as sample::CallFlag */
};

/* What counters showed when a frame began, and what watched callees counted. */
struct loft_calls_frame_counts {
  uint64_t start[LOFT_CALLS_COUNTER_COUNT];
  uint64_t child[LOFT_CALLS_COUNTER_COUNT];
};

/* A counter of all calls of a function, as loft_calls_sums has the ticks. */
struct loft_calls_count_sums {
  uint64_t sum;
  uint64_t total;
  uint64_t own;
  uint64_t not_min;
  uint64_t max;
};

/* What one call counted, or all calls of a node. */
struct loft_calls_counts {
  uint64_t value[LOFT_CALLS_COUNTER_COUNT];
  uint64_t own[LOFT_CALLS_COUNTER_COUNT];
};

/* Where it was saved, and its number. */
struct loft_calls_left_stack {
  uint64_t saved_at;
  uint64_t number;
};

struct loft_calls_context {
  uint64_t top;
  uint64_t limit;
  uint64_t self;
  uint64_t steps;
  uint32_t stack;
  uint32_t switched;
  uint64_t ring;
  uint64_t written;
  uint64_t read;
  uint64_t room;
  uint64_t lost;
  uint64_t longer;
  uint64_t depth;
  uint64_t nodes;
  uint64_t node_count; /* that are used */
  uint64_t largest;
  uint64_t floor;
  struct loft_calls_left_stack stacks[LOFT_CALLS_STACK_COUNT];
  uint64_t skew;
  uint64_t last;      /* the last frame that there is room for, also with counters */
  uint64_t counters;  /* how many there are; the addresses below are 0 where there is none */
  uint64_t uncounted; /* readings of a counter that the kernel had not put on the hardware */
  uint64_t pages[LOFT_CALLS_COUNTER_COUNT]; /* the kernel's page of each: perf_event_mmap_page */
  uint64_t frame_counts;                    /* by frame */
  uint64_t count_sums;                      /* by function, LOFT_CALLS_COUNTER_COUNT each */
  uint64_t kept_counts;                     /* by place in the ring: loft_calls_counts */
  uint64_t largest_counts;                  /* by place among the largest: loft_calls_counts */
  uint64_t node_counts;                     /* by node: loft_calls_counts */
};

/* What a function does that leaves calls without their returns, or that the agent must know of. */
enum loft_calls_leave {
  kLoftSetsContext = 1,  /* setcontext(to) */
  kLoftSwapsContext = 2, /* swapcontext(from, to) */
  kLoftCatches = 3,      /* called from where an exception was caught */
  kLoftJumps = 4,        /* longjmp(to, value) */
  kLoftSetsSegment = 5,  /* arch_prctl(code, address) */
  kLoftCallsSystem = 6,  /* syscall(number, code, address) */
  kLoftWritesSegment = 7 /* has an instruction that sets gs */
};

/* What the agent's code begins with: offsets in it. */
struct loft_calls_agent {
  uint32_t magic;
  uint32_t entry_template; /* of the hook at a function's first instruction */
  uint32_t entry_size;
  uint32_t entry_start;    /* where it begins, in the template */
  uint32_t entry_slow;     /* in the template: the displacement of the call into the agent */
  uint32_t entry_node;     /* in the template: the displacement of the call for a new node */
  uint32_t entry_key;      /* in the template: the offset of the function's sums */
  uint32_t on_node;        /* what entry_node is to reach */
  uint32_t entry_ids[3];   /* in the template: the function, twice; where its open calls are */
  uint32_t count_template; /* the same for counting alone */
  uint32_t count_size;
  uint32_t count_ids[2];    /* in it: the offset of its calls, twice */
  uint32_t on_entry;        /* what entry_slow is to reach */
  uint32_t on_exit;         /* instead of a ret */
  uint32_t on_switch;       /* what switch_call is to reach */
  uint32_t switch_template; /* of the hook at swapcontext() and setcontext() */
  uint32_t switch_size;
  uint32_t switch_arguments; /* in it: what the function does, see below */
  uint32_t switch_call;      /* in it: the displacement of the call into the agent */
  uint32_t loader_template;  /* of the hook at the loader's function for debuggers */
  uint32_t loader_size;
  uint32_t loader_call; /* in it: the displacement of the call into the agent */
  uint32_t on_loader;   /* what loader_call is to reach */
  uint32_t loader_trap; /* behind its breakpoint */
};
#define LOFT_CALLS_MAGIC 0x746c6163u
#endif
