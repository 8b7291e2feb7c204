/* Times every call of MPI that waits for others or moves their data: a library that loft puts
 * before the program's own MPI (LD_PRELOAD).
 *
 * It is built against no MPI. Each wrapper hands its arguments on as they came, in registers and on
 * the stack, and every argument of MPI is an integer or a pointer; what handles look like, in which
 * the implementations differ, is none of its business. So one library serves all of them, C and
 * Fortran. It calls no function of the program, keeps nothing, and costs two readings of the clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "wire.h"

#define EXPORTED __attribute__((visibility("default")))
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))

/* The longest call, MPI_Rget_accumulate, has 13 arguments; Fortran adds one. */
#define PARAMETERS                                                                                \
  long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, \
      long m, long n
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l, m, n
typedef long (*mpi_call)(PARAMETERS);

static struct loft_mpi_times nobody; /* counted into where loft does not listen */
static _Atomic(struct loft_mpi_times*) page;
static atomic_int has_main;

static PER_THREAD int depth;
static PER_THREAD int is_main;

static struct loft_mpi_times* open_page(void) {
  struct loft_mpi_times* opened = &nobody;
  const char* path = getenv(LOFT_MPI_VARIABLE);
  const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    void* at = mmap(NULL, sizeof nobody, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED && ((struct loft_mpi_times*)at)->magic == LOFT_MPI_MAGIC) opened = at;
  }
  struct loft_mpi_times* none = NULL;
  return atomic_compare_exchange_strong(&page, &none, opened) ? opened : none;
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void add(uint64_t* to, uint64_t more) { __atomic_fetch_add(to, more, __ATOMIC_RELAXED); }

static void set(uint64_t* to, uint64_t value) { __atomic_store_n(to, value, __ATOMIC_RELAXED); }

static struct loft_mpi_times* times(void) {
  struct loft_mpi_times* known = atomic_load_explicit(&page, memory_order_acquire);
  return known != NULL ? known : open_page();
}

/* The thread that comes first is the one whose time is the rank's. */
static void enter(uint64_t start) {
  if (is_main == 0) is_main = atomic_exchange(&has_main, 1) == 0 ? 1 : -1;
  if (is_main == 1) set(&times()->main_since, start);
}

static void leave(uint64_t start) {
  struct loft_mpi_times* to = times();
  const uint64_t taken = now() - start;
  add(&to->calls, 1);
  if (is_main != 1) return;
  set(&to->main_since, 0);
  add(&to->main_ns, taken);
}

/* A share of MPI is one of the time between these two. */
static void pass_enter(uint64_t start) { (void)start; }
static void init_leave(uint64_t start) {
  (void)start;
  set(&times()->begin, now());
}
static void finalize_enter(uint64_t start) { set(&times()->end, start); }
static void pass_leave(uint64_t start) { (void)start; }

/* MPI may have been loaded by a plug-in, for which alone it is visible: the caller's own library
 * then finds it. */
static mpi_call find(const char* name, void* caller) {
  void* found = dlsym(RTLD_NEXT, name);
  Dl_info info;
  if (found == NULL && dladdr(caller, &info) != 0) {
    void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
      found = dlsym(library, name);
      dlclose(library);
    }
  }
  if (found == NULL) {
    fprintf(stderr, "loft: the program calls MPI, but %s is not to be found\n", name);
    abort();
  }
  return (mpi_call)found;
}

#define WRAP(symbol, real, at_start, at_end)                                      \
  EXPORTED long symbol(PARAMETERS) {                                              \
    static _Atomic(mpi_call) known;                                               \
    mpi_call call = atomic_load_explicit(&known, memory_order_relaxed);           \
    if (call == NULL) {                                                           \
      call = find(real, __builtin_return_address(0));                             \
      atomic_store_explicit(&known, call, memory_order_relaxed);                  \
    }                                                                             \
    if (depth != 0) return call(ARGUMENTS); /* one call of MPI made by another */ \
    depth = 1;                                                                    \
    const uint64_t start = now();                                                 \
    at_start(start);                                                              \
    const long result = call(ARGUMENTS);                                          \
    at_end(start);                                                                \
    depth = 0;                                                                    \
    return result;                                                                \
  }

/* C, Fortran's old interface as gfortran and others call it, and mpi_f08. */
#define WRAP_ALL(Name, name, at_start, at_end)             \
  WRAP(MPI_##Name, "PMPI_" #Name, at_start, at_end)        \
  WRAP(mpi_##name##_, "pmpi_" #name "_", at_start, at_end) \
  WRAP(mpi_##name##_f08_, "pmpi_" #name "_f08_", at_start, at_end)
#define TIMED(Name, name) WRAP_ALL(Name, name, enter, leave)

LOFT_MPI_CALLS(TIMED)
WRAP_ALL(Init, init, pass_enter, init_leave)
WRAP_ALL(Init_thread, init_thread, pass_enter, init_leave)
WRAP_ALL(Finalize, finalize, finalize_enter, pass_leave)
