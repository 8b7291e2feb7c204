// A program that uses PAPI. `work(n)` is a loop of 4 instructions a round, one of which adds two
// numbers of double precision: what counts above that is the same for every n.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "papi/interface.h"

#include "counted_work.hpp"

extern "C" {
int PAPI_library_init(int);
int PAPI_is_initialized();
int PAPI_create_eventset(int*);
int PAPI_destroy_eventset(int*);
int PAPI_cleanup_eventset(int);
int PAPI_add_event(int, int);
int PAPI_add_named_event(int, const char*);
int PAPI_add_events(int, int*, int);
int PAPI_list_events(int, int*, int*);
int PAPI_event_code_to_name(int, char*);
int PAPI_state(int, int*);
int PAPI_attach(int, unsigned long);
int PAPI_detach(int);
int PAPI_remove_event(int, int);
int PAPI_query_event(int);
int PAPI_query_named_event(const char*);
int PAPI_event_name_to_code(const char*, int*);
int PAPI_get_event_info(int, PAPI_event_info_t*);
int PAPI_enum_event(int*, int);
int PAPI_start(int);
int PAPI_stop(int, long long*);
int PAPI_read(int, long long*);
int PAPI_reset(int);
int PAPI_accum(int, long long*);
int PAPI_set_multiplex(int);
int PAPI_assign_eventset_component(int, int);
int PAPI_num_hwctrs();
int PAPI_set_domain(int);
int PAPI_thread_init(unsigned long (*)());
int PAPI_overflow(int, int, int, int, PAPI_overflow_handler_t);
int PAPI_profil(void*, unsigned, void*, unsigned, int, int, int, int);
int PAPI_set_opt(int, PAPI_option_t*);
int PAPI_hl_region_begin(const char*);
int PAPI_hl_region_end(const char*);
int PAPI_hl_read(const char*);
int PAPI_hl_stop();
}

