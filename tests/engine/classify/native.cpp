#include "engine/classify/native.hpp"

#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>

// What the code below loads and leaves. Offsets are known to the assembly.
extern "C" {
struct LoftNative {
  std::uint64_t general[16];  // 0
  std::uint64_t rflags;       // 128
  std::uint64_t host_stack;   // 136
  void* code;                 // 144
  std::uint32_t mxcsr;        // 152
};
LoftNative loft_native;
alignas(64) std::uint8_t loft_native_area[16384];
void loft_native_run();
void loft_native_back();
}

__asm__(R"(
  .text
  .globl loft_native_run
loft_native_run:
  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
  mov %rsp, 136+loft_native(%rip)
  mov $-1, %eax
  mov $-1, %edx
  xrstor loft_native_area(%rip)
  pushq 128+loft_native(%rip)
  popfq
  mov 0+loft_native(%rip), %rax
  mov 8+loft_native(%rip), %rcx
  mov 16+loft_native(%rip), %rdx
  mov 24+loft_native(%rip), %rbx
  mov 32+loft_native(%rip), %rsp
  mov 40+loft_native(%rip), %rbp
  mov 48+loft_native(%rip), %rsi
  mov 56+loft_native(%rip), %rdi
  mov 64+loft_native(%rip), %r8
  mov 72+loft_native(%rip), %r9
  mov 80+loft_native(%rip), %r10
  mov 88+loft_native(%rip), %r11
  mov 96+loft_native(%rip), %r12
  mov 104+loft_native(%rip), %r13
  mov 112+loft_native(%rip), %r14
  mov 120+loft_native(%rip), %r15
  jmp *144+loft_native(%rip)
  .globl loft_native_back
loft_native_back:
  mov %rax, 0+loft_native(%rip)
  mov %rcx, 8+loft_native(%rip)
  mov %rdx, 16+loft_native(%rip)
  mov %rbx, 24+loft_native(%rip)
  mov %rsp, 32+loft_native(%rip)
  mov %rbp, 40+loft_native(%rip)
  mov %rsi, 48+loft_native(%rip)
  mov %rdi, 56+loft_native(%rip)
  mov %r8, 64+loft_native(%rip)
  mov %r9, 72+loft_native(%rip)
  mov %r10, 80+loft_native(%rip)
  mov %r11, 88+loft_native(%rip)
  mov %r12, 96+loft_native(%rip)
  mov %r13, 104+loft_native(%rip)
  mov %r14, 112+loft_native(%rip)
  mov %r15, 120+loft_native(%rip)
  mov 136+loft_native(%rip), %rsp
  pushfq
  popq 128+loft_native(%rip)
  cld
  mov $-1, %eax
  mov $-1, %edx
  xsave loft_native_area(%rip)
  fninit
  ldmxcsr 152+loft_native(%rip)
  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
  ret
)");

