/* The scheduler probe: follows tasks and what they start, and measures what each does while it has
 * a CPU.
 *
 * Counters are open per CPU and always on. They are read once per switch that concerns us, and the
 * difference belongs to the task that leaves. A slice ends when its task has run for about the
 * length of one, which a clock of each CPU checks now and then, or at exec and exit.
 *
 * Sets of events that take turns are switched from outside: on_turn is run on the CPU before and
 * after, so that nothing is counted across. */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set before loading. */
const volatile __u32 counters_used = 0;
const volatile __u64 slice_ns = 10000000;
const volatile __u64 wake_bytes = 65536;
const volatile __u32 namespace_inode = 0; /* pids as this namespace sees them; 0: the first one */
const volatile bool wants_switches = 1;
const volatile bool wants_slices = 1;
const volatile bool wants_migrations = 1;
const volatile __u8 set_of[LOFT_MAX_COUNTERS] = {};    /* counters of a set follow each other */
const volatile __u32 always_on = 1;                    /* sets that take no turns, one bit each */
const volatile __u32 work_counter = LOFT_MAX_COUNTERS; /* which counts instructions */
const volatile bool has_task_storage = 1;              /* since Linux 5.11 */
/* Sets are added and chosen while it runs, one at a time. A slice is then of one set alone. */
const volatile bool may_change = 0;

/* Of this CPU, on x86, where the kernel lists it; elsewhere interrupts are not told apart. */
extern const int __preempt_count __ksym __weak;

/* The same as set_of, where sets are added while it runs. */
__u8 added_set_of[LOFT_MAX_COUNTERS] = {};

/* What one CPU does for us now. */
struct cpu_state {
  __u32 is_ours; /* the task that runs is followed */
  __u32 is_busy; /* the task that runs is being measured: leave it alone */
  __u64 since;
  __u32 turn;                    /* the set that has its turn; 0: none at this moment */
  __u64 base[LOFT_MAX_COUNTERS]; /* what the counters showed then */
  __u64 base_enabled[LOFT_MAX_SETS], base_running[LOFT_MAX_SETS];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct loft_task);
} tasks SEC(".maps");

/* Tasks by their numbers in the first namespace, for kernels without task storage. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32);
  __type(value, struct loft_task);
} tasks_by_number SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct cpu_state);
} cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct loft_totals);
} totals SEC(".maps");

/* One event per CPU and counter, at cpu * counters_used + counter. */
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
  __uint(max_entries, 1);
} counters SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 22);
} ring SEC(".maps");

static const __u32 kZero = 0;
static const struct loft_task kNothing = {};
static const __u64 kDead = 0x80; /* TASK_DEAD: it will never run again */

static __always_inline struct cpu_state* this_cpu(void) {
  return bpf_map_lookup_elem(&cpus, &kZero);
}

static __always_inline struct loft_task* state_for(struct task_struct* task) {
  if (has_task_storage) return bpf_task_storage_get(&tasks, task, 0, 0);
  __u32 number = BPF_CORE_READ(task, pid);
  return bpf_map_lookup_elem(&tasks_by_number, &number);
}

static __always_inline struct loft_task* new_state_for(struct task_struct* task) {
  if (has_task_storage)
    return bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  __u32 number = BPF_CORE_READ(task, pid);
  bpf_map_update_elem(&tasks_by_number, &number, &kNothing, 0);
  return bpf_map_lookup_elem(&tasks_by_number, &number);
}

/* Task storage goes with its task. */
static __always_inline void forget(struct task_struct* task) {
  if (has_task_storage) return;
  __u32 number = BPF_CORE_READ(task, pid);
  bpf_map_delete_elem(&tasks_by_number, &number);
}

/* A thread that execs takes over the number of its process. */
static __always_inline void renumber(struct task_struct* task, __u32 before) {
  if (has_task_storage) return;
  __u32 number = BPF_CORE_READ(task, pid);
  if (number == before) return;
  struct loft_task* state = bpf_map_lookup_elem(&tasks_by_number, &before);
  if (!state) return;
  bpf_map_update_elem(&tasks_by_number, &number, state, 0);
  bpf_map_delete_elem(&tasks_by_number, &before);
}

/* Room in the ring, or nothing; both are counted, in one step: the end of a slice may come in
 * between. */
