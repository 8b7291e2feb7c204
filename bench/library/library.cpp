// What it costs a program to count itself: reads, regions, software events. Best of many, in
// nanoseconds. With "papi" the same through PAPI's interface, whichever libpapi is in front.
//
//   library [loft|papi|papi-software]
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "loft/count.h"
#include "loft/region.h"

namespace {

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The best of 200 rounds of `times` calls.
template <class Act>
double best(int times, Act&& act) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < 200; ++round) {
    const double start = now();
    for (int i = 0; i < times; ++i) act();
    least = std::min(least, (now() - start) / times);
  }
  return least;
}

void show(const char* what, double nanoseconds) {
  std::printf("%-44s %9.1f ns\n", what, nanoseconds);
}

loft_counters* open(const char* names) {
  char why[512] = "";
  loft_counters* counters = loft_counters_open(names, why, sizeof why);
  if (counters == nullptr) std::printf("%s\n", why);
  return counters;
}

void measure_counters(const char* names, const char* what) {
  loft_counters* counters = open(names);
  if (counters == nullptr) return;
  unsigned long long values[8];
  loft_counters_start(counters);
  char text[96];
  double first = std::numeric_limits<double>::max();
  for (int i = 0; i < 32; ++i) {
    const double start = now();
    loft_counters_values(counters, values, 8);
    first = std::min(first, now() - start);
  }
  std::snprintf(text, sizeof text, "%s, seldom", what);
  show(text, first);
  std::snprintf(text, sizeof text, "%s, often", what);
  show(text, best(1000, [&] { loft_counters_values(counters, values, 8); }));
  std::snprintf(text, sizeof text, "%s, start and stop", what);
  show(text, best(200, [&] {
         loft_counters_start(counters);
         loft_counters_stop(counters);
       }));
  loft_counters_close(counters);
}

void measure_loft() {
  measure_counters("instructions,flops,loads,stores", "4 exact events");
  measure_counters("task-clock,page-faults,context-switches,cpu-migrations", "4 software events");
  show("a region's begin and end", best(1000, [] {
         LOFT_REGION_BEGIN("empty");
         LOFT_REGION_END("empty");
       }));
}

template <class Function>
Function* find(const char* name) {
  static void* library = ::dlopen("libpapi.so.7.0", RTLD_NOW);
  void* found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) std::printf("there is no %s\n", name), std::exit(1);
  return reinterpret_cast<Function*>(found);
}

void measure_papi(bool is_exact) {
  find<int(int)>("PAPI_library_init")(0x07000000);
  int set = -1;
  find<int(int*)>("PAPI_create_eventset")(&set);
  const char* exact[] = {"PAPI_TOT_INS", "PAPI_FP_OPS", "PAPI_LD_INS", "PAPI_SR_INS"};
  const char* software[] = {"perf::TASK-CLOCK", "perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES",
                            "perf::CPU-MIGRATIONS"};
  for (const char* name : is_exact ? exact : software)
    if (const int error = find<int(int, const char*)>("PAPI_add_named_event")(set, name);
        error != 0)
      std::printf("%s: %s\n", name, find<char*(int)>("PAPI_strerror")(error));
  const auto start = find<int(int)>("PAPI_start");
  const auto stop = find<int(int, long long*)>("PAPI_stop");
  const auto read = find<int(int, long long*)>("PAPI_read");
  long long values[8];
  if (start(set) != 0) return;
  show("PAPI_read", best(1000, [&] { read(set, values); }));
  stop(set, values);
  show("PAPI_start and PAPI_stop", best(200, [&] {
         start(set);
         stop(set, values);
       }));
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "loft";
  if (std::strcmp(what, "loft") == 0)
    measure_loft();
  else
    measure_papi(std::strcmp(what, "papi") == 0);
  return 0;
}
