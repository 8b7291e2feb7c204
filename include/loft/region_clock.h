/* What loft/region.h does natively when loft watches: each thread adds up visits and time of its
 * regions in memory that loft has made (the environment's LOFT_REGIONS names it) and reads at the
 * end. Programs include loft/region.h alone.
 *
 *   header | node | node | ...      a node per thread and call path; numbers are indices plus 1
 *
 * Each call path has one more node, which all threads share (`thread` is 0 there): in how many
 * threads it is open, and how long it was in at least one.
 *
 * A child of fork takes up the open regions of its parent in nodes of its own. */
#ifndef LOFT_REGION_CLOCK_H
#define LOFT_REGION_CLOCK_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LOFT_REGION_UNKNOWN_ = 0,
  LOFT_REGION_UNWATCHED_ = 1,
  LOFT_REGION_WATCHED_ = 2,
  LOFT_REGION_OPENING_ = 3 /* by another thread */
};
enum { LOFT_REGION_NAME_ = 248, LOFT_REGION_NODES_ = 65536, LOFT_REGION_DEEPEST_ = 64 };
#define LOFT_REGION_MAGIC_ 0x32474552544F464CULL /* "LFOTREG2" */

typedef struct loft_region_node_ {
  uint32_t process;
  uint32_t thread;
  uint32_t parent;
  uint32_t first_child;
  uint32_t sibling;
  uint32_t length; /* of the name; 0: outside of all regions */
  uint64_t visits;
  uint64_t ticks;  /* of the hardware's clock between begin and end */
  uint64_t since;  /* when it was begun, while it is open */
  uint64_t depth;  /* times it was begun again inside itself; of a shared node: threads inside */
  uint32_t shared; /* the shared node of its path, or 0 */
  uint32_t unused;
  char name[LOFT_REGION_NAME_];
} loft_region_node_;

typedef struct loft_region_file_ {
  uint64_t magic;
  uint32_t used; /* nodes that have been taken */
  uint32_t wrong_ends;
  uint32_t lost; /* begins that found no free node */
  uint32_t shared_root;
  uint32_t lock; /* of shared nodes, while one is looked for */
  uint32_t unused[9];
  char wrong_name[LOFT_REGION_NAME_]; /* of the first wrong end */
  char open_name[LOFT_REGION_NAME_];  /* and what was open then */
  uint64_t unused_too[1];
  loft_region_node_ node[LOFT_REGION_NODES_];
} loft_region_file_;

/* One of each in a program, however many files include this, those of its libraries too. */
#define LOFT_REGION_ONE_ __attribute__((weak, visibility("default")))
LOFT_REGION_ONE_ int loft_region_state_;
LOFT_REGION_ONE_ loft_region_file_* loft_region_shared_;
LOFT_REGION_ONE_ uint32_t* loft_region_is_parent_; /* 0 in a child of fork */
LOFT_REGION_ONE_ __thread uint32_t loft_region_open_;
LOFT_REGION_ONE_ __thread uint32_t loft_region_hidden_; /* begun without a node */

extern long syscall(long number, ...);
extern int madvise(void* start, size_t bytes, int advice);

static inline uint64_t loft_region_ticks_(void) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
  uint64_t now;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return 0;
#endif
}

static inline void loft_region_keep_(char* to, const char* name, size_t length) {
  memcpy(to, name, length < LOFT_REGION_NAME_ ? length : LOFT_REGION_NAME_ - 1);
}

/* Another thread finds out. A child of fork whose parent was in the middle of it waits in vain, and
 * is not watched. */
static inline void loft_region_await_(void) {
  int tries = 100000;
  while (__atomic_load_n(&loft_region_state_, __ATOMIC_ACQUIRE) == LOFT_REGION_OPENING_ &&
         --tries != 0)
    syscall(SYS_sched_yield);
  if (tries == 0) loft_region_state_ = LOFT_REGION_UNWATCHED_;
}