static __always_inline void* reserve(__u64 size) {
  struct loft_totals* sums = bpf_map_lookup_elem(&totals, &kZero);
  void* room = bpf_ringbuf_reserve(&ring, size, 0);
  if (sums) {
    __sync_fetch_and_add(&sums->seen, 1);
    if (!room) __sync_fetch_and_add(&sums->lost, 1);
  }
  return room;
}

/* The reader is woken when enough data has come together; otherwise it polls. The amount of data is
 * queried only now and then, since that touches memory which the reader writes. */
static __always_inline void submit(void* record) {
  struct loft_totals* sums = bpf_map_lookup_elem(&totals, &kZero);
  __u64 wake = BPF_RB_NO_WAKEUP;
  if (sums && sums->seen % 64 == 0 && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= wake_bytes)
    wake = BPF_RB_FORCE_WAKEUP;
  bpf_ringbuf_submit(record, wake);
}

static __always_inline void fill_head(struct loft_head* head, __u32 kind,
                                      const struct loft_task* task, __u64 now) {
  head->kind = kind;
  head->cpu = bpf_get_smp_processor_id();
  head->time = now;
  head->pid = task->pid;
  head->tid = task->tid;
}

/* The number of a task as the namespace of loft sees it. */
static __always_inline __u32 number_of(struct task_struct* task) {
  if (namespace_inode == 0) return task->pid;
  struct pid* pid = BPF_CORE_READ(task, thread_pid);
  __u32 level = BPF_CORE_READ(pid, level);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    struct upid upid;
    if (i > level) break;
    if (bpf_core_read(&upid, sizeof upid, &pid->numbers[i])) break;
    if (BPF_CORE_READ(upid.ns, ns.inum) == namespace_inode) return upid.nr;
  }
  return 0;
}

static __always_inline void learn_numbers(struct loft_task* state, struct task_struct* task) {
  state->tid = number_of(task);
  state->pid = namespace_inode == 0 ? task->tgid : number_of(BPF_CORE_READ(task, group_leader));
}

static __always_inline __u64 delay_of(struct task_struct* task) {
  if (!bpf_core_field_exists(task->sched_info.run_delay)) return 0;
  return BPF_CORE_READ(task, sched_info.run_delay);
}

static __always_inline __u64 state_of(struct task_struct* task) {
  if (bpf_core_field_exists(task->__state)) return task->__state;
  struct task_struct___old* old = (void*)task;
  return BPF_CORE_READ(old, state);
}

/* The part of a time for which a set had its counters. */
static __always_inline __u64 part_of(__u64 span, __u64 running, __u64 enabled) {
  if (running >= enabled) return span;
  if (running == 0) return 0;
  /* In microseconds: the product must not overflow. */
  return span / 1000 * (running / 1000) / (enabled / 1000 + 1) * 1000;
}

static __always_inline __u32 set_for(__u32 i) {
  if (i >= LOFT_MAX_COUNTERS) return 0;
  return (may_change ? added_set_of[i] : set_of[i]) & (LOFT_MAX_SETS - 1);
}

/* One counter of this CPU. The last one of a set is read with the times for which the set had
 * counters; the short read of the others lacks them, and costs less. */
static __always_inline long read_counter(struct cpu_state* cpu, struct loft_task* task, __u32 i,
                                         __u64 span) {
  __u32 place = bpf_get_smp_processor_id() * counters_used + i;
  __u32 set = set_for(i);
  __u32 is_last = i + 1 >= counters_used || i + 1 >= LOFT_MAX_COUNTERS;
  if (!is_last) is_last = set_for(i + 1) != set;
  if (set == 0 || !is_last) return (long)bpf_perf_event_read(&counters, place);
  struct bpf_perf_event_value value = {};
  long failed = bpf_perf_event_read_value(&counters, place, &value, sizeof value);
  if (failed) return failed;
  if (task)
    task->running_ns[set] += part_of(span, value.running - cpu->base_running[set],
                                     value.enabled - cpu->base_enabled[set]);
  cpu->base_enabled[set] = value.enabled;
  cpu->base_running[set] = value.running;
  return (long)value.counter;
}

static __always_inline void measure(struct cpu_state* cpu, struct loft_task* task, __u64 now) {
  __u64 span = now - cpu->since;
  __u32 turn = cpu->turn & (LOFT_MAX_SETS - 1);
  for (__u32 i = 0; i < LOFT_MAX_COUNTERS; i++) {
    if (i >= counters_used) break;
    __u32 set = set_for(i);
    if (set != turn && !(always_on >> set & 1)) continue;
    long value = read_counter(cpu, task, i, span);
    if (value < 0 && value > -4096) continue; /* an error */
    __u64 more = value - cpu->base[i];
    cpu->base[i] = value;
    if (!task) continue;
    task->counts[i] += more;
    if (i == work_counter) task->work[turn] += more;
  }
  if (task) task->run_ns += span;
  cpu->since = now;
}

