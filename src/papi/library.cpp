// PAPI_library_init and what concerns the whole library: threads, locks, errors, clocks.
#include "papi/library.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include "papi/event_sets.hpp"
#include "papi/interface.h"

namespace loft::papi {
namespace {

struct ThreadData {
  unsigned long id = 0;
  void* specific[PAPI_TLS_NUM] = {};
};

struct State {
  std::atomic<int> level{PAPI_NOT_INITED};
  std::atomic<unsigned long (*)()> thread_id{nullptr};
  std::atomic<bool> was_forked{false};
  std::mutex threads_mutex;
  std::vector<ThreadData*> threads;
  pthread_mutex_t locks[PAPI_LOCK_NUM] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
};

State& state() {
  static State& only = *new State();
  return only;
}

ThreadData& this_thread() {
  static thread_local ThreadData* mine = nullptr;
  if (mine != nullptr) return *mine;
  mine = new ThreadData();  // other threads may ask for it after this one has ended
  const auto own_id = state().thread_id.load();
  mine->id = own_id != nullptr ? own_id() : static_cast<unsigned long>(::syscall(SYS_gettid));
  const std::lock_guard lock(state().threads_mutex);
  state().threads.push_back(mine);
  return *mine;
}

void after_fork() {
  state().was_forked = true;
  state().level = PAPI_NOT_INITED;
}

long long nanoseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

constexpr const char* kErrors[PAPI_NUM_ERRORS] = {
    "No error",
    "An argument is not valid",
    "Out of memory",
    "A system call failed",
    "The component does not support this",
    "The counters are not accessible any more",
    "An error inside of the library",
    "No such event, or it cannot be counted here",
    "The event cannot be counted together with the others",
    "The event set is not running",
    "The event set, or another of the thread, is running",
    "There is no such event set",
    "This is not a preset",
    "There are no counters",
    "An error of no known kind",
    "Not permitted",
    "The library is not initialized",
    "There is no such component, or none is assigned",
    "Not supported",
    "Not implemented",
    "The buffer is too small",
    "This domain is not counted",
    "An attribute of the event is wrong",
    "Too many events",
    "These features exclude each other",
    "The event's component is disabled",
    "The component is initialized later",
    "These events need more than one run"};

}  // namespace

int check_started() { return state().level == PAPI_NOT_INITED ? PAPI_ENOINIT : PAPI_OK; }

int set_domain(int domain) { return domain == PAPI_DOM_USER ? PAPI_OK : PAPI_EINVAL_DOM; }

int set_granularity(int granularity) {
  return granularity == PAPI_GRN_THR ? PAPI_OK : PAPI_ENOSUPP;
}

}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

PAPI_EXPORT int PAPI_library_init(int version) {
  const int wanted = version >> 16;
  if (wanted != 0x0700 && wanted != 0x0701) return PAPI_EINVAL;
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork);
  static_cast<void>(registered);
  if (state().was_forked.exchange(false)) event_sets().forget_all(true);
  static_cast<void>(catalogue());
  // The rate of the clock is learnt before anything is counted.
  if (catalogue().natives().back().is_available()) static_cast<void>(thread_cycles());
  if (state().level == PAPI_NOT_INITED) state().level = PAPI_LOW_LEVEL_INITED;
  return version;
}

PAPI_EXPORT int PAPI_is_initialized(void) { return state().level; }

PAPI_EXPORT void PAPI_shutdown(void) {
  if (check_started() != PAPI_OK) return;
  event_sets().forget_all(false);
  state().level = PAPI_NOT_INITED;
  state().thread_id = nullptr;
}

PAPI_EXPORT char* PAPI_strerror(int code) {
  const int number = -code;
  return number >= 0 && number < PAPI_NUM_ERRORS ? const_cast<char*>(kErrors[number]) : nullptr;
}

PAPI_EXPORT void PAPI_perror(const char* text) {
  std::fprintf(stderr, "%s%s\n", text != nullptr ? text : "", text != nullptr ? "" : "PAPI error");
}

PAPI_EXPORT int PAPI_thread_init(unsigned long (*id)(void)) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  if (id == nullptr) return PAPI_EINVAL;
  state().thread_id = id;
  state().level = state().level | PAPI_THREAD_LEVEL_INITED;
  return PAPI_OK;
}

PAPI_EXPORT unsigned long PAPI_thread_id(void) {
  const auto own_id = state().thread_id.load();
  return own_id != nullptr ? own_id() : static_cast<unsigned long>(PAPI_EINVAL);
}

PAPI_EXPORT int PAPI_register_thread(void) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  this_thread();
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_unregister_thread(void) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  const std::lock_guard lock(state().threads_mutex);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_list_threads(unsigned long* ids, int* number) {
  if (number == nullptr || *number < 0) return PAPI_EINVAL;
  this_thread();
  const std::lock_guard lock(state().threads_mutex);
  const auto known = static_cast<int>(state().threads.size());
  for (int i = 0; ids != nullptr && i < std::min(known, *number); ++i)
    ids[i] = state().threads[static_cast<std::size_t>(i)]->id;
  *number = ids == nullptr ? known : std::min(known, *number);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_set_thr_specific(int tag, void* data) {
  if (tag < 0 || tag >= PAPI_TLS_NUM) return PAPI_EINVAL;
  this_thread().specific[tag] = data;
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_get_thr_specific(int tag, void** data) {
  const int which = tag & ~PAPI_TLS_ALL_THREADS;
  if (data == nullptr || which < 0 || which >= PAPI_TLS_NUM) return PAPI_EINVAL;
  if ((tag & PAPI_TLS_ALL_THREADS) == 0) {
    *data = this_thread().specific[which];
    return PAPI_OK;
  }
  this_thread();
  auto& all = *reinterpret_cast<PAPI_all_thr_spec_t*>(data);
  const std::lock_guard lock(state().threads_mutex);
  const int room = all.data == nullptr ? 0 : all.num;
  all.num = static_cast<int>(state().threads.size());
  for (int i = 0; i < std::min(room, all.num); ++i) {
    const ThreadData& thread = *state().threads[static_cast<std::size_t>(i)];
    all.data[i] = thread.specific[which];
    if (all.id != nullptr) all.id[i] = thread.id;
  }
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_lock(int lock) {
  if (lock < 0 || lock >= PAPI_LOCK_NUM) return PAPI_EINVAL;
  pthread_mutex_lock(&state().locks[lock]);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_unlock(int lock) {
  if (lock < 0 || lock >= PAPI_LOCK_NUM) return PAPI_EINVAL;
  pthread_mutex_unlock(&state().locks[lock]);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_set_debug(int level) {
  return level >= 0 && level <= 2 ? PAPI_OK : PAPI_EINVAL;
}

PAPI_EXPORT long long PAPI_get_real_nsec(void) { return nanoseconds(CLOCK_MONOTONIC); }
PAPI_EXPORT long long PAPI_get_real_usec(void) { return nanoseconds(CLOCK_MONOTONIC) / 1000; }
PAPI_EXPORT long long PAPI_get_real_cyc(void) {
#if defined(__x86_64__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  return nanoseconds(CLOCK_MONOTONIC);
#endif
}
PAPI_EXPORT long long PAPI_get_virt_nsec(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
PAPI_EXPORT long long PAPI_get_virt_usec(void) {
  return nanoseconds(CLOCK_THREAD_CPUTIME_ID) / 1000;
}
PAPI_EXPORT long long PAPI_get_virt_cyc(void) { return static_cast<long long>(thread_cycles()); }

}  // extern "C"
