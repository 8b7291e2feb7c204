// windows THREADS [TIMES]: each adds up an array some times, and one sum is printed. Long enough
// for windows of the address stream to open while it runs.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kNumbers = 4096, kRounds = 40000, kMost = 64 };
static unsigned numbers[kNumbers];
static int times = 1;

static __attribute__((noinline)) unsigned sum(unsigned start) {
  for (int i = 0; i < kNumbers; ++i) start = start * 31 + numbers[i];
  return start;
}

static void* work(void* result) {
  unsigned value = 1;
  for (int i = 0; i < kRounds / 8 * times; ++i) value = sum(value);
  *(unsigned*)result = value;
  return NULL;
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 1;
  if (count > 2) times = atoi(arguments[2]);
  pthread_t started[kMost];
  unsigned results[kMost];
  unsigned total = 0;
  if (threads < 1 || threads > kMost) return 2;
  for (int i = 0; i < kNumbers; ++i) numbers[i] = (unsigned)i;
  for (int i = 0; i < threads; ++i) pthread_create(&started[i], NULL, work, &results[i]);
  for (int i = 0; i < threads; ++i) pthread_join(started[i], NULL);
  for (int i = 0; i < threads; ++i) total += results[i];
  printf("%u\n", total);
  return 0;
}
