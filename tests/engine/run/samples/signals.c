// Signals of all sorts; prints what happened, which must be the same natively and under the engine.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int alarms;
static sigjmp_buf back;
static char* page;

static void on_alarm(int number) {
  (void)number;
  ++alarms;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  if (info->si_addr == page) {
    mprotect(page, 4096, PROT_READ | PROT_WRITE);  // repairs; the write is tried again
    return;
  }
  siglongjmp(back, 1);
}

static void on_division(int number, siginfo_t* info, void* context) {
  (void)number;
  ucontext_t* user = context;
  printf("divided at the interrupted place: %d\n",
         (unsigned long)info->si_addr == (unsigned long)user->uc_mcontext.gregs[REG_RIP]);
  user->uc_mcontext.gregs[REG_RIP] += 2;
  user->uc_mcontext.gregs[REG_RAX] = 77;
}

static void on_illegal(int number, siginfo_t* info, void* context) {
  (void)number;
  ucontext_t* user = context;
  printf("illegal at the interrupted place: %d\n",
         (unsigned long)info->si_addr == (unsigned long)user->uc_mcontext.gregs[REG_RIP]);
  user->uc_mcontext.gregs[REG_RIP] += user->uc_mcontext.gregs[REG_RAX];
}

static void on_interrupt(int number, siginfo_t* info, void* context) {
  (void)number;
  ucontext_t* user = context;
  printf("refused interrupt: code %d, address %p\n", info->si_code, info->si_addr);
  user->uc_mcontext.gregs[REG_RIP] += user->uc_mcontext.gregs[REG_RAX];
}

static void on_user(int number) {
  char here;
  stack_t stack;
  sigaltstack(NULL, &stack);
  const int inside = &here >= (char*)stack.ss_sp && &here < (char*)stack.ss_sp + stack.ss_size;
  printf("signal %d, on the other stack: %d, flagged: %d\n", number, inside,
         (stack.ss_flags & SS_ONSTACK) != 0);
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, NULL);
}

static void handle_info(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(number, &action, NULL);
}

static void timers(void) {
  handle(SIGALRM, on_alarm, 0);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  unsigned long sum = 0;
  unsigned long check = 0;
  while (alarms < 100)
    for (unsigned long i = 0; i < 1000; ++i) sum = sum * 3 + i, check = check * 3 + i;
  printf("state kept: %d\n", sum == check);
  const int slept = usleep(500000);
  printf("sleep interrupted: %d, EINTR: %d\n", slept, errno == EINTR);
  setitimer(ITIMER_REAL, &never, NULL);
}

static void faults(void) {
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  handle_info(SIGSEGV, on_fault);
  *page = 5;
  printf("repaired: %d\n", *page);
  if (sigsetjmp(back, 1) == 0) {
    *(volatile int*)8 = 1;
  } else {
    printf("left a bad write\n");
  }
  if (sigsetjmp(back, 1) == 0) {
    ((void (*)(void))0x1234)();
  } else {
    printf("left a bad call\n");
  }
  handle_info(SIGFPE, on_division);
  long quotient;
  asm volatile("xor %%edx, %%edx; mov $5, %%eax; xor %%ecx, %%ecx; div %%ecx"
               : "=a"(quotient)
               :
               : "rcx", "rdx");
  printf("quotient: %ld\n", quotient);
}

// What no processor knows, in an old and in a new form; and an interrupt that is the kernel's. rax
// is the length.
static void illegal(void) {
  handle_info(SIGILL, on_illegal);
  asm volatile("mov $2, %%eax; .byte 0x0f, 0x0b" : : : "rax");
  handle_info(SIGSEGV, on_interrupt);
  asm volatile("mov $2, %%eax; int $0x20" : : : "rax");
  asm volatile("mov $5, %%eax; .byte 0xc4, 0xe2, 0x79, 0xff, 0xc0" : : : "rax");
  asm volatile("mov $8, %%eax; .byte 0x62, 0xf2, 0x7d, 0x48, 0xff, 0x44, 0x24, 0x01" : : : "rax");
}

static void stacks_and_masks(void) {
  const stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&stack, NULL);
  handle(SIGUSR1, on_user, SA_ONSTACK | SA_RESETHAND);
  raise(SIGUSR1);
  struct sigaction now;
  sigaction(SIGUSR1, NULL, &now);
  printf("reset: %d\n", now.sa_handler == SIG_DFL);
  handle(SIGUSR1, on_user, SA_ONSTACK);
  sigset_t all, none, pending;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_BLOCK, &all, NULL);
  raise(SIGUSR1);
  sigpending(&pending);
  printf("pending: %d\n", sigismember(&pending, SIGUSR1));
  sigsuspend(&none);
  sigprocmask(SIG_BLOCK, NULL, &now.sa_mask);
  printf("all blocked again: %d %d\n", sigismember(&now.sa_mask, SIGUSR1),
         sigismember(&now.sa_mask, SIGSEGV));
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  timers();
  faults();
  illegal();
  stacks_and_masks();
  return 3;
}
