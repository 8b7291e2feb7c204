// Code that is written, run, rewritten and run again, by one thread and by two; and code unmapped
// and replaced by other code at the same place. And what else a program may do to its memory.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void write_return(unsigned char* at, unsigned value) {
  at[0] = 0xB8;  // mov eax, value; ret
  memcpy(at + 1, &value, 4);
  at[5] = 0xC3;
}

static void* compile(void* memory) {
  for (unsigned i = 0; i < 200; ++i) {
    unsigned char* at = (unsigned char*)memory + 64 * (i % 32);
    write_return(at, i);
    if (((unsigned (*)(void))at)() != i) printf("wrong at %u\n", i);
  }
  return NULL;
}

// The same memory twice: to be written at one place, to be run at the other.
static void run_twin(void) {
  const int file = memfd_create("code", 0);
  if (file < 0 || ftruncate(file, 8192) != 0) return;
  unsigned char* writable = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  unsigned char* code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  unsigned sum = 0;
  for (unsigned i = 0; i < 300; ++i) {
    write_return(writable + 4096, i * 11);
    sum += ((unsigned (*)(void))(code + 4096))();
    if (i % 3 == 0) write_return(writable + 4096 + 64, i);
    if (i % 50 == 0) {  // the place to write moves
      munmap(writable, 8192);
      writable = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
  }
  printf("twin: %u\n", sum);
}

// The kernel writes into code that has run.
static void read_code(unsigned char* memory) {
  const int file = memfd_create("code", 0);
  unsigned sum = 0;
  unsigned char code[6];
  for (unsigned i = 0; i < 100; ++i) {
    write_return(code, i * 13);
    if (pwrite(file, code, sizeof code, 0) != sizeof code) return;
    if (pread(file, memory + 128, sizeof code, 0) != sizeof code) printf("not read\n");
    sum += ((unsigned (*)(void))(memory + 128))();
  }
  void* volatile nowhere = (void*)8;
  printf("read: %u, nowhere: %zd\n", sum, pread(file, nowhere, sizeof code, 0));
}

// What looks like a hole is none: the engine may be there, and is not to be harmed.
static void map_over_holes(void) {
  const unsigned long bytes = 1ul << 40;
  void* hole = mmap((void*)0x400000000000, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  printf("hole: %p\n", hole);
  printf("protected: %d, ", mprotect(hole, bytes, PROT_NONE));
  printf("unmapped: %d, ", munmap(hole, bytes));
  printf("everything: %d\n", munmap(NULL, ~0ul));
  printf("locked: %d, unlocked: %d\n", mlockall(MCL_CURRENT | MCL_FUTURE), munlockall());
}

int main(void) {
  unsigned char* memory =
      mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned sum = 0;
  for (unsigned i = 0; i < 500; ++i) {
    write_return(memory, i);
    sum += ((unsigned (*)(void))memory)();
  }
  printf("rewritten: %u\n", sum);

  pthread_t other;
  pthread_create(&other, NULL, compile, memory + 4096 + 2048);
  compile(memory + 4096);
  pthread_join(other, NULL);

  sum = 0;
  for (unsigned i = 0; i < 50; ++i) {
    mprotect(memory, 4096, PROT_READ | PROT_WRITE);
    write_return(memory, i * 3);
    mprotect(memory, 4096, PROT_READ | PROT_EXEC);
    sum += ((unsigned (*)(void))memory)();
  }
  printf("protected: %u\n", sum);

  sum = 0;
  for (unsigned i = 0; i < 50; ++i) {
    munmap(memory, 4096);
    mmap(memory, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
    write_return(memory, i * 5);
    sum += ((unsigned (*)(void))memory)();
  }
  printf("remapped: %u\n", sum);

  // The first instruction reaches from one page into the next, which has run before.
  sum = 0;
  for (unsigned i = 0; i < 50; ++i) {
    write_return(memory + 4096 - 3, i * 7);
    write_return(memory + 4096 + 64, i);
    sum += ((unsigned (*)(void))(memory + 4096 + 64))();
    mprotect(memory, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    sum += ((unsigned (*)(void))(memory + 4096 - 3))();
  }
  printf("across: %u\n", sum);
  run_twin();
  read_code(memory);
  map_over_holes();
  return 0;
}