namespace {

int g_failures = 0;

void check(bool is_good, const char* what, long long found = 0) {
  if (is_good) return;
  std::printf("failed: %s (%lld)\n", what, found);
  ++g_failures;
}

int make_set(std::initializer_list<const char*> names) {
  int set = PAPI_NULL;
  check(PAPI_create_eventset(&set) == PAPI_OK, "create");
  for (const char* name : names) check(PAPI_add_named_event(set, name) == PAPI_OK, name);
  return set;
}

// Counts of work(n) and what is around it.
void count(int set, long n, long long* values) {
  PAPI_start(set);
  work(n);
  PAPI_stop(set, values);
}

void check_counts() {
  const int set = make_set({"PAPI_TOT_INS", "PAPI_FP_OPS", "PAPI_BR_CN", "loft::op_nop"});
  long long few[4], many[4], warm[4];
  count(set, 10, warm);
  count(set, 1000, few);
  count(set, 21000, many);
  check(many[0] - few[0] == 80000, "instructions of 20,000 rounds", many[0] - few[0]);
  check(few[1] == 1000 && many[1] == 21000, "operations", few[1]);
  check(many[2] - few[2] == 20000, "branches", many[2] - few[2]);
  check(few[0] - 4000 < 400, "what the library itself counts", few[0] - 4000);
  PAPI_start(set);
  work(500);
  long long values[4] = {}, sum[4] = {};
  check(PAPI_read(set, values) == PAPI_OK && values[1] == 500, "read", values[1]);
  work(500);
  check(PAPI_accum(set, sum) == PAPI_OK && sum[1] == 1000, "accum", sum[1]);
  work(100);
  check(PAPI_reset(set) == PAPI_OK, "reset");
  work(70);
  check(PAPI_stop(set, values) == PAPI_OK && values[1] == 70, "after reset", values[1]);
}

struct Overflows {
  int calls = 0;
  bool is_exact = true;
  long long vector = 0;
} g_overflows;

void on_overflow(int set, void* address, long long vector, void*) {
  long long value = 0;
  ++g_overflows.calls;
  g_overflows.vector |= vector;
  g_overflows.is_exact = g_overflows.is_exact && address != nullptr &&
                         PAPI_read(set, &value) == PAPI_OK && value == g_overflows.calls * 1000;
}

// At exactly each thousandth operation, and nowhere but in work().
void check_overflow() {
  const int set = make_set({"PAPI_FP_OPS"});
  int code = 0, other = 0;
  PAPI_event_name_to_code("PAPI_FP_OPS", &code);
  PAPI_event_name_to_code("PAPI_TOT_INS", &other);
  check(PAPI_overflow(set, other, 1000, 0, on_overflow) == PAPI_ENOEVNT, "overflow of another");
  check(PAPI_overflow(set, code, -1, 0, on_overflow) == PAPI_EINVAL, "a threshold below 0");
  check(PAPI_overflow(set, code, 1000, 0, on_overflow) == PAPI_OK, "overflow");
  check(PAPI_overflow(set, code, 1000, 0, on_overflow) == PAPI_EINVAL, "overflow twice");
  long long value = 0;
  count(set, 30500, &value);
  check(value == 30500 && g_overflows.calls == 30, "overflows", g_overflows.calls);
  check(g_overflows.is_exact && g_overflows.vector == 1, "counts at overflows");
  check(PAPI_overflow(set, code, 0, 0, on_overflow) == PAPI_OK, "no overflow any more");
  unsigned short buckets[64] = {};
  check(PAPI_profil(buckets, sizeof buckets, reinterpret_cast<void*>(work), 65536, set, code, 100,
                    0) == PAPI_OK,
        "profile");
  count(set, 10000, &value);
  long long sum = 0;
  for (const unsigned short bucket : buckets) sum += bucket;
  check(sum == 100, "addresses in the profile", sum);
  check(PAPI_profil(buckets, sizeof buckets, reinterpret_cast<void*>(work), 65536, set, code, 0,
                    0) == PAPI_OK,
        "no profile any more");
}

// A file in the manner of the paper's Figure 1; argument 2 is its name.
void check_user_events(const char* file) {
  PAPI_option_t option{};
  option.events_file = const_cast<char*>("/no/such/file");
  check(PAPI_set_opt(PAPI_USER_EVENTS_FILE, &option) == PAPI_EINVAL, "no such file");
  check(PAPI_query_named_event("Work_cat") == PAPI_ENOEVNT, "not defined yet");
  option.events_file = const_cast<char*>(file);
  check(PAPI_set_opt(PAPI_USER_EVENTS_FILE, &option) == PAPI_OK, "user events");
  const int set = make_set({"Work_cat", "Work_share:fp64", "PAPI_TOT_INS", "PAPI_FP_OPS"});
  check(PAPI_query_named_event("Miss_cat") == PAPI_ENOEVNT, "what models alone know");
  int code = 0;
  PAPI_event_info_t info;
  check(PAPI_event_name_to_code("Miss_cat", &code) == PAPI_OK &&
            PAPI_get_event_info(code, &info) == PAPI_OK && std::strlen(info.note) > 10,
        "and why");
  long long values[4] = {};
  count(set, 1000, values);
  check(values[0] == 5 * values[3] + 2 * values[2], "a sum", values[0]);
  double share = 0;
  std::memcpy(&share, &values[1], sizeof share);
  check(share == static_cast<double>(values[3]) / static_cast<double>(values[2]), "a ratio");
}

// A damaged file defines nothing that could be counted wrongly, and the rest goes on.
void check_refused(const char* file) {
  PAPI_option_t option{};
  option.events_file = const_cast<char*>(file);
  const int loaded = PAPI_set_opt(PAPI_USER_EVENTS_FILE, &option);
  int set = PAPI_NULL;
  PAPI_create_eventset(&set);
  for (const char* name : {"Broken", "Self", "A"})
    check(PAPI_add_named_event(set, name) == PAPI_ENOEVNT, name);
  std::printf("loaded: %d\n", loaded);
  check_counts();
}

// What a file's events say of work(1000), for the test to compare.
void print_user_events(const char* file) {
  PAPI_option_t option{};
  option.events_file = const_cast<char*>(file);
  check(PAPI_set_opt(PAPI_USER_EVENTS_FILE, &option) == PAPI_OK, "user events");
  const int set = make_set({"Fp_cat", "Fp_share:fp64"});
  long long values[2] = {};
  count(set, 1000, values);
  double share = 0;
  std::memcpy(&share, &values[1], sizeof share);
  std::printf("%lld %.17g\n", values[0], share);
}

void check_high_level() {
  for (int i = 0; i < 2; ++i) {
    check(PAPI_hl_region_begin("outer") == PAPI_OK, "a region");
    check(PAPI_hl_region_begin("inner") == PAPI_OK, "a region inside");
    work(100);
    check(PAPI_hl_read("inner") == PAPI_OK, "a reading");
    check(PAPI_hl_region_end("outer") == PAPI_EMISC, "not the innermost");
    check(PAPI_hl_region_end("inner") == PAPI_OK, "its end");
    check(PAPI_hl_region_end("outer") == PAPI_OK, "the end");
  }
  check(PAPI_hl_stop() == PAPI_OK, "the output");
}

void check_errors() {
  int set = PAPI_NULL, code = 0;
  long long values[2];
  check(PAPI_start(1234) == PAPI_ENOEVST, "no such set");
  check(PAPI_create_eventset(&set) == PAPI_OK, "create");
  check(PAPI_create_eventset(&set) == PAPI_EINVAL, "create twice");
  check(PAPI_start(set) == PAPI_EINVAL, "an empty set");
  check(PAPI_stop(set, values) == PAPI_ENOTRUN, "not running");
  check(PAPI_set_multiplex(set) == PAPI_ENOCMP, "no component");
  check(PAPI_assign_eventset_component(set, 5) == PAPI_ENOCMP, "wrong component");
  check(PAPI_add_named_event(set, "PAPI_NO_SUCH") == PAPI_ENOEVNT, "no such event");
  check(PAPI_add_named_event(set, "PAPI_TOT_INS") == PAPI_OK, "add");
  check(PAPI_add_named_event(set, "PAPI_TOT_INS") == PAPI_ECNFLCT, "add twice");
  check(PAPI_event_name_to_code("PAPI_TOT_INS", &code) == PAPI_OK, "code");
  check(PAPI_start(set) == PAPI_OK && PAPI_start(set) == PAPI_EISRUN, "start twice");
  const int other = make_set({"PAPI_FP_OPS"});
  check(PAPI_start(other) == PAPI_EISRUN, "two sets of a thread");
  check(PAPI_remove_event(set, code) == PAPI_EISRUN, "remove while running");
  std::thread([&] {
    long long stolen[2];
    check(PAPI_read(set, stolen) == PAPI_EINVAL, "another thread's set");
  }).join();
  check(PAPI_stop(set, values) == PAPI_OK, "stop");
  check(PAPI_destroy_eventset(&set) == PAPI_EINVAL, "destroy a set that is not empty");
  check(PAPI_cleanup_eventset(set) == PAPI_OK && PAPI_destroy_eventset(&set) == PAPI_OK, "destroy");
  check(set == PAPI_NULL, "no set any more");
  check(PAPI_set_domain(PAPI_DOM_KERNEL) == PAPI_EINVAL_DOM, "kernel mode");
  check(PAPI_library_init(0x05070000) == PAPI_EINVAL, "another version");
}

// Whatever asks gets the same answer, and what is missing says why.
void check_agreement() {
  int code = static_cast<int>(PAPI_PRESET_MASK), available = 0;
  do {
    PAPI_event_info_t info;
    check(PAPI_get_event_info(code, &info) == PAPI_OK, "info");
    int set = PAPI_NULL;
    PAPI_create_eventset(&set);
    const bool can_query = PAPI_query_event(code) == PAPI_OK;
    const bool can_add = PAPI_add_event(set, code) == PAPI_OK;
    check(can_query == can_add && can_add == (info.count > 0), info.symbol);
    if (!can_add) check(std::strlen(info.note) > 10, "a reason");
    available += can_add ? 1 : 0;
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
  } while (PAPI_enum_event(&code, PAPI_ENUM_EVENTS) == PAPI_OK);
  check(available >= 24, "presets", available);
  int native = static_cast<int>(PAPI_NATIVE_MASK), filled = 0;
  int set = PAPI_NULL;
  PAPI_create_eventset(&set);
  PAPI_enum_event(&native, PAPI_ENUM_FIRST);
  while (filled < PAPI_num_hwctrs() && PAPI_add_event(set, native) == PAPI_OK) {
    ++filled;
    PAPI_enum_event(&native, PAPI_ENUM_EVENTS);
  }
  check(filled == PAPI_num_hwctrs(), "counters that are there can be filled", filled);
  check(PAPI_add_event(set, native) == PAPI_ECOUNT, "one more");
}

void check_threads() {
  PAPI_thread_init([] { return static_cast<unsigned long>(getpid()); });
  std::vector<std::thread> threads;
  std::vector<long long> counts(4);
  for (std::size_t i = 0; i < counts.size(); ++i)
    threads.emplace_back([&counts, i] {
      const int set = make_set({"PAPI_DP_OPS"});
      for (int round = 0; round < 50; ++round) {
        long long value = 0;
        count(set, 1000, &value);
        counts[i] += value;
      }
    });
  for (auto& thread : threads) thread.join();
  for (const long long value : counts) check(value == 50000, "a thread's own operations", value);
}

void check_fork() {
  const int set = make_set({"PAPI_FP_OPS"});
  PAPI_start(set);
  const pid_t child = fork();
  if (child == 0) {
    g_failures = 0;
    check(PAPI_is_initialized() == PAPI_NOT_INITED, "a child starts anew");
    check(PAPI_library_init(0x07000000) == 0x07000000, "init in a child");
    long long value = 0;
    const int own = make_set({"PAPI_FP_OPS"});
    count(own, 300, &value);
    check(value == 300, "operations of a child", value);
    _exit(g_failures);
  }
  work(20);
  long long value = 0;
  PAPI_stop(set, &value);
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "the child", status);
  check(value == 20, "operations of the parent", value);
}

