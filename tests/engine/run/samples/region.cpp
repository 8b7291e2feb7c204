// Ways into and out of a function, for counting inside of it alone. counted_loop runs 2002
// instructions each time, inside and outside.
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

extern "C" {
void counted_loop();
void straight(int calls);   // 4 + 2005 * calls instructions
void recursive(int depth);  // 3 + 7 * depth
void falls_in();            // runs into `fallen_into`, which has 2
}
asm(R"(
  .text
  .globl counted_loop, straight, recursive, falls_in, fallen_into
  .type counted_loop, @function
counted_loop: mov $1000, %ecx
1: dec %ecx
  jnz 1b
  ret
  .size counted_loop, .-counted_loop
  .type straight, @function
straight: push %rbx
  mov %edi, %ebx
1: call counted_loop
  dec %ebx
  jnz 1b
  pop %rbx
  ret
  .size straight, .-straight
  .type recursive, @function
recursive: test %edi, %edi
  jz 1f
  dec %edi
  sub $8, %rsp
  call recursive
  add $8, %rsp
1: ret
  .size recursive, .-recursive
  .type falls_in, @function
falls_in: nop
  nop
  .size falls_in, .-falls_in
  .type fallen_into, @function
fallen_into: nop
  ret
  .size fallen_into, .-fallen_into
)");

namespace {

jmp_buf g_out;

void outside() {
  for (int i = 0; i < 10; ++i) counted_loop();
}

void on_signal(int) {
  for (int i = 0; i < 7; ++i) counted_loop();
}

void handle(int flags) {
  static char stack[65536];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, nullptr);
}

}  // namespace

extern "C" {
[[gnu::noinline]] void jumps() {
  counted_loop();
  longjmp(g_out, 1);
}
[[gnu::noinline]] void throws() {
  counted_loop();
  throw 1;
}
[[gnu::noinline]] void raises() {
  counted_loop();
  raise(SIGUSR1);
  counted_loop();
}
[[gnu::noinline]] void forks() {
  counted_loop();
  if (fork() == 0) {
    counted_loop();
    counted_loop();
    _exit(0);
  }
  wait(nullptr);
}
[[gnu::noinline]] int tail(int n) {
  counted_loop();
  asm volatile("" ::: "memory");
  return std::abs(n);
}
}

int main(int, char** arguments) {
  const char* way = arguments[1];
  for (int i = 0; i < 3; ++i) {
    outside();
    if (std::strcmp(way, "straight") == 0) straight(2);
    if (std::strcmp(way, "recursive") == 0) recursive(5);
    if (std::strcmp(way, "falls") == 0) falls_in();
    if (std::strcmp(way, "jumps") == 0 && setjmp(g_out) == 0) jumps();
    if (std::strcmp(way, "throws") == 0) {
      try {
        throws();
      } catch (int) {
      }
    }
    if (std::strcmp(way, "raises") == 0) handle(0), raises();
    if (std::strcmp(way, "raises-aside") == 0) handle(SA_ONSTACK), raises();
    if (std::strcmp(way, "forks") == 0) forks();
    if (std::strcmp(way, "tail") == 0) tail(i);
    outside();
  }
  if (std::strcmp(way, "threads") == 0) {
    std::vector<std::thread> threads;
    for (int i = 1; i <= 4; ++i) threads.emplace_back([i] { outside(), straight(i), outside(); });
    for (auto& thread : threads) thread.join();
  }
  std::puts("done");
  return 0;
}
