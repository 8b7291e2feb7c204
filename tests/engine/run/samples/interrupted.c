// A long block that a timer interrupts in its middle, again and again.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { kSignals = 2000 };

static volatile sig_atomic_t arrived;

static void on_timer(int number) {
  (void)number;
  ++arrived;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_timer;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (arrived < kSignals)
    asm volatile(".rept 8\n xor %%edx, %%edx\n mov $1000000, %%eax\n div %0\n .endr\n"
                 :
                 : "r"(7)
                 : "eax", "edx", "cc");
  printf("done\n");
  return 0;
}
