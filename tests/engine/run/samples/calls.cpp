// Calls whose number is known, ended in every way that there is: by returns, exceptions, longjmp,
// returns of tail calls, on other stacks and in signal handlers; in threads and in a child process;
// and one that never ends. Says "ok" when the program itself noticed nothing.
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#define CALLED extern "C" __attribute__((noinline, noclone))
#define TAIL CALLED __attribute__((optimize("optimize-sibling-calls")))

static volatile long sink;

CALLED long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// Exceptions: 100 caught, each through five calls.
CALLED void thrower(int depth) {
  if (depth == 1) throw std::runtime_error("thrown");
  thrower(depth - 1);
  sink = depth;
}
CALLED bool catcher() {
  try {
    thrower(5);
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

// longjmp: 100 jumps, each over two calls.
static std::jmp_buf place;
CALLED void jumper() { std::longjmp(place, 1); }
CALLED void jumped_over() {
  jumper();
  sink = 1;
}
CALLED bool setter() {
  if (setjmp(place) != 0) return true;
  jumped_over();
  return false;
}

// Three coroutines with a stack each, ten turns.
constexpr int kCoroutines = 3;
constexpr int kTurns = 10;
alignas(64) static char stacks[kCoroutines][64 << 10];
static ucontext_t contexts[kCoroutines], caller;
CALLED void turn(int which) {
  sink = which;
  swapcontext(&contexts[which], &caller);
  sink = -which;
}
CALLED void coroutine(int which) {
  for (int i = 0; i < kTurns; ++i) turn(which);
}
CALLED void resume(int which) { swapcontext(&caller, &contexts[which]); }
CALLED void coroutines() {
  for (int i = 0; i < kCoroutines; ++i) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = sizeof stacks[i];
    contexts[i].uc_link = &caller;
    makecontext(&contexts[i], reinterpret_cast<void (*)()>(coroutine), 1, i);
  }
  for (int round = 0; round <= kTurns; ++round)
    for (int i = 0; i < kCoroutines; ++i) resume(i);
}

// Handlers on the same stack and on another, and one that jumps out of the other.
static sigjmp_buf out_of_handler;
CALLED void in_handler(int signal) { sink = signal; }
CALLED void same_stack(int signal) { in_handler(signal); }
CALLED void other_stack(int signal) { in_handler(signal); }
CALLED void escaping(int signal) {
  in_handler(signal);
  siglongjmp(out_of_handler, 1);
}
CALLED void raiser(int signal) { raise(signal); }
CALLED bool escaped() {
  if (sigsetjmp(out_of_handler, 1) != 0) return true;
  raise(SIGALRM);
  return false;
}
static void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

// Chains of tail calls: a jumps to b, b to c; even and odd jump to each other.
TAIL long tail_c(long n) { return n + sink; }
TAIL long tail_b(long n) { return tail_c(n + 1); }
TAIL long tail_a(long n) { return tail_b(n + 1); }
extern "C" long odd(long n);
TAIL long even(long n) { return n == 0 ? 1 : odd(n - 1); }
TAIL long odd(long n) { return n == 0 ? 0 : even(n - 1); }

CALLED void in_thread() { sink = 1; }
CALLED void in_child() { sink = 1; }
CALLED void leaver(bool is_ok) {
  std::puts(is_ok ? "ok" : "wrong");
  std::exit(is_ok ? 0 : 1);
}

// A million calls, interrupted wherever a timer happens to: also between a call and its first
// instruction.
CALLED long interrupted(long n) { return n * 3 + 1; }
static void interrupt_often() {
  handle(SIGALRM, in_handler, SA_ONSTACK | SA_RESTART);
  itimerval often = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
  long sum = 0;
  for (long i = 0; i < 1'000'000; ++i) sum += interrupted(i);
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  std::printf("%ld\n", sum);
}

int main(int count, char**) {
  bool is_ok = fib(15) == 610;
  for (int i = 0; i < 100; ++i) is_ok = is_ok && catcher() && setter();
  coroutines();
  static char other[64 << 10];
  stack_t stack = {};
  stack.ss_sp = other;
  stack.ss_size = sizeof other;
  sigaltstack(&stack, nullptr);
  if (count > 1) {
    interrupt_often();
    return 0;
  }
  handle(SIGUSR1, same_stack, 0);
  handle(SIGUSR2, other_stack, SA_ONSTACK);
  handle(SIGALRM, escaping, SA_ONSTACK);
  for (int i = 0; i < 10; ++i) {
    raiser(SIGUSR1);
    raiser(SIGUSR2);
    is_ok = is_ok && escaped();
  }
  for (int i = 0; i < 100; ++i) is_ok = is_ok && tail_a(i) == i + 2 + sink;
  is_ok = is_ok && even(1000) == 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 1000; ++k) in_thread();
    });
  for (std::thread& thread : threads) thread.join();
  if (const pid_t child = fork(); child == 0) {
    for (int i = 0; i < 7; ++i) in_child();
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  leaver(is_ok);
}
