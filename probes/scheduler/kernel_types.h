/* The few kernel types that the probe reads, by the names of their fields alone: where the fields
 * are is filled in when the probe is loaded, from the type information of the kernel that runs. So
 * the build needs none. */
#ifndef LOFT_PROBES_SCHEDULER_KERNEL_TYPES_H
#define LOFT_PROBES_SCHEDULER_KERNEL_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_RINGBUF = 27,
  BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
  BPF_F_NO_PREALLOC = 1,
  BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
  BPF_RB_NO_WAKEUP = 1,
  BPF_RB_FORCE_WAKEUP = 2,
  BPF_RB_AVAIL_DATA = 0,
};

struct bpf_perf_event_value {
  __u64 counter;
  __u64 enabled;
  __u64 running;
};

struct bpf_raw_tracepoint_args {
  __u64 args[0];
};

/* The registers that a program on an event is given. */
#if defined(__TARGET_ARCH_x86)
struct loft_registers {
  unsigned long before[16], ip, after[4];
};
#elif defined(__TARGET_ARCH_arm64)
struct loft_registers {
  unsigned long before[32], ip, after[1];
};
#else
#error "where the instruction pointer is on this architecture is not known"
#endif
struct bpf_perf_event_data {
  struct loft_registers regs;
  __u64 sample_period;
  __u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
  unsigned int inum;
};

struct pid_namespace {
  struct ns_common ns;
};

struct upid {
  int nr;
  struct pid_namespace* ns;
};

struct pid {
  unsigned int level;
  struct upid numbers[1];
};

struct sched_info {
  unsigned long long run_delay;
};

struct task_struct {
  int pid;
  int tgid;
  unsigned int __state; /* since 5.14 */
  struct task_struct* group_leader;
  struct pid* thread_pid;
  struct sched_info sched_info;
};

/* Before 5.14. */
struct task_struct___old {
  long state;
};

struct bpf_iter__task {
  struct task_struct* task;
};

#pragma clang attribute pop

#endif
