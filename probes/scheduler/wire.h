/* What the scheduler probe and loft say to each other: plain C, included by both.
 *
 * The probe follows marked tasks and all that they start, and writes records of four kinds into a
 * ring. A slice carries what its task did since its slice before, never totals: a slice that finds
 * no room keeps its amounts for the next one. */
#ifndef LOFT_PROBES_SCHEDULER_WIRE_H
#define LOFT_PROBES_SCHEDULER_WIRE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define LOFT_MAX_COUNTERS 24
#define LOFT_MAX_SETS 8 /* of events; a power of two. The first are those that need no counter. */

enum loft_record_kind {
  LOFT_SWITCH = 1,
  LOFT_SLICE = 2,
  LOFT_FORK = 3,
  LOFT_EXIT = 4,
  LOFT_MIGRATE = 5,
};

enum loft_switch_flag {
  LOFT_PREV_IS_OURS = 1,
  LOFT_NEXT_IS_OURS = 2,
  LOFT_PREV_CAN_RUN = 4, /* it lost the CPU, it did not give it up */
  LOFT_NEXT_WAS_WOKEN = 8,
  LOFT_WOKEN_BY_INTERRUPT = 16, /* a timer or a device: of no task */
};

/* Why a slice ended. */
enum loft_slice_end {
  LOFT_END_TIME = 1,   /* the task ran for a slice's length; `ip` is where it was */
  LOFT_END_SWITCH = 2, /* so, too, but noticed when it left the CPU: `ip` is 0, here and below */
  LOFT_END_EXEC = 3,
  LOFT_END_EXIT = 4,
  LOFT_END_RECORDING = 5,
  LOFT_END_CHANGE = 6, /* other events are counted from here on */
};

/* A task that was marked from outside counts after its exec, or, if it has been running, after
 * adopt_threads has read how long it had waited until then. */
enum loft_phase {
  LOFT_UNKNOWN = 0,
  LOFT_PENDING = 1,
  LOFT_LIVE = 2,
  LOFT_ATTACHED = 3,
};

struct loft_head {
  __u32 kind;
  __u32 cpu;
  __u64 time; /* CLOCK_MONOTONIC */
  __u32 pid;
  __u32 tid;
};

struct loft_switch {
  struct loft_head head; /* the task that left */
  __u32 next_pid;
  __u32 next_tid;
  __u32 flags;
  __u32 waker_pid; /* who woke the next one; 0 where no number is known of it */
  __u32 waker_tid;
  __u32 reserved;
};

struct loft_slice {
  struct loft_head head;
  __u64 ip;
  __u32 ip_is_kernel;
  __u32 end;
  __u64 run_ns;
  __u64 wait_ns; /* ready to run, on no CPU */
  __u64 switches;
  __u64 migrations;
  __u64 running_ns[LOFT_MAX_SETS]; /* of run_ns: while the events of the set had counters */
  __u64 work[LOFT_MAX_SETS];       /* instructions meanwhile, of sets that take turns */
  __u64 counts[LOFT_MAX_COUNTERS];
};

struct loft_fork {
  struct loft_head head; /* the new task */
  __u32 parent_pid;
  __u32 parent_tid;
};

struct loft_exit {
  struct loft_head head;
};

struct loft_migrate {
  struct loft_head head; /* `cpu` is where it goes */
  __u32 from;
  __u32 reserved;
};

/* One task that is followed: the value of the task storage. */
struct loft_task {
  __u32 phase;
  __u32 pid;
  __u32 tid;
  __u32 cpu; /* where it last was */
  __u32 is_ending;
  __u32 was_seen; /* it got a CPU while it was followed */
  __u32 turn;     /* the set that its slice has counted so far, where sets are changed */
  __u32 woken;    /* flags of the switch that is to come */
  __u32 waker_pid;
  __u32 waker_tid;
  __u64 delay_seen; /* of the kernel's own sum of waiting */
  __u64 run_ns;
  __u64 switches;
  __u64 migrations;
  __u64 running_ns[LOFT_MAX_SETS];
  __u64 work[LOFT_MAX_SETS];
  __u64 counts[LOFT_MAX_COUNTERS];
};

/* Kept per CPU, never reset: seen is what there was to write, lost what found no room. */
struct loft_totals {
  __u64 seen;
  __u64 lost;
  __u64 lost_run_ns; /* in slices that ended a task and found no room */
  __u64 lost_tasks;  /* new tasks for which the kernel had no memory */
  __u64 missed;      /* a task ran on a CPU to which no switch was seen: that time is unknown */
};

#endif
