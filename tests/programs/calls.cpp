// A program whose calls are known by number. What it leaves functions by is chosen on the command
// line.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define KEPT __attribute__((noinline, noipa))

namespace {

volatile int sink;
std::jmp_buf environment;
sigjmp_buf signal_environment;
ucontext_t main_context;
ucontext_t contexts[2];
char stacks[2][65536];

}  // namespace

extern "C" {

// 635,621 calls for 27.
KEPT int fib(int n) {
  if (n < 2) return n;
  const int sum = fib(n - 1) + fib(n - 2);
  asm volatile("");  // or one of the calls would become a loop
  return sum;
}

KEPT void thrower(int i) {
  if ((i & 1) != 0) throw i;
  sink = sink + i;
}
KEPT void around_thrower(int i) {
  thrower(i);
  sink = sink + 1;
}
KEPT void jumper(int i) {
  if ((i & 1) != 0) std::longjmp(environment, 1);
  sink = sink + i;
}
KEPT void around_jumper(int i) {
  jumper(i);
  sink = sink + 1;
}
KEPT int last_of_chain(int x) { return sink = sink + x; }
KEPT int middle_of_chain(int x) {
  sink = sink + 1;
  return last_of_chain(x + 1);
}
KEPT int first_of_chain(int x) {
  sink = sink + 1;
  return middle_of_chain(x + 1);
}
KEPT void in_handler(int number) { sink = sink + number; }
KEPT void handler(int number) { in_handler(number); }
KEPT void jumping_handler(int number) {
  in_handler(number);
  siglongjmp(signal_environment, 1);
}
KEPT void raiser(int number) {
  std::raise(number);
  sink = sink + 1;
}
KEPT void step(int i) { sink = sink + i; }
KEPT void yielding(int which) {
  for (int i = 0; i < 100; ++i) {
    step(i);
    swapcontext(&contexts[which], &main_context);
  }
}
KEPT void coroutine(int which) { yielding(which); }
KEPT void resumer(int which) {
  swapcontext(&main_context, &contexts[which]);
  sink = sink + 1;
}
// Counters that nobody but this program has: the pages that a kernel would keep of them, and what
// the hardware would show. Each holds 48 bits, and is 10 away from going around.
struct alignas(4096) CounterPage {
  perf_event_mmap_page of;
};
CounterPage counter_pages[2];
unsigned long hardware[2];
KEPT void counted(int n) {
  hardware[0] += static_cast<unsigned long>(n);
  hardware[1] += static_cast<unsigned long>(2 * n);
}
KEPT void counting() {
  counted(3);
  hardware[0] += 5;
  counted(4);
}

// Without asking the kernel.
KEPT bool take_segment() {
  static unsigned long own[2] = {0, 4711};
  unsigned long found = 0;
  __asm__ volatile("wrgsbase %1; movq %%gs:8, %0" : "=&r"(found) : "r"(own));
  return found == 4711;
}

__attribute__((always_inline)) inline int put_into_callers(int x) {
  sink = sink + x;
  return x * 3;
}
KEPT int has_inlined(int x) { return put_into_callers(x) + 1; }

KEPT void in_thread(int i) { sink = i; }
KEPT void in_child(int i) { sink = i; }

// A loop whose head is the function's first instruction, one that is entered in the middle, and one
// whose return has no room: nothing but the call before it could be moved.
asm(R"(
        .text
        .globl loops, entered_inside, no_room, enters
        .type loops, @function
loops:  subl $1, %edi
        jne loops
        ret
        .size loops, . - loops
        .p2align 4
        .type entered_inside, @function
entered_inside:
        movl %edi, %eax
inside: addl $1, %eax
        ret
        .size entered_inside, . - entered_inside
        .p2align 4
        .type enters, @function
enters: xorl %eax, %eax
        jmp inside
        .size enters, . - enters
        .p2align 4
        .type nothing, @function
nothing:
        ret
        .size nothing, . - nothing
        .p2align 4
        .type no_room, @function
no_room:
        subq $8, %rsp
        movl $1, %edi
        call step
        addq $8, %rsp
        call nothing
        ret
        movl %edi, %eax
        ret
        .size no_room, . - no_room
        .p2align 4
)");
void loops(int n);
int entered_inside(int n);
int enters(int n);
void no_room(int n);

}  // extern "C"

