// A program that keeps data behind gs: every form of operand, faults, threads, signals.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <immintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static long data[64];

static void set_gs(void* base) { syscall(SYS_arch_prctl, ARCH_SET_GS, base); }

static void operands(void) {
  long value = 0;
  long index = 3;
  long other = 5;
  asm volatile("mov %%gs:16, %0" : "=r"(value));
  printf("absolute %ld\n", value);
  asm volatile("mov %%gs:8(,%1,8), %0" : "=r"(value) : "r"(index));
  printf("index %ld\n", value);
  asm volatile("mov %%gs:(%1,%2,8), %0" : "=r"(value) : "r"(8L), "r"(index));
  printf("base and index %ld\n", value);
  register long high asm("r13") = 40;
  asm volatile("mov %%gs:-8(%1), %0" : "=r"(value) : "r"(high));
  printf("high base %ld\n", value);
  register long far asm("r12") = 2;
  asm volatile("addq %1, %%gs:24(,%0,8)" : : "r"(far), "r"(other) : "memory", "cc");
  printf("stored %ld\n", data[5]);
  asm volatile("movq $77, %%gs:48" : : : "memory");
  asm volatile("cmpq $77, %%gs:48; sete %b0" : "+q"(value) : : "cc");
  printf("immediate %ld %ld\n", data[6], value & 1);
  asm volatile("lock xaddq %0, %%gs:56" : "+r"(other) : : "memory", "cc");
  printf("exchanged %ld %ld\n", other, data[7]);
  asm volatile("movl %%gs:16, %k0" : "=r"(value));
  printf("32 bits %ld\n", value);
  asm volatile("addr32 mov %%gs:8(%k1), %0" : "=r"(value) : "r"(8L));
  printf("32-bit address %ld\n", value);
  asm volatile("pushq %%gs:32; popq %0" : "=r"(value));
  printf("pushed %ld\n", value);
  __m128i vector;
  asm volatile("movdqu %%gs:16, %0" : "=x"(vector));
  printf("vector %lld\n", _mm_cvtsi128_si64(vector));
  asm volatile("pcmpgtw %%gs:16, %0" : "+x"(vector));
  printf("greater %lld\n", _mm_cvtsi128_si64(vector));
  asm volatile("lea %%gs:16(%1), %0" : "=r"(value) : "r"(8L));
  printf("lea %ld\n", value);
}

__attribute__((target("avx"))) static void vex(void) {
  register long base asm("r14") = 16;
  __m256i vector;
  asm volatile("vmovdqu %%gs:(%1), %0" : "=x"(vector) : "r"(base));
  printf("vex %lld\n", (long long)vector[3]);
}

__attribute__((target("fsgsbase"))) static void base_instructions(void) {
  printf("base is mine %d\n", _readgsbase_u64() == (unsigned long)data);
  _writegsbase_u64((unsigned long)(data + 1));
  long value = 0;
  asm volatile("mov %%gs:0, %0" : "=r"(value));
  unsigned long told = 0;
  syscall(SYS_arch_prctl, ARCH_GET_GS, &told);
  printf("moved %ld %d\n", value, told == (unsigned long)(data + 1));
  _writegsbase_u32(0x1000);
  printf("low %lx %x\n", (unsigned long)_readgsbase_u64(), _readgsbase_u32());
  set_gs(data);
}

static void on_fault(int number, siginfo_t* info, void* memory) {
  ucontext_t* context = memory;
  printf("signal %d at %lx, rax %llx rbx %llx rsi %llx\n", number, (unsigned long)info->si_addr,
         context->uc_mcontext.gregs[REG_RAX], context->uc_mcontext.gregs[REG_RBX],
         context->uc_mcontext.gregs[REG_RSI]);
  long value = 0;
  asm volatile("mov %%gs:8, %0" : "=r"(value));
  printf("in the handler %ld\n", value);
  set_gs(data);
  context->uc_mcontext.gregs[REG_RDX] = 16;
}

// The access fails once, with all registers as they were, and then reads behind a moved rdx.
static void faults(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  long value = 0;
  asm volatile(
      "mov $0xAAAA, %%eax; mov $0xBBBB, %%ebx; mov $0xCCCC, %%esi; mov $0, %%edx\n"
      "sub %1, %%rdx; add $64, %%rdx\n"
      "mov %%gs:(%%rdx), %0"
      : "=&r"(value)
      : "r"(data)
      : "rax", "rbx", "rsi", "rdx", "cc", "memory");
  printf("repaired %ld\n", value);
}

static void* in_thread(void* unused) {
  long value = 0;
  asm volatile("mov %%gs:16, %0" : "=r"(value));
  printf("inherited %ld\n", value);
  static long own[4] = {100, 101, 102, 103};
  set_gs(own);
  asm volatile("mov %%gs:16, %0" : "=r"(value));
  printf("own %ld\n", value);
  return unused;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (int i = 0; i < 64; ++i) data[i] = 1000 + i;
  set_gs(data);
  operands();
  if (__builtin_cpu_supports("avx")) vex();
  if ((getauxval(AT_HWCAP2) & 2) != 0) base_instructions();
  faults();
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  long value = 0;
  asm volatile("mov %%gs:16, %0" : "=r"(value));
  printf("still mine %ld\n", value);
  return 0;
}
