// Threads that signal each other without end while they compute, call and allocate.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 3000 };

static pthread_t threads[kThreads];
static atomic_int arrived, started, finished;

static void on_signal(int number) {
  (void)number;
  double x = 1.5;
  asm volatile("addsd %0, %0" : "+x"(x));  // disturbs what it interrupted, were it not restored
  atomic_fetch_add(&arrived, 1);
}

static unsigned work(unsigned seed) {
  double sum = 0;
  char text[64];
  for (unsigned i = 1; i < 40; ++i) {
    sum += (double)seed / i;
    seed = seed * 1664525u + 1013904223u;
    memset(text, (int)seed, sizeof text);
    char* memory = malloc(seed % 100 + 1);
    memory[0] = text[seed % 64];
    seed ^= (unsigned char)memory[0];
    free(memory);
  }
  return seed ^ (unsigned)(long)(sum * 1000);
}

// Calls that fail for a bad address, and one that does not.
static int call(void) {
  struct stat status;
  char* volatile nowhere = (char*)8;
  const int bad_path = stat(nowhere, &status) == -1 && errno == EFAULT;
  const int bad_buffer = syscall(SYS_getcwd, nowhere, 100) == -1 && errno == EFAULT;
  return bad_path && bad_buffer && stat("/", &status) == 0;
}

static void* run(void* argument) {
  const long number = (long)argument;
  atomic_fetch_add(&started, 1);
  while (atomic_load(&started) < kThreads) {
  }
  unsigned value = (unsigned)number;
  for (int i = 0; i < kRounds; ++i) {
    value = work(value);
    if (i % 8 == 0 && !call()) printf("a call went wrong\n");
    pthread_kill(threads[(number + 1) % kThreads], SIGUSR1);
  }
  atomic_fetch_add(&finished, 1);
  while (atomic_load(&finished) < kThreads) {
  }
  return (void*)(unsigned long)value;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    void* value;
    pthread_join(threads[i], &value);
    printf("%lu\n", (unsigned long)value);
  }
  printf("signals came: %d\n", atomic_load(&arrived) > 0);
}
