// PAPI's high-level regions. They are marked regions of loft, which 'loft stat --by region' shows;
// and each visit of a thread is written down with the counts of $PAPI_EVENTS, in PAPI's own JSON,
// when the program ends (high_level_output.hpp).
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/text.hpp"
#include "loft/region.h"
#include "papi/event_sets.hpp"
#include "papi/functions.h"
#include "papi/high_level_output.hpp"

namespace loft::papi {
namespace {

struct OpenRegion {
  std::size_t visit;  // its place in the thread's list
  std::vector<long long> counts;
  long long cycles;
  long long nanoseconds;
};

struct Thread {
  std::mutex mutex;  // of `visits`: another thread may write the output
  std::vector<Visit> visits;
  std::vector<OpenRegion> open;
  EventSet set;
  bool is_counting = false;
};

struct HighLevel {
  std::mutex mutex;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::string> events;
  bool has_output = false;
};

HighLevel& high_level() {
  static HighLevel& only = *new HighLevel();
  return only;
}

// What $PAPI_EVENTS names, as far as it can be counted; else what there is of the usual.
std::vector<std::string> chosen_events() {
  const char* wanted = std::getenv("PAPI_EVENTS");
  const std::string_view list = wanted != nullptr && *wanted != '\0'
                                    ? wanted
                                    : "PAPI_TOT_INS,PAPI_TOT_CYC,PAPI_FP_INS,PAPI_FP_OPS";
  std::vector<std::string> names;
  for (const std::string_view word : split(list, ',')) {
    const std::string name(trim(word));
    const Event* event = catalogue().find(name);
    if (event != nullptr && event->is_available()) names.push_back(name);
  }
  return names;
}

void write_at_exit() { static_cast<void>(PAPI_hl_stop()); }

Thread& this_thread() {
  static thread_local Thread* mine = nullptr;
  if (mine != nullptr) return *mine;
  HighLevel& all = high_level();
  const std::lock_guard lock(all.mutex);
  if (all.threads.empty()) {
    all.events = chosen_events();
    std::atexit(write_at_exit);
  }
  all.threads.push_back(std::make_unique<Thread>());
  mine = all.threads.back().get();
  for (const std::string& name : all.events)
    static_cast<void>(mine->set.add(static_cast<int>(catalogue().find(name)->code)));
  return *mine;
}

std::vector<long long> counts_now(Thread& thread) {
  std::vector<long long> counts(thread.set.codes().size());
  if (thread.is_counting && thread.set.read(counts.data()) != PAPI_OK) counts.clear();
  return counts;
}

// What was counted since the region began.
std::vector<long long> since(const OpenRegion& region, const std::vector<long long>& now) {
  std::vector<long long> counts = now;
  for (std::size_t i = 0; i < counts.size() && i < region.counts.size(); ++i)
    counts[i] -= region.counts[i];
  return counts;
}

}  // namespace
}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

// The first region also starts the library.
PAPI_EXPORT int PAPI_hl_region_begin(const char* region) {
  if (region == nullptr || *region == '\0') return PAPI_EINVAL;
  if (PAPI_is_initialized() == PAPI_NOT_INITED) PAPI_library_init(0x07000000);
  Thread& thread = this_thread();
  if (!thread.is_counting && !thread.set.codes().empty())
    thread.is_counting = thread.set.start() == PAPI_OK;
  Visit visit;
  visit.name = region;
  visit.parent = thread.open.empty() ? -1 : static_cast<long>(thread.open.back().visit);
  std::size_t place = 0;
  {
    const std::lock_guard lock(thread.mutex);
    place = thread.visits.size();
    thread.visits.push_back(std::move(visit));
  }
  thread.open.push_back({place, counts_now(thread), PAPI_get_real_cyc(), PAPI_get_real_nsec()});
  loft_region_begin(region);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_hl_read(const char* region) {
  if (region == nullptr || *region == '\0') return PAPI_EINVAL;
  Thread& thread = this_thread();
  if (thread.open.empty()) return PAPI_EMISC;
  const std::lock_guard lock(thread.mutex);
  Visit& visit = thread.visits[thread.open.back().visit];
  if (visit.name != region) return PAPI_EMISC;
  visit.reads.push_back(since(thread.open.back(), counts_now(thread)));
  return PAPI_OK;
}

// Another than the innermost open region is not ended.
PAPI_EXPORT int PAPI_hl_region_end(const char* region) {
  if (region == nullptr || *region == '\0') return PAPI_EINVAL;
  Thread& thread = this_thread();
  const std::vector<long long> now = counts_now(thread);
  loft_region_end(region);
  if (thread.open.empty()) return PAPI_EMISC;
  const OpenRegion open = thread.open.back();
  const std::lock_guard lock(thread.mutex);
  Visit& visit = thread.visits[open.visit];
  if (visit.name != region) return PAPI_EMISC;
  visit.counts = since(open, now);
  visit.cycles = PAPI_get_real_cyc() - open.cycles;
  visit.nanoseconds = PAPI_get_real_nsec() - open.nanoseconds;
  visit.is_complete = true;
  thread.open.pop_back();
  return PAPI_OK;
}

// Writes what is complete. Called once more at the end of the program, it does nothing.
PAPI_EXPORT int PAPI_hl_stop(void) {
  HighLevel& all = high_level();
  const std::lock_guard lock(all.mutex);
  if (all.threads.empty() || all.has_output) return PAPI_OK;
  std::vector<std::vector<Visit>> threads;
  for (const auto& thread : all.threads) {
    const std::lock_guard own(thread->mutex);
    threads.push_back(thread->visits);
  }
  all.has_output = true;
  return write_visits(threads, all.events) ? PAPI_OK : PAPI_ESYS;
}

PAPI_EXPORT int PAPI_enum_dev_type(int, void**) { return PAPI_EINVAL; }
PAPI_EXPORT int PAPI_get_dev_type_attr(void*, int, void*) { return PAPI_ENOSUPP; }
PAPI_EXPORT int PAPI_get_dev_attr(void*, int, int, void*) { return PAPI_ENOSUPP; }

}  // extern "C"