/* The memory's file, or the knowledge that there is none; by one thread. */
static __attribute__((noinline, unused)) void loft_region_open_file_(void) {
  enum { kWipeOnFork = 18, kAnonymous = 0x20, kCloseOnExec = 02000000 };
  const char* path = getauxval(AT_SECURE) == 0 ? getenv("LOFT_REGIONS") : NULL;
  int state = LOFT_REGION_UNWATCHED_, known = LOFT_REGION_UNKNOWN_, file;
  if (!__atomic_compare_exchange_n(&loft_region_state_, &known, LOFT_REGION_OPENING_, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    loft_region_await_();
    return;
  }
  file = path == NULL ? -1 : open(path, O_RDWR | kCloseOnExec);
  if (file >= 0) {
    const size_t bytes = sizeof(loft_region_file_);
    const off_t size = lseek(file, 0, SEEK_END);
    void* shared = size < (off_t)bytes
                       ? MAP_FAILED
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | kAnonymous, -1, 0);
    close(file);
    if (shared != MAP_FAILED && page != MAP_FAILED && madvise(page, 4096, kWipeOnFork) == 0 &&
        ((loft_region_file_*)shared)->magic == LOFT_REGION_MAGIC_) {
      loft_region_is_parent_ = (uint32_t*)page;
      *loft_region_is_parent_ = 1;
      loft_region_shared_ = (loft_region_file_*)shared;
      state = LOFT_REGION_WATCHED_;
    }
  }
  __atomic_store_n(&loft_region_state_, state, __ATOMIC_RELEASE);
}

static inline loft_region_node_* loft_region_node_at_(uint32_t number) {
  return &loft_region_shared_->node[number - 1];
}

/* A new node inside of `parent` (0: a thread's first); 0 when there is none left. */
static inline uint32_t loft_region_add_(uint32_t parent, const char* name, size_t length) {
  const uint32_t number = __atomic_add_fetch(&loft_region_shared_->used, 1, __ATOMIC_RELAXED);
  loft_region_node_* node;
  if (number > LOFT_REGION_NODES_) {
    __atomic_store_n(&loft_region_shared_->used, LOFT_REGION_NODES_, __ATOMIC_RELAXED);
    return 0;
  }
  node = loft_region_node_at_(number);
  node->parent = parent;
  memcpy(node->name, name, length);
  if (parent != 0) {
    node->sibling = loft_region_node_at_(parent)->first_child;
    loft_region_node_at_(parent)->first_child = number;
  }
  __atomic_store_n(&node->length, (uint32_t)length, __ATOMIC_RELEASE);
  return number;
}

static inline int loft_region_is_(const loft_region_node_* node, const char* name, size_t length) {
  return node->length == length && memcmp(node->name, name, length) == 0;
}

static inline uint32_t loft_region_find_(uint32_t open, const char* name, size_t length) {
  uint32_t child = loft_region_node_at_(open)->first_child;
  while (child != 0 && !loft_region_is_(loft_region_node_at_(child), name, length))
    child = loft_region_node_at_(child)->sibling;
  return child;
}

/* The node that all threads share inside of `parent` (0: outside of all); 0 when there is none, or
 * when who holds the lock does not give it back. */
static inline uint32_t loft_region_share_(uint32_t parent, const char* name, size_t length) {
  uint32_t* lock = &loft_region_shared_->lock;
  uint32_t number = 0;
  int tries = 100000;
  while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
    if (--tries == 0 || syscall(SYS_sched_yield) != 0) return 0;
  if (parent == 0) {
    if (loft_region_shared_->shared_root == 0)
      loft_region_shared_->shared_root = loft_region_add_(0, "", 0);
    number = loft_region_shared_->shared_root;
  } else {
    number = loft_region_find_(parent, name, length);
    if (number == 0) number = loft_region_add_(parent, name, length);
  }
  __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  return number;
}

/* A new node of the calling thread. */
static __attribute__((noinline, unused)) uint32_t loft_region_own_(uint32_t parent,
                                                                   const char* name,
                                                                   size_t length) {
  const uint32_t number = loft_region_add_(parent, name, length);
  const uint32_t around = parent != 0 ? loft_region_node_at_(parent)->shared : 0;
  loft_region_node_* node;
  if (number == 0) return 0;
  node = loft_region_node_at_(number);
  node->process = (uint32_t)getpid();
  node->thread = (uint32_t)syscall(SYS_gettid);
  node->shared = parent != 0 && around == 0 ? 0 : loft_region_share_(around, name, length);
  return number;
}

static inline uint32_t loft_region_child_(uint32_t open, const char* name, size_t length) {
  const uint32_t child = loft_region_find_(open, name, length);
  return child != 0 ? child : loft_region_own_(open, name, length);
}

/* The first thread that comes in takes the time away that the last one adds when it leaves: so it
 * does not matter who is quicker to say so. */
static inline void loft_region_come_(const loft_region_node_* node, uint64_t now) {
  loft_region_node_* shared;
  if (node->shared == 0) return;
  shared = loft_region_node_at_(node->shared);
  if (__atomic_fetch_add(&shared->depth, 1, __ATOMIC_RELAXED) == 0)
    __atomic_fetch_sub(&shared->ticks, now, __ATOMIC_RELAXED);
}

