// Instructions that the processor cannot fetch, as a handler sees them.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static sigjmp_buf back;
static unsigned char* place;

static void on_fault(int number, siginfo_t* info, void* memory) {
  const greg_t* registers = ((ucontext_t*)memory)->uc_mcontext.gregs;
  printf("signal %d, code %d, trap %lld, error %llx, at the place %d\n", number, info->si_code,
         registers[REG_TRAPNO], registers[REG_ERR], info->si_addr == place);
  siglongjmp(back, 1);
}

static void run(const char* what, void* target) {
  printf("%s: ", what);
  void (*volatile function)(void) = (void (*)(void))target;
  if (sigsetjmp(back, 1) == 0) function();
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGILL, &action, NULL);

  run("nothing is there", NULL);
  run("no address", (void*)(1ull << 63));

  place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  place[0] = 0xC3;
  run("data", place);
  mprotect(place, 4096, PROT_READ | PROT_EXEC);
  run("no longer data", place);
  printf("returned\n");

  unsigned char* code =
      mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(code, 0x90, 4096);  // nop
  code[4095] = 0x48;         // a prefix
  place = code + 4096;
  mprotect(place, 4096, PROT_NONE);
  run("half an instruction", code + 4095);
  run("a way into half an instruction", code + 4090);
  munmap(place, 4096);
  run("half an instruction before nothing", code + 4095);
  code[4095] = 0x90;
  run("a way into nothing", code + 4090);
  return 0;
}