/* Adds what this CPU did since its last measurement to the task, if the task ran here since then;
 * the next measurement starts from here. measure() is called in two places because the verifier of
 * Linux 6.1 refuses a pointer that may be null and is passed on. */
static __always_inline void account(struct cpu_state* cpu, struct loft_task* task, __u64 now) {
  if (task) {
    if (cpu->is_ours) {
      measure(cpu, task, now);
      return;
    }
  }
  measure(cpu, 0, now);
}

static __always_inline void write_slice(struct loft_task* state, struct task_struct* task,
                                        __u64 now, __u32 end, __u64 ip) {
  struct loft_slice* slice = reserve(sizeof *slice);
  if (!slice) {
    /* Nothing is forgotten: the next slice of this task has it, if there will be one. */
    if (end != LOFT_END_EXIT) return;
    struct loft_totals* sums = bpf_map_lookup_elem(&totals, &kZero);
    if (sums) sums->lost_run_ns += state->run_ns;
    return;
  }
  fill_head(&slice->head, LOFT_SLICE, state, now);
  __u64 delay = delay_of(task);
  slice->ip = ip;
  slice->ip_is_kernel = (__s64)ip < 0;
  slice->end = end;
  slice->run_ns = state->run_ns;
  slice->wait_ns = delay - state->delay_seen;
  slice->switches = state->switches;
  slice->migrations = state->migrations;
  state->delay_seen = delay;
  state->run_ns = state->switches = state->migrations = 0;
#pragma unroll
  for (__u32 i = 0; i < LOFT_MAX_SETS; i++) {
    slice->running_ns[i] = state->running_ns[i];
    slice->work[i] = state->work[i];
    state->running_ns[i] = state->work[i] = 0;
  }
#pragma unroll
  for (__u32 i = 0; i < LOFT_MAX_COUNTERS; i++) {
    slice->counts[i] = state->counts[i];
    state->counts[i] = 0;
  }
  submit(slice);
}

/* Where other events are counted than until now, the slice that has those ends here. */
static __always_inline void follow_turn(struct loft_task* state, struct task_struct* task,
                                        __u32 turn, __u64 now) {
  if (!may_change || state->turn == turn) return;
  if (wants_slices && state->run_ns > 0) write_slice(state, task, now, LOFT_END_CHANGE, 0);
  state->turn = turn;
}

static __always_inline void write_exit(struct loft_task* state, __u64 now) {
  struct loft_exit* record = reserve(sizeof *record);
  if (!record) return;
  fill_head(&record->head, LOFT_EXIT, state, now);
  submit(record);
}

static __always_inline struct loft_task* live(struct loft_task* state) {
  if (!state) return 0;
  if (state->phase != LOFT_LIVE) return 0;
  return state;
}

static __always_inline void write_switch(struct task_struct* prev, struct task_struct* next,
                                         struct loft_task* out, struct loft_task* in, __u64 now,
                                         bool can_run) {
  struct loft_switch* record = reserve(sizeof *record);
  if (!record) return;
  __u32 flags = 0;
  record->head.kind = LOFT_SWITCH;
  record->head.cpu = bpf_get_smp_processor_id();
  record->head.time = now;
  /* Tasks of others are named where one namespace is all there is. */
  record->head.pid = namespace_inode == 0 ? prev->tgid : 0;
  record->head.tid = namespace_inode == 0 ? prev->pid : 0;
  record->next_pid = namespace_inode == 0 ? next->tgid : 0;
  record->next_tid = namespace_inode == 0 ? next->pid : 0;
  if (out) {
    flags |= LOFT_PREV_IS_OURS;
    record->head.pid = out->pid;
    record->head.tid = out->tid;
  }
  if (in) {
    flags |= LOFT_NEXT_IS_OURS;
    record->next_pid = in->pid;
    record->next_tid = in->tid;
  }
  record->waker_pid = record->waker_tid = record->reserved = 0;
  if (in) {
    flags |= in->woken;
    record->waker_pid = in->waker_pid;
    record->waker_tid = in->waker_tid;
    in->woken = 0;
  }
  if (can_run) flags |= LOFT_PREV_CAN_RUN;
  record->flags = flags;
  submit(record);
}

