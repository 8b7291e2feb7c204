// Tiles (AMX) stay as they are while signals arrive, threads come and go, and faults are repaired.
// Ends with 77 where the processor has no tiles.
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define TILES __attribute__((noinline, noipa, target("amx-tile,amx-int8,amx-bf16")))

enum { kRows = 16, kRowBytes = 64, kTileBytes = kRows * kRowBytes, kPage = 4096 };

typedef struct {
  unsigned char palette, start_row, reserved[14];
  unsigned short row_bytes[16];
  unsigned char rows[16];
} Shape;

static Shape full, narrow;
static volatile sig_atomic_t alarms;
static char* pages;

static Shape shape_of(int rows, int row_bytes) {
  Shape shape;
  memset(&shape, 0, sizeof shape);
  shape.palette = 1;
  for (int i = 0; i < 8; ++i) {
    shape.rows[i] = (unsigned char)rows;
    shape.row_bytes[i] = (unsigned short)row_bytes;
  }
  return shape;
}

static int has_tiles(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  return (d >> 22 & 1) && (d >> 24 & 1) && (d >> 25 & 1);
}

// A handler has tiles of its own, in another shape.
TILES static void on_alarm(int number) {
  (void)number;
  static char memory[kTileBytes];
  char config[64];
  _tile_storeconfig(config);
  if (config[0] != 0) _exit(3);  // it starts without any
  _tile_loadconfig(&narrow);
  _tile_loadd(0, memory, 4);
  _tile_dpbssd(1, 0, 2);
  alarms = alarms + 1;
}

// Sums up in a tile for long enough that signals come, and says whether the sum is right.
TILES static int add_up(unsigned rounds) {
  static const char ones[kTileBytes] = {[0 ... kTileBytes - 1] = 1};
  static const char twos[kTileBytes] = {[0 ... kTileBytes - 1] = 2};
  int sums[kTileBytes / 4];
  _tile_loadconfig(&full);
  _tile_zero(0);
  _tile_loadd(1, ones, kRowBytes);
  _tile_loadd(2, twos, kRowBytes);
  for (unsigned i = 0; i < rounds; ++i) {
    _tile_dpbssd(0, 1, 2);
    _tile_stored(0, sums, kRowBytes);
    _tile_loadd(0, sums, kRowBytes);
  }
  _tile_stored(0, sums, kRowBytes);
  for (unsigned i = 0; i < kTileBytes / 4; ++i)
    if (sums[i] != (int)(rounds * 64 * 2)) return 0;
  return 1;
}

static void storm(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int right = 1;
  while (alarms < 300) right &= add_up(20000);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("sums under signals are %s\n", right ? "right" : "wrong");
}

static void* on_thread(void* memory) {
  (void)memory;
  int right = 1;
  for (int i = 0; i < 20; ++i) right &= add_up(2000);
  return (void*)(long)right;
}

static void threads(void) {
  pthread_t thread[4];
  long right = 1;
  for (int i = 0; i < 4; ++i) pthread_create(&thread[i], NULL, on_thread, NULL);
  for (int i = 0; i < 4; ++i) {
    void* one = NULL;
    pthread_join(thread[i], &one);
    right &= (long)one;
  }
  printf("sums on threads are %s\n", right ? "right" : "wrong");
}

static void print_tile(const char* when, const unsigned char* tile, const unsigned char* config) {
  unsigned sum = 0;
  for (int i = 0; i < kTileBytes; ++i) sum = sum * 31 + tile[i];
  printf("%s: palette %d rows %d tile %x\n", when, config[0], config[48 + 1], sum);
}

TILES static void forks(void) {
  static unsigned char tile[kTileBytes], seen[kTileBytes], config[64];
  memset(tile, 5, sizeof tile);
  fflush(stdout);
  _tile_loadconfig(&full);
  _tile_loadd(1, tile, kRowBytes);
  const long child = syscall(SYS_fork);
  _tile_storeconfig(config);
  if (config[0] != 0) _tile_stored(1, seen, kRowBytes);
  print_tile(child == 0 ? "child" : "parent", seen, config);
  fflush(stdout);
  if (child == 0) _exit(0);
  waitpid((pid_t)child, NULL, 0);
}

static void on_fault(int number) {
  (void)number;
  mprotect(pages + kPage, kPage, PROT_READ | PROT_WRITE);
}

TILES static void faults(void) {
  static unsigned char seen[kTileBytes], config[64];
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, NULL);
  pages = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 2 * kPage; ++i) pages[i] = (char)(i * 7);
  _tile_loadconfig(&full);
  mprotect(pages + kPage, kPage, PROT_NONE);
  _tile_loadd(1, pages + kPage - 5 * kRowBytes, kRowBytes);
  _tile_stored(1, seen, kRowBytes);
  _tile_storeconfig(config);
  print_tile("after a fault", seen, config);
  mprotect(pages + kPage, kPage, PROT_NONE);
  _tile_stored(1, pages + kPage - 9 * kRowBytes, kRowBytes);
  printf("stored over a fault: %d\n", memcmp(seen, pages + kPage - 9 * kRowBytes, kTileBytes));
}

TILES static void without_permission(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    _tile_loadconfig(&full);
    _tile_zero(0);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("without permission: exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
}

int main(void) {
  if (!has_tiles()) return 77;
  full = shape_of(kRows, kRowBytes);
  narrow = shape_of(1, 4);
  without_permission();
  unsigned long permitted = 0;
  printf("request %ld", syscall(SYS_arch_prctl, 0x1023, 18));
  syscall(SYS_arch_prctl, 0x1022, &permitted);
  printf(", permitted %lx\n", permitted);
  storm();
  threads();
  forks();
  faults();
  return 0;
}
