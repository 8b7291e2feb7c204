// Instructions that fault in their middle and start again: a gather, a masked load over its own
// mask, a string instruction, a load of a tile. What they had done is done, and only the rest is
// left. Prints "expect FUNCTION EVENT VALUE" as kernels.c does.
#define _GNU_SOURCE
#include <cpuid.h>
#include <immintrin.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "expect.h"

#define PLAIN __attribute__((noinline, noipa))
#define TILES __attribute__((noinline, noipa, target("amx-tile")))
#define AVX2 __attribute__((noinline, noipa, target("avx2")))

enum { kPage = 4096 };

static char* pages;  // two of them; the second faults at the first touch
static int faults;

static void on_fault(int number) {
  (void)number;
  ++faults;
  mprotect(pages + kPage, kPage, PROT_READ | PROT_WRITE);
}

static void close_second_page(void) { mprotect(pages + kPage, kPage, PROT_NONE); }

AVX2 void gather_twice(int* result, const int* from, __m256i index) {
  const __m256i all = _mm256_set1_epi32(-1);
  _mm256_storeu_si256((__m256i*)result,
                      _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), from, index, all, 4));
}

// The mask is destroyed by what is loaded: vpmaskmovd ymm0, ymm0, [rdi]
AVX2 void load_over_mask(const int* from, __m256i mask) {
  asm volatile("vpmaskmovd (%1), %0, %0" : "+x"(mask) : "r"(from) : "memory");
}

PLAIN void copy_twice(char* to, const char* from, long bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

AVX2 static void run_avx2(void) {
  int result[8];
  close_second_page();
  gather_twice(result, (const int*)(pages + kPage) - 5, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  expect("gather_twice", "loads_vector", 8);
  expect("gather_twice", "load_bytes_vector", 32);
  expect("gather_twice", "class_gather", 1);
  close_second_page();
  load_over_mask((const int*)(pages + kPage), _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, -1, 0));
  expect("load_over_mask", "loads_masked", 1);
  expect("load_over_mask", "load_bytes_masked", 12);
}

// Sixteen rows of 64 bytes, of which the last eleven are behind the fault.
TILES void tile_twice(const void* shape, const char* from) {
  _tile_loadconfig(shape);
  _tile_loadd(1, from, 64);
}

static int has_tiles(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d >> 24 & 1) == 0) return 0;
  const int kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

static void run_tiles(void) {
  unsigned char shape[64] = {1};
  shape[16 + 2] = 64;  // bytes per row of tile 1
  shape[48 + 1] = 16;  // its rows
  close_second_page();
  tile_twice(shape, pages + kPage - 5 * 64);
  expect("tile_twice", "loads_tile", 16);
  expect("tile_twice", "load_bytes_tile", 16 * 64);
  expect("tile_twice", "op_tileloadd", 1);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, NULL);
  pages = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 7, 2 * kPage);
  static char to[kPage];
  close_second_page();
  copy_twice(to, pages + kPage - 100, 300);
  expect("copy_twice", "class_string", 1);
  expect("copy_twice", "load_bytes_string", 300);
  expect("copy_twice", "store_bytes_string", 300);
  if (__builtin_cpu_supports("avx2")) run_avx2();
  const int tiles = has_tiles();
  if (tiles) run_tiles();
  if (faults != (__builtin_cpu_supports("avx2") ? 3 : 1) + tiles) return 1;
  return say_expectations();
}