/* The task runs here, but its switch to this CPU was not seen. What it did until now is not known.
 */
static __always_inline void count_missed(const struct cpu_state* cpu,
                                         const struct loft_task* task) {
  if (cpu->is_ours || !task->was_seen) return;
  struct loft_totals* sums = bpf_map_lookup_elem(&totals, &kZero);
  if (sums) sums->missed++;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct* prev, struct task_struct* next) {
  struct cpu_state* cpu = this_cpu();
  if (!cpu) return 0;
  struct loft_task* in = live(state_for(next));
  struct loft_task* out = live(state_for(prev));
  /* One by one: the compiler would make one test of two pointers, which verifiers refuse. */
  __u32 concerns_us = 0;
  if (in) concerns_us = 1;
  barrier_var(concerns_us);
  if (out) concerns_us = 1;
  barrier_var(concerns_us);
  if (!concerns_us) return 0;
  __u64 now = bpf_ktime_get_ns();
  account(cpu, out, now);
  if (out) {
    count_missed(cpu, out);
    out->switches++;
    out->cpu = bpf_get_smp_processor_id();
  }
  cpu->is_ours = 0;
  if (in) {
    cpu->is_ours = 1;
    in->was_seen = 1;
    follow_turn(in, next, cpu->turn, now);
  }
  __u64 state = state_of(prev);
  if (wants_switches) write_switch(prev, next, out, in, now, preempt || state == 0);
  if (out) {
    if (out->is_ending && (state & kDead)) {
      if (wants_slices) write_slice(out, prev, now, LOFT_END_EXIT, 0);
      write_exit(out, now);
      forget(prev);
    } else if (wants_slices && out->run_ns >= slice_ns) {
      write_slice(out, prev, now, LOFT_END_SWITCH, 0);
    }
  }
  return 0;
}

/* The clock of this CPU, which ticks once in a slice's length. A slice ends at the tick that is
 * nearest to its length. A task that no tick meets then ends its slice when it leaves the CPU. */
SEC("perf_event")
int on_slice(struct bpf_perf_event_data* context) {
  struct task_struct* task =
      has_task_storage ? bpf_get_current_task_btf() : (void*)bpf_get_current_task();
  struct loft_task* state = live(state_for(task));
  if (!state) return 0;
  struct cpu_state* cpu = this_cpu();
  if (!cpu) return 0;
  if (cpu->is_busy) return 0;
  __u64 now = bpf_ktime_get_ns();
  if (cpu->is_ours && state->run_ns + (now - cpu->since) < slice_ns / 2) return 0;
  account(cpu, state, now);
  count_missed(cpu, state);
  state->was_seen = 1;
  cpu->is_ours = 1;
  if (state->run_ns < slice_ns / 2) return 0;
  write_slice(state, task, now, LOFT_END_TIME, context->regs.ip);
  return 0;
}

/* Run on this CPU by whoever switches the sets: first with none, then, when the counters of the
 * next set run, with its number; where sets are changed by somebody's wish, at once with that. What
 * the task that runs has done until now is its own. Not 0 when it has to be tried again. */
SEC("raw_tp")
int on_turn(struct bpf_raw_tracepoint_args* context) {
  struct cpu_state* cpu = this_cpu();
  if (!cpu) return 0;
  if (cpu->is_busy) return 1;
  struct task_struct* task =
      has_task_storage ? bpf_get_current_task_btf() : (void*)bpf_get_current_task();
  struct loft_task* state = live(state_for(task));
  cpu->is_busy = 1;
  __u64 now = bpf_ktime_get_ns();
  account(cpu, state, now);
  __u32 turn = context->args[0] & (LOFT_MAX_SETS - 1);
  if (state) follow_turn(state, task, turn, now);
  cpu->turn = turn;
  for (__u32 i = 0; i < LOFT_MAX_COUNTERS; i++) {
    if (i >= counters_used) break;
    if (turn == 0 || set_for(i) != turn) continue;
    long value = read_counter(cpu, 0, i, 0);
    if (value < 0 && value > -4096) continue;
    cpu->base[i] = value;
  }
  cpu->is_busy = 0;
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  struct loft_task* from = live(state_for(parent));
  if (!from) return 0;
  struct loft_task* state = new_state_for(child);
  if (!state) {
    struct loft_totals* sums = bpf_map_lookup_elem(&totals, &kZero);
    if (sums) sums->lost_tasks++;
    return 0;
  }
  learn_numbers(state, child);
  state->cpu = bpf_get_smp_processor_id();
  state->phase = LOFT_LIVE;
  struct loft_fork* record = reserve(sizeof *record);
  if (!record) return 0;
  fill_head(&record->head, LOFT_FORK, state, bpf_ktime_get_ns());
  record->parent_pid = from->pid;
  record->parent_tid = from->tid;
  submit(record);
  return 0;
}

