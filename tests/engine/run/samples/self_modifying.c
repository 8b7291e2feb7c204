// Code that is written, run, rewritten and run again, by one thread and by two; and code unmapped
// and replaced by other code at the same place.
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
  return 0;
}
