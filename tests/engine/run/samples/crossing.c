// A known number of square roots, by several threads, processes, under a timer or alone; and bytes
// that a repeated instruction copies. A signal USR1 tells how many roots there were when it came.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRoots = 30000, kWorkers = 4 };

static volatile long done;

static void on_signal(int number) {
  if (number != SIGUSR1) return;
  char text[64];
  const int size = snprintf(text, sizeof text, "signal after %ld\n", done);
  if (write(1, text, (size_t)size) != size) _exit(1);
}

// The carry lives from one round to the next: whoever changes it changes the sum.
static int roots_with_carry(long how_many) {
  double x = 2;
  long sum = 5;
  asm volatile("stc\n1: sqrtsd %0, %0\n adc $-1, %1\n dec %2\n jnz 1b\n"
               : "+x"(x), "+r"(sum), "+r"(how_many)
               :
               : "cc");
  return sum == 5 ? 0 : 1;
}

__attribute__((noinline)) static void* roots(void* how_many) {
  double x = 2;
  for (long i = (long)how_many; i != 0; --i) {
    asm volatile("sqrtsd %0, %0" : "+x"(x));
    done = done + 1;
  }
  return NULL;
}

static void copy(long bytes) {
  static char from[4096], to[4096];
  void* target = to;
  const void* source = from;
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes)::"memory");
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "alone";
  signal(SIGUSR1, on_signal);
  if (strcmp(mode, "threads") == 0) {
    pthread_t workers[kWorkers];
    for (long i = 0; i < kWorkers; ++i)
      pthread_create(&workers[i], NULL, roots, (void*)(kRoots / 10 * (2 * i + 1)));
    for (int i = 0; i < kWorkers; ++i) pthread_join(workers[i], NULL);
  } else if (strcmp(mode, "processes") == 0) {
    for (int i = 0; i < kWorkers; ++i) {
      if (fork() != 0) continue;
      roots((void*)kRoots);
      _exit(0);
    }
    while (wait(NULL) > 0) {
    }
  } else if (strcmp(mode, "timer") == 0) {
    signal(SIGALRM, on_signal);
    const struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    roots((void*)kRoots);
  } else if (strcmp(mode, "carry") == 0) {
    return roots_with_carry(kRoots);
  } else if (strcmp(mode, "copies") == 0) {
    for (int i = 0; i < 1000; ++i) copy(1000 + i);
  } else {
    roots((void*)kRoots);
  }
  return 0;
}