static inline void loft_region_leave_(const loft_region_node_* node, uint64_t now) {
  loft_region_node_* shared;
  if (node->shared == 0) return;
  shared = loft_region_node_at_(node->shared);
  if (__atomic_fetch_sub(&shared->depth, 1, __ATOMIC_RELAXED) == 1)
    __atomic_fetch_add(&shared->ticks, now, __ATOMIC_RELAXED);
}

/* In a child of fork: the regions that are open there, in nodes of its own. */
static __attribute__((noinline, unused)) uint32_t loft_region_take_up_(uint32_t old) {
  const loft_region_node_* before = loft_region_node_at_(old);
  uint32_t parent, number;
  if (before->parent == 0) return loft_region_own_(0, "", 0);
  parent = loft_region_take_up_(before->parent);
  if (parent == 0) return 0;
  number = loft_region_own_(parent, before->name, before->length);
  if (number == 0) return 0;
  loft_region_node_at_(number)->since = loft_region_ticks_();
  loft_region_node_at_(number)->depth = before->depth;
  loft_region_come_(loft_region_node_at_(number), loft_region_node_at_(number)->since);
  return number;
}

/* Whether there is a file; afterwards the thread has a node unless there are too many. */
static __attribute__((noinline, unused)) int loft_region_start_(void) {
  const int state = __atomic_load_n(&loft_region_state_, __ATOMIC_ACQUIRE);
  if (state != LOFT_REGION_WATCHED_ && state != LOFT_REGION_UNWATCHED_) loft_region_open_file_();
  if (loft_region_state_ != LOFT_REGION_WATCHED_) return 0;
  if (*loft_region_is_parent_ == 0) {
    if (loft_region_open_ != 0) loft_region_open_ = loft_region_take_up_(loft_region_open_);
    *loft_region_is_parent_ = 1;
  }
  if (loft_region_open_ == 0) loft_region_open_ = loft_region_own_(0, "", 0);
  return loft_region_open_ != 0;
}

static inline int loft_region_is_ready_(void) {
  return (loft_region_state_ == LOFT_REGION_WATCHED_ && loft_region_open_ != 0 &&
          *loft_region_is_parent_ != 0) ||
         loft_region_start_();
}

static __attribute__((noinline, unused)) void loft_region_watched_begin_(const char* name,
                                                                         size_t length) {
  loft_region_node_* open;
  uint32_t child;
  if (!loft_region_is_ready_()) return;
  if (length > LOFT_REGION_NAME_) length = LOFT_REGION_NAME_;
  open = loft_region_node_at_(loft_region_open_);
  if (loft_region_hidden_ != 0) {
    ++loft_region_hidden_;
    return;
  }
  if (open->parent != 0 && loft_region_is_(open, name, length)) {
    ++open->visits;
    ++open->depth;
    return;
  }
  child = length == 0 ? 0 : loft_region_child_(loft_region_open_, name, length);
  if (child == 0) {
    ++loft_region_hidden_;
    __atomic_add_fetch(&loft_region_shared_->lost, 1, __ATOMIC_RELAXED);
    return;
  }
  loft_region_open_ = child;
  open = loft_region_node_at_(child);
  ++open->visits;
  open->since = loft_region_ticks_();
  loft_region_come_(open, open->since);
}

static __attribute__((noinline, unused)) void loft_region_watched_end_(const char* name,
                                                                       size_t length) {
  loft_region_node_* open;
  const uint64_t now = loft_region_ticks_();
  if (!loft_region_is_ready_()) return;
  if (length > LOFT_REGION_NAME_) length = LOFT_REGION_NAME_;
  if (loft_region_hidden_ != 0) {
    --loft_region_hidden_;
    return;
  }
  open = loft_region_node_at_(loft_region_open_);
  if (open->parent == 0 || !loft_region_is_(open, name, length)) {
    if (__atomic_add_fetch(&loft_region_shared_->wrong_ends, 1, __ATOMIC_RELAXED) == 1) {
      loft_region_keep_(loft_region_shared_->wrong_name, name, length);
      loft_region_keep_(loft_region_shared_->open_name, open->name, open->length);
    }
    return;
  }
  if (open->depth != 0) {
    --open->depth;
    return;
  }
  open->ticks += now - open->since;
  open->since = 0;
  loft_region_leave_(open, now);
  loft_region_open_ = open->parent;
}

#ifdef __cplusplus
}
#endif

#endif
