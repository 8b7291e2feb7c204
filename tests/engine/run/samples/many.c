// Much of everything:
//   many threads N   so many threads, all there at the same time
//   many blocks N    so many blocks of two instructions, each run once
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_barrier_t barrier;
static long sum;

static void* thread(void* number) {
  pthread_barrier_wait(&barrier);
  __atomic_fetch_add(&sum, (long)number, __ATOMIC_RELAXED);
  return NULL;
}

static void run_threads(long count) {
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 32768);
  pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
  for (long i = 0; i < count; ++i)
    if (pthread_create(&threads[i], &small, thread, (void*)i) != 0) exit(1);
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  free(threads);
  printf("%ld threads, sum %ld\n", count, sum);
}

static void run_blocks(long count) {
  const size_t size = (size_t)count * 4 + 4096;
  uint8_t* code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint8_t* at = code;
  memcpy(at, "\x31\xC0", 2), at += 2;                                           // xor eax, eax
  for (long i = 0; i < count; ++i) memcpy(at, "\xFF\xC0\x74\x00", 4), at += 4;  // inc eax; jz
  *at = 0xC3;
  mprotect(code, size, PROT_READ | PROT_EXEC);
  printf("%d blocks\n", ((int (*)(void))code)());
}

int main(int unused, char** arguments) {
  (void)unused;
  const long count = atol(arguments[2]);
  strcmp(arguments[1], "threads") == 0 ? run_threads(count) : run_blocks(count);
  return 0;
}
