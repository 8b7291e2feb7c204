// Marked regions around `body`, which is also counted as a function: a visit of the region "visit"
// runs `body` once, and 3 instructions of its own (call, lea, mov) of which the call stores 8
// bytes.
#include <immintrin.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "loft/region.h"

extern "C" void visit();
asm(R"(
  .text
  .globl visit
  .type visit, @function
visit: sub $8, %rsp
  lea name(%rip), %rdi
  mov $5, %esi
  .byte 0x0f, 0x1f, 0x84, 0x00, 1, 0x46, 0x4f, 0x4c
  call body
  lea name(%rip), %rdi
  mov $5, %esi
  .byte 0x0f, 0x1f, 0x84, 0x00, 2, 0x46, 0x4f, 0x4c
  add $8, %rsp
  ret
  .size visit, .-visit
  .section .rodata
name: .ascii "visit"
  .text
)");

namespace {

volatile sig_atomic_t g_handled = 0;
bool g_raises = false;
thread_local double t_sum = 0;

void on_signal(int) {
  LOFT_REGION_BEGIN("handler");
  g_handled = g_handled + 1;
  LOFT_REGION_END("handler");
}

__attribute__((target("avx2"))) void masked(int* to) {
  const __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, -1, 0);
  _mm256_maskstore_epi32(to, mask, mask);
}

}  // namespace

extern "C" __attribute__((noinline)) void body() {
  int lanes[8] = {};
  char from[300], to[300];
  void* target = to;
  const void* source = from;
  std::size_t bytes = sizeof to;
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
  if (__builtin_cpu_supports("avx2")) masked(lanes);
  for (int i = 0; i < 200; ++i) t_sum += t_sum * 0.5 + i;
  if (g_raises) raise(SIGUSR1);
}

namespace {

void visits(int count) {
  for (int i = 0; i < count; ++i) {
    visit();
    body();  // outside
  }
}

void in_threads(int count) {
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back(visits, 50);
  visits(50);
  for (auto& thread : threads) thread.join();
}

// The child is in the regions that its parent was in, and leaves them itself.
void in_fork() {
  LOFT_REGION_BEGIN("around");
  visit();
  const pid_t child = fork();
  visit();
  LOFT_REGION_END("around");
  visit();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

void in_exec(const char* program) {
  LOFT_REGION_BEGIN("left open");
  visit();
  execl(program, program, "threads", "2", nullptr);
}

// Signals come at any moment, also inside the door.
void in_storm() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGALRM, &action, nullptr);
  on_signal(0);  // the first region looks whether loft watches
  const itimerval often{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (g_handled < 200)
    for (int i = 0; i < 100; ++i) visit();
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
}

void wrong() {
  LOFT_REGION_END("never begun");
  LOFT_REGION_BEGIN("a");
  LOFT_REGION_BEGIN("b");
  LOFT_REGION_END("a");
  visit();
  LOFT_REGION_END("b");
  LOFT_REGION_END("a");
}

void nested(int depth) {
  const std::string name = "level " + std::to_string(depth);
  const loft::Region region(name.c_str());
  if (depth < 70) return nested(depth + 1);
  visit();
}

void recursive(int depth) {
  const loft::Region region("recursive");
  if (depth != 0) return recursive(depth - 1);
  visit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "threads";
  if (way == "threads") in_threads(argc > 2 ? std::atoi(argv[2]) : 1);
  if (way == "fork") in_fork();
  if (way == "exec") in_exec(argv[0]);
  if (way == "raise") {
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);  // outside: binds names, and the first region looks whether loft watches
    g_raises = true;
    visits(50);
  }
  if (way == "storm") in_storm();
  if (way == "wrong") wrong();
  if (way == "nested") nested(0);
  if (way == "recursive") recursive(5);
  std::printf("%d\n", static_cast<int>(g_handled));
  return 0;
}