namespace loft::engine {
namespace {

constexpr std::size_t kCodeBytes = 4096;
constexpr std::size_t kSignalStackBytes = 65536;
constexpr std::size_t kComponentsInUse = 512;  // XSTATE_BV
constexpr std::size_t kXmm = 160;
constexpr std::size_t kMmx = 32;

const std::uint8_t* g_code = nullptr;
Fault g_fault;

void on_fault(int signal, siginfo_t* info, void* context) {
  auto* const state = static_cast<ucontext_t*>(context);
  auto& rip = state->uc_mcontext.gregs[REG_RIP];
  const auto start = reinterpret_cast<greg_t>(g_code);
  if (rip < start || rip >= start + 64) {
    ::signal(signal, SIG_DFL);  // not the instruction under test: let it end the program
    return;
  }
  g_fault = {signal, reinterpret_cast<std::uint64_t>(info->si_addr)};
  rip = reinterpret_cast<greg_t>(&loft_native_back);
}

std::uint64_t read_xcr0() {
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

std::uint8_t* map(std::size_t size, int protection, int flags = 0) {
  void* const at = ::mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(at);
}

}  // namespace

// Asked once: a virtual machine takes long to answer.
std::size_t component_offset(std::size_t number) {
  static const auto offsets = [] {
    std::array<std::size_t, 19> found{};
    for (unsigned i = 2; i < found.size(); ++i) {
      unsigned size = 0, offset = 0, c = 0, d = 0;
      __get_cpuid_count(0xD, i, &size, &offset, &c, &d);
      found[i] = offset;
    }
    return found;
  }();
  return offsets[number];
}

Native::Native() {
  code_ = map(kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
  arena_mapping_ = map(kPage * (kArenaPages + 2), PROT_NONE, MAP_32BIT);
  arena_ = arena_mapping_ + kPage;
  ::mprotect(arena_, kPage * kArenaPages, PROT_READ | PROT_WRITE);
  signal_stack_ = map(kSignalStackBytes, PROT_READ | PROT_WRITE);
  const stack_t stack{.ss_sp = signal_stack_, .ss_flags = 0, .ss_size = kSignalStackBytes};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
    ::sigaction(signal, &action, nullptr);
  g_code = code_;
  xcr0_ = read_xcr0();
  loft_native.mxcsr = 0x1F80;
}

Native::~Native() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) ::signal(signal, SIG_DFL);
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  ::sigaltstack(&none, nullptr);
  ::munmap(code_, kCodeBytes);
  ::munmap(arena_mapping_, kPage * (kArenaPages + 2));
  ::munmap(signal_stack_, kSignalStackBytes);
}

std::uint64_t Native::arena_start() const { return reinterpret_cast<std::uint64_t>(arena_); }

void Native::load(const RegisterState& state) const {
  std::memcpy(loft_native.general, state.general.data(), sizeof loft_native.general);
  loft_native.rflags = state.rflags;
  std::uint8_t* const area = loft_native_area;
  std::memset(area, 0, sizeof loft_native_area);
  const std::uint16_t control = 0x037F;
  std::memcpy(area, &control, 2);
  std::memcpy(area + 24, &loft_native.mxcsr, 4);
  const std::uint64_t in_use = xcr0_ & 0xE7;
  std::memcpy(area + kComponentsInUse, &in_use, 8);
  const std::size_t high = has_avx() ? component_offset(2) : 0;
  for (std::size_t i = 0; i < 16; ++i) {
    std::memcpy(area + kXmm + 16 * i, state.vector[i].data(), 16);
    if (high != 0) std::memcpy(area + high + 16 * i, state.vector[i].data() + 16, 16);
  }
  for (std::size_t i = 0; i < 8; ++i) std::memcpy(area + kMmx + 16 * i, &state.mmx[i], 8);
  if (!has_avx512()) return;
  std::memcpy(area + component_offset(5), state.opmask.data(), 64);
  for (std::size_t i = 0; i < 16; ++i) {
    std::memcpy(area + component_offset(6) + 32 * i, state.vector[i].data() + 32, 32);
    std::memcpy(area + component_offset(7) + 64 * i, state.vector[16 + i].data(), 64);
  }
}

void Native::store(RegisterState& state) const {
  std::memcpy(state.general.data(), loft_native.general, sizeof loft_native.general);
  state.rflags = loft_native.rflags;
  const std::uint8_t* const area = loft_native_area;
  const std::size_t high = has_avx() ? component_offset(2) : 0;
  for (std::size_t i = 0; i < 16; ++i) {
    std::memcpy(state.vector[i].data(), area + kXmm + 16 * i, 16);
    if (high != 0) std::memcpy(state.vector[i].data() + 16, area + high + 16 * i, 16);
  }
  for (std::size_t i = 0; i < 8; ++i) std::memcpy(&state.mmx[i], area + kMmx + 16 * i, 8);
  if (!has_avx512()) return;
  std::memcpy(state.opmask.data(), area + component_offset(5), 64);
  for (std::size_t i = 0; i < 16; ++i) {
    std::memcpy(state.vector[i].data() + 32, area + component_offset(6) + 32 * i, 32);
    std::memcpy(state.vector[16 + i].data(), area + component_offset(7) + 64 * i, 64);
  }
}

Fault Native::run(std::span<const std::uint8_t> instruction, RegisterState& state) {
  std::uint8_t* at = code_;
  std::memcpy(at, instruction.data(), instruction.size());
  at += instruction.size();
  // jmp [rip]; address
  const std::uint8_t jump[] = {0xFF, 0x25, 0, 0, 0, 0};
  std::memcpy(at, jump, sizeof jump);
  void (*const back)() = &loft_native_back;
  std::memcpy(at + sizeof jump, &back, sizeof back);
  loft_native.code = code_;
  g_fault = {};
  load(state);
  loft_native_run();
  store(state);
  return g_fault;
}

}  // namespace loft::engine
