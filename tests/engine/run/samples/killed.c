// Counts in a file that others can see, until it is ended from outside: `killed FILE kill` by a
// signal that nobody can handle, `killed FILE exit` by another thread that ends the process.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long* rounds;

// A block that jumps back to itself. Nothing else in this program complements the carry.
static void* count(void* unused) {
  unsigned long left = ~0ul;
  asm volatile("1: incq (%1); cmc; dec %0; jnz 1b" : "+r"(left) : "r"(rounds) : "memory", "cc");
  return unused;
}

int main(int arguments, char** argument) {
  if (arguments != 3) return 2;
  const int file = open(argument[1], O_RDWR);
  rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (rounds == MAP_FAILED) return 2;
  pthread_t thread;
  pthread_create(&thread, NULL, count, NULL);
  while (*rounds < 100000) {
  }
  if (strcmp(argument[2], "kill") == 0) kill(getpid(), SIGKILL);
  _exit(5);
}