/* What ran before belongs to the old program; a thread that execs takes over the number of its
 * process. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, int number_before) {
  renumber(task, number_before);
  struct loft_task* state = state_for(task);
  if (!state) return 0;
  struct cpu_state* cpu = this_cpu();
  if (!cpu) return 0;
  cpu->is_busy = 1;
  __u64 now = bpf_ktime_get_ns();
  account(cpu, live(state), now);
  if (state->phase == LOFT_LIVE) {
    if (wants_slices && state->run_ns > 0) write_slice(state, task, now, LOFT_END_EXEC, 0);
  } else {
    state->phase = LOFT_LIVE;
    state->delay_seen = delay_of(task);
  }
  learn_numbers(state, task);
  cpu->is_ours = 1;
  cpu->is_busy = 0;
  return 0;
}

/* It still runs for a while: its last slice is written when it leaves the CPU for good. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  struct loft_task* state = live(state_for(task));
  if (state) state->is_ending = 1;
  return 0;
}

static __always_inline int note_waker(struct task_struct* task, bool is_interrupt) {
  struct loft_task* state = live(state_for(task));
  if (!state) return 0;
  struct task_struct* waker =
      has_task_storage ? bpf_get_current_task_btf() : (void*)bpf_get_current_task();
  state->woken = LOFT_NEXT_WAS_WOKEN;
  state->waker_pid = state->waker_tid = 0;
  /* Who idles wakes nobody but by interrupts. */
  if (is_interrupt || BPF_CORE_READ(waker, pid) == 0) {
    state->woken |= LOFT_WOKEN_BY_INTERRUPT;
    return 0;
  }
  state->waker_tid = number_of(waker);
  state->waker_pid = namespace_inode == 0 ? BPF_CORE_READ(waker, tgid)
                                          : number_of(BPF_CORE_READ(waker, group_leader));
  return 0;
}

/* Runs in the task that wakes, or in what interrupted it: hard and soft interrupts come while any
 * task runs. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct* task) {
  const __u32 kServing = 0x00FF0100; /* NMI, hard interrupts, and a soft one that is served */
  const int* count = bpf_this_cpu_ptr(&__preempt_count);
  return note_waker(task, (*count & kServing) != 0);
}

/* For kernels that do not tell where their count is. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking_somewhere, struct task_struct* task) { return note_waker(task, 0); }

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct* task, int destination) {
  struct loft_task* state = live(state_for(task));
  if (!state) return 0;
  __u32 from = state->cpu;
  state->migrations++;
  state->cpu = destination;
  if (!wants_migrations) return 0;
  struct loft_migrate* record = reserve(sizeof *record);
  if (!record) return 0;
  fill_head(&record->head, LOFT_MIGRATE, state, bpf_ktime_get_ns());
  record->head.cpu = destination;
  record->from = from;
  record->reserved = 0;
  submit(record);
  return 0;
}

/* All threads of a process whose first one was marked. What a thread waited before is not ours. */
SEC("iter/task")
int adopt_threads(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  struct task_struct* leader = task->group_leader;
  if (!leader) return 0;
  struct loft_task* first = state_for(leader);
  if (!first) return 0;
  if (first->phase != LOFT_LIVE && first->phase != LOFT_ATTACHED) return 0;
  struct loft_task* state = new_state_for(task);
  if (!state) return 0;
  if (state->phase == LOFT_LIVE) return 0;
  learn_numbers(state, task);
  state->delay_seen = delay_of(task);
  state->phase = LOFT_LIVE;
  return 0;
}

/* At the end of a recording, when nothing else of this probe runs any more: what is left of tasks
 * that go on, up to when each last left a CPU. */
SEC("iter/task")
int write_rest(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;
  struct loft_task* state = live(state_for(task));
  if (!state) return 0;
  if (state->run_ns == 0) return 0;
  write_slice(state, task, bpf_ktime_get_ns(), LOFT_END_RECORDING, 0);
  return 0;
}
