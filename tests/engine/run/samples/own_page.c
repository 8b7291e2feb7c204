// Code and what it writes on one page: a counter beside the loop that counts it, an instruction
// that writes the next one, and trampolines that are made again and again beside data that changes.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef unsigned (*Function)(unsigned);

static unsigned char* page;

// The loop adds 1 to the word at offset 64.
static void count_beside(void) {
  static const unsigned char code[] = {
      0x89, 0xF9,               // mov ecx, edi
      0xFF, 0x05, 56, 0, 0, 0,  // inc dword [rip + 56]
      0xFF, 0xC9,               // dec ecx
      0x75, 0xF6,               // jnz
      0x8B, 0x05, 46, 0, 0, 0,  // mov eax, [rip + 46]
      0xC3,
  };
  memcpy(page, code, sizeof code);
  printf("beside: %u\n", ((Function)page)(6000));
}

// mov [rip + 1], edi; mov eax, what was just written; ret
static void write_next(void) {
  static const unsigned char code[] = {0x89, 0x3D, 1, 0, 0, 0, 0xB8, 0, 0, 0, 0, 0xC3};
  unsigned sum = 0;
  memcpy(page + 128, code, sizeof code);
  for (unsigned i = 0; i < 300; ++i) sum += ((Function)(page + 128))(i);
  printf("next: %u\n", sum);
}

// As nested functions of C do it, on the page of a stack that is used meanwhile.
static void trampolines(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 6000; ++i) {
    unsigned char* at = page + 4096 + 64 * (i % 4);
    const unsigned value = i % 4;
    at[0] = 0xB8;  // mov eax, value; ret
    memcpy(at + 1, &value, 4);
    at[5] = 0xC3;
    memcpy(page + 8000, &i, sizeof i);
    sum += ((Function)at)(0);
    if (i % 1500 == 0) at[1] = 7;
  }
  printf("trampolines: %u\n", sum);
}

int main(void) {
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  count_beside();
  write_next();
  trampolines();
  return 0;
}