// Threads and processes of the same run.
void check_attach() {
  int set = make_set({"PAPI_FP_OPS"});
  check(PAPI_attach(set, 0) == PAPI_EINVAL, "no thread's number");
  check(PAPI_attach(set, 1) == PAPI_ENOSUPP, "a process of nobody");
  check(PAPI_detach(set) == PAPI_EINVAL, "not attached");
  std::atomic<long> tid{0};
  std::atomic<int> step{0};
  std::thread other([&] {
    tid = gettid();
    while (step != 1) std::this_thread::yield();
    work(500);
    step = 2;
    while (step != 3) std::this_thread::yield();
    work(11);
  });
  while (tid == 0) std::this_thread::yield();
  const int own = make_set({"PAPI_FP_OPS"});
  PAPI_start(own);
  check(PAPI_attach(set, static_cast<unsigned long>(tid.load())) == PAPI_OK, "attach");
  check(PAPI_start(set) == PAPI_OK, "beside the thread's own set");
  int state = 0;
  check(PAPI_state(set, &state) == PAPI_OK && state == (PAPI_RUNNING | PAPI_ATTACHED), "state",
        state);
  check(PAPI_detach(set) == PAPI_EISRUN, "detach while it runs");
  step = 1;
  while (step != 2) std::this_thread::yield();
  work(90);
  long long value = 0;
  check(PAPI_read(set, &value) == PAPI_OK && value == 500, "of another thread", value);
  step = 3;
  other.join();
  check(PAPI_stop(set, &value) == PAPI_OK && value == 511, "of one that has ended", value);
  check(PAPI_stop(own, &value) == PAPI_OK && value == 90, "the thread's own", value);
  check(PAPI_detach(set) == PAPI_OK, "detach");
  count(set, 30, &value);
  check(value == 30, "its own again", value);
}

