// Products of matrices by tiles (AMX): what they count depends on the configuration of the tiles.
// Prints "expect FUNCTION EVENT VALUE" as kernels.c does; ends with 77 where there are no tiles.
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>

#include "expect.h"

#define TILES __attribute__((noinline, noipa, target("amx-tile,amx-int8,amx-bf16")))
#define XSAVE __attribute__((noinline, noipa, target("xsave,xsavec")))

enum { kRows = 16, kRowBytes = 64, kStride = 100 };

static unsigned char left[kRows * kStride], right[kRows * kStride];
static int result[kRows * kStride];
static struct {
  unsigned char palette, start_row, reserved[14];
  unsigned short row_bytes[16];
  unsigned char rows[16];
} shape __attribute__((aligned(64)));
static unsigned char area[16384] __attribute__((aligned(64)));

static int has_tiles(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  const int known = (d >> 22 & 1) && (d >> 24 & 1) && (d >> 25 & 1);  // bf16, tile, int8
  const int kRequest = 0x1023, kTileData = 18;
  return known && syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

// Tile 0 is m rows of n numbers; tile 1 m rows of k, tile 2 k rows of n.
static void set_shape(int m, int n, int k) {
  memset(&shape, 0, sizeof shape);
  shape.palette = 1;
  shape.rows[0] = shape.rows[1] = (unsigned char)m;
  shape.rows[2] = (unsigned char)k;
  shape.row_bytes[0] = shape.row_bytes[2] = (unsigned short)(4 * n);
  shape.row_bytes[1] = (unsigned short)(4 * k);
}

TILES void product_bf16(int times) {
  _tile_loadconfig(&shape);
  _tile_zero(0);
  for (int i = 0; i < times; ++i) {
    _tile_loadd(1, left, kStride);
    _tile_stream_loadd(2, right, kRowBytes);
    _tile_dpbf16ps(0, 1, 2);
  }
  _tile_stored(0, result, kStride);
  _tile_release();
}

TILES void product_int8(int times) {
  _tile_loadconfig(&shape);
  for (int i = 0; i < times; ++i) {
    _tile_loadd(0, result, kStride);
    _tile_loadd(1, left, kStride);
    _tile_loadd(2, right, kRowBytes);
    _tile_dpbssd(0, 1, 2);
    _tile_dpbuud(0, 1, 2);
    _tile_stored(0, result, kStride);
  }
  _tile_release();
}

// Two shapes in one block: the second configuration counts for what comes behind it.
TILES void change_shape(const void* second) {
  _tile_loadconfig(&shape);
  _tile_loadd(1, left, kStride);
  _tile_loadconfig(second);
  _tile_loadd(1, left, kStride);
  _tile_release();
}

XSAVE void save_all(void) { __builtin_ia32_xsavec64(area, -1); }

// Of what save_all() writes, by the definition of docs/virtual-events.md.
XSAVE static long bytes_of_all(void) {
  const unsigned long enabled = (unsigned long)__builtin_ia32_xgetbv(0);
  long sum = 512 + 64;
  for (unsigned component = 2; component < 63; ++component) {
    unsigned bytes = 0, b = 0, c = 0, d = 0;
    __cpuid_count(13, component, bytes, b, c, d);
    if ((enabled >> component & 1) != 0) sum += bytes;
  }
  return sum;
}

static void run_products(void) {
  const int m = 11, n = 7, k = 13, times = 9;
  set_shape(m, n, k);
  product_bf16(times);
  expect("product_bf16", "flops_bf16", 4L * m * n * k * times);
  expect("product_bf16", "flops_tile", 4L * m * n * k * times);
  expect("product_bf16", "fp_tile_bf16", times);
  expect("product_bf16", "class_amx_compute", times);
  expect("product_bf16", "class_amx_move", 2 * times + 2);
  expect("product_bf16", "class_amx_config", 2);
  expect("product_bf16", "loads_tile", (long)(m + k) * times);
  expect("product_bf16", "load_bytes_tile", (4L * m * k + 4L * k * n) * times);
  expect("product_bf16", "stores_tile", m);
  expect("product_bf16", "store_bytes_tile", 4L * m * n);
  product_int8(times);
  expect("product_int8", "flops", 0);
  expect("product_int8", "op_tdpbssd", times);
  expect("product_int8", "op_tdpbuud", times);
  expect("product_int8", "load_bytes_tile", (4L * m * n + 4L * m * k + 4L * k * n) * times);
  expect("product_int8", "stores_tile", (long)m * times);
}

int main(void) {
  if (!has_tiles()) return 77;
  for (unsigned i = 0; i < sizeof left; ++i) left[i] = (unsigned char)(i % 3), right[i] = 1;
  run_products();
  unsigned char second[64];
  set_shape(16, 16, 16);
  memcpy(second, &shape, sizeof second);
  set_shape(2, 3, 5);
  change_shape(second);
  expect("change_shape", "loads_tile", 2 + 16);
  expect("change_shape", "load_bytes_tile", 2 * 20 + 16 * 64);
  save_all();
  expect("save_all", "class_cpu_state_store_bytes", bytes_of_all());
  return say_expectations();
}
