/* What a switch between two processes costs that have nothing to do with loft: they pass a byte
 * back and forth on one CPU. Prints the median and the best of many rounds, in nanoseconds a
 * switch.
 *
 *   switches [CPU] [ROUNDS]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPasses = 2000 };

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &one);
  sched_setaffinity(0, sizeof one, &one);
  const int rounds = argc > 2 ? atoi(argv[2]) : 200;
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  char byte = 0;
  if (fork() == 0) {
    close(there[1]);
    while (read(there[0], &byte, 1) == 1)
      if (write(back[1], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  double* of_round = malloc(sizeof(double) * (size_t)rounds);
  for (int round = 0; round < rounds; ++round) {
    const double start = now_ns();
    for (int i = 0; i < kPasses; ++i)
      if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 1;
    of_round[round] = (now_ns() - start) / (2 * kPasses);
  }
  close(there[1]);
  wait(NULL);
  qsort(of_round, (size_t)rounds, sizeof(double), ascending);
  printf("%.0f %.0f\n", of_round[rounds / 2], of_round[0]);
  return 0;
}