void check_inherit() {
  const int set = make_set({"PAPI_FP_OPS"});
  PAPI_option_t option{};
  option.inherit.eventset = 999;
  option.inherit.inherit = 1;
  check(PAPI_set_opt(PAPI_INHERIT, &option) == PAPI_ENOEVST, "no such set");
  option.inherit.eventset = set;
  std::thread([] { work(7777); }).join();  // before it starts
  check(PAPI_set_opt(PAPI_INHERIT, &option) == PAPI_OK, "inherit");
  PAPI_start(set);
  work(1);
  std::thread([] { std::thread([] { work(20); }).join(); }).join();
  const pid_t child = fork();
  if (child == 0) {
    work(300);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  long long value = 0;
  check(PAPI_stop(set, &value) == PAPI_OK && value == 321, "with all that it made", value);
  int code = 0;
  PAPI_event_name_to_code("PAPI_FP_OPS", &code);
  check(PAPI_overflow(set, code, 1000, 0, on_overflow) == PAPI_ECNFLCT, "overflow of others");
}

int g_signal_set = 0;
int g_signal_status = -1;
long long g_signal_value = 0;

// A handler may read a running set; the thread is not inside of the library then.
void check_signal_handlers() {
  g_signal_set = make_set({"PAPI_FP_OPS"});
  struct sigaction action {};
  action.sa_handler = [](int) { g_signal_status = PAPI_read(g_signal_set, &g_signal_value); };
  sigaction(SIGUSR1, &action, nullptr);
  PAPI_start(g_signal_set);
  work(40);
  raise(SIGUSR1);
  long long value = 0;
  PAPI_stop(g_signal_set, &value);
  check(g_signal_status == PAPI_OK && g_signal_value == 40, "read in a handler", g_signal_value);
  check(value == 40, "after the handler", value);
}

// Whatever is given that cannot be: an error, never a crash.
void check_nonsense() {
  int set = make_set({"PAPI_FP_OPS"}), code = 0, count = -1;
  long long values[2];
  PAPI_event_info_t info;
  check(PAPI_create_eventset(nullptr) == PAPI_EINVAL, "create into nothing");
  check(PAPI_destroy_eventset(nullptr) == PAPI_EINVAL, "destroy nothing");
  check(PAPI_add_event(-1, 0) == PAPI_ENOEVST, "a set below 0");
  check(PAPI_add_event(set, 0x7FFFFFFF) == PAPI_ENOEVNT, "no event's code");
  check(PAPI_add_named_event(set, nullptr) == PAPI_EINVAL, "no name");
  check(PAPI_add_named_event(set, "") == PAPI_ENOEVNT, "an empty name");
  check(PAPI_add_named_event(set, "loft::no such thing") == PAPI_ENOEVNT, "no native event");
  check(PAPI_add_events(set, nullptr, 3) == PAPI_EINVAL, "no codes");
  check(PAPI_remove_event(set, 0x80000032) == PAPI_EINVAL, "an event of no set");
  check(PAPI_event_name_to_code(nullptr, &code) == PAPI_EINVAL, "no name for a code");
  check(PAPI_event_name_to_code("PAPI_FP_OPS", nullptr) == PAPI_EINVAL, "no place for a code");
  check(PAPI_event_code_to_name(0, nullptr) == PAPI_EINVAL, "no place for a name");
  check(PAPI_get_event_info(0, &info) == PAPI_ENOEVNT, "info of nothing");
  check(PAPI_get_event_info(0x80000032, nullptr) == PAPI_EINVAL, "info to nowhere");
  check(PAPI_list_events(set, nullptr, &count) == PAPI_EINVAL, "a list below 0");
  check(PAPI_read(set, nullptr) == PAPI_EINVAL, "read to nowhere");
  check(PAPI_read(set, values) == PAPI_OK && values[0] == 0, "read before the start");
  check(PAPI_accum(set, nullptr) == PAPI_EINVAL, "accum to nowhere");
  check(PAPI_state(set, nullptr) == PAPI_EINVAL, "state to nowhere");
  check(PAPI_start(set) == PAPI_OK && PAPI_cleanup_eventset(set) == PAPI_EISRUN, "cleanup");
  check(PAPI_destroy_eventset(&set) == PAPI_EISRUN, "destroy while it runs");
  check(PAPI_stop(set, nullptr) == PAPI_OK, "stop to nowhere");
  check(PAPI_set_opt(12345, nullptr) == PAPI_EINVAL, "no option");
  check(PAPI_thread_init(nullptr) == PAPI_EINVAL, "no function for threads");
  check(PAPI_library_init(0) == PAPI_EINVAL, "no version");
}

}  // namespace

int main(int argc, char** argv) {
  check(PAPI_start(0) == PAPI_ENOINIT, "before init");
  check(PAPI_library_init(0x07000000) == 0x07000000, "init");
  if (argc > 1 && std::strcmp(argv[1], "natively") == 0) {
    check(PAPI_query_named_event("PAPI_TOT_INS") == PAPI_ENOEVNT, "nothing is counted natively");
    check(PAPI_num_hwctrs() == 0, "no counters");
  } else if (argc > 2 && std::strcmp(argv[1], "events") == 0) {
    check_user_events(argv[2]);
  } else if (argc > 2 && std::strcmp(argv[1], "refused") == 0) {
    check_refused(argv[2]);
  } else if (argc > 2 && std::strcmp(argv[1], "values") == 0) {
    print_user_events(argv[2]);
    return g_failures;
  } else if (argc > 1 && std::strcmp(argv[1], "regions") == 0) {
    check_high_level();
  } else {
    check_counts();
    check_overflow();
    check_errors();
    check_nonsense();
    check_attach();
    check_inherit();
    check_signal_handlers();
    check_agreement();
    check_threads();
    check_fork();
  }
  std::printf("%d failures\n", g_failures);
  return g_failures == 0 ? 0 : 1;
}