namespace {

void leave_by_exception() {
  for (int i = 0; i < 1000; ++i) try {
      around_thrower(i);
    } catch (int) {
      sink = sink + 1;
    }
}

void leave_by_longjmp() {
  for (volatile int i = 0; i < 1000; i = i + 1)
    if (setjmp(environment) == 0) around_jumper(i);
}

void handle_signals() {
  stack_t own{};
  own.ss_size = 65536;
  own.ss_sp =
      mmap(nullptr, own.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  action.sa_handler = jumping_handler;
  sigaction(SIGWINCH, &action, nullptr);
  for (int i = 0; i < 50; ++i) {
    raiser(SIGUSR1);
    raiser(SIGUSR2);
  }
  static int jumps;  // a jump may undo what is in registers
  for (jumps = 0; jumps < 50; ++jumps)
    if (sigsetjmp(signal_environment, 1) == 0) raiser(SIGWINCH);
}

void run_coroutines() {
  for (int which = 0; which < 2; ++which) {
    ucontext_t& made = contexts[which];
    getcontext(&made);
    made.uc_stack.ss_sp = stacks[which];
    made.uc_stack.ss_size = sizeof stacks[which];
    made.uc_link = &main_context;
    makecontext(&made, reinterpret_cast<void (*)()>(coroutine), 1, which);
  }
  for (int i = 0; i < 101; ++i)
    for (int which = 0; which < 2; ++which) resumer(which);
}

void run_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) in_thread(i);
    });
  for (std::thread& thread : threads) thread.join();
}

void run_children(char** arguments) {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 100; ++k) in_child(k);
      if (i == 0) _exit(0);
      execl(arguments[0], arguments[0], "fib", "10", nullptr);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::exit(1);
  }
}

void run_assembly() {
  for (int i = 1; i <= 10; ++i) {
    loops(i);
    sink = entered_inside(i) + enters(i);
    no_room(i);
  }
}

// Does what the instruction for reading counters (0f 33) would do, had this machine counters.
void read_hardware(int, siginfo_t*, void* state) {
  auto& registers = static_cast<ucontext_t*>(state)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  if (code[0] != 0x0f || code[1] != 0x33) _exit(3);
  const unsigned long value = hardware[registers[REG_RCX] & 1] & 0xffff'ffff'ffff;
  registers[REG_RAX] = static_cast<long>(value & 0xffff'ffff);
  registers[REG_RDX] = static_cast<long>(value >> 32);
  registers[REG_RIP] += 2;
}

void run_counters(bool is_on_hardware) {
  struct sigaction action {};
  action.sa_sigaction = read_hardware;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  for (unsigned i = 0; i < 2; ++i) {
    hardware[i] = 0ul - 10;
    counter_pages[i].of.index = is_on_hardware ? i + 1 : 0;
    counter_pages[i].of.offset = 4711;
    counter_pages[i].of.pmc_width = 48;
    counter_pages[i].of.cap_user_rdpmc = 1;
  }
  for (int i = 0; i < 10; ++i) counting();
}

void load_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) std::exit(1);
  auto* function = reinterpret_cast<double (*)(double)>(dlsym(library, "cbrt"));
  for (int i = 0; i < 100; ++i) sink = static_cast<int>(function(i));
}

}  // namespace

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* word) { return std::strcmp(what, word) == 0; };
  if (is("fib")) std::printf("%d\n", fib(std::atoi(arguments[2])));
  if (is("exception")) leave_by_exception();
  if (is("longjmp")) leave_by_longjmp();
  if (is("chain"))
    for (int i = 0; i < 1000; ++i) first_of_chain(i);
  if (is("signals")) handle_signals();
  if (is("coroutines")) run_coroutines();
  if (is("threads")) run_threads();
  if (is("children")) run_children(arguments);
  if (is("assembly")) run_assembly();
  if (is("counters") || is("taken-counters")) run_counters(is("counters"));
  if (is("inlined")) {  // and code of a JIT, which is told of where tools look for it
    sink = has_inlined(count);
    const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    if (std::FILE* file = std::fopen(map.c_str(), "w")) {
      std::fputs("7f0000000000 10 made_at_run_time\n", file);
      std::fclose(file);
    }
  }
  if (is("library")) load_library(arguments[2]);
  if (is("segment")) {  // takes gs for itself, as some runtimes do
    fib(10);
    static unsigned long own[2] = {0, 4711};
    syscall(SYS_arch_prctl, 0x1001, own);
    fib(10);
    unsigned long found = 0;
    __asm__ volatile("movq %%gs:8, %0" : "=r"(found));
    return found == 4711 ? 0 : 1;
  }
  if (is("writes-segment")) {
    fib(10);
    if ((getauxval(AT_HWCAP2) & 2) == 0) return 77;
    const bool is_own = take_segment();
    fib(10);
    return is_own ? 0 : 1;
  }
  if (is("left")) {  // by exceptions and jumps, and nothing watched comes after
    try {
      around_thrower(1);
    } catch (int) {
      sink = sink + 1;
    }
    if (setjmp(environment) == 0) around_jumper(1);
  }
  if (is("killed")) {
    fib(15);
    std::raise(SIGKILL);
  }
  if (is("waits")) {  // for a byte, calls, and again
    for (char byte = 0; read(0, &byte, 1) == 1;) {
      for (int i = 0; i < 100; ++i) step(i);
      if (byte == 'l' && dlopen("libm.so.6", RTLD_NOW) == nullptr) return 1;
      if (write(1, &byte, 1) != 1) return 1;
    }
  }
  return 0;
}
