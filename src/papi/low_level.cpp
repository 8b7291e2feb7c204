// Event sets through PAPI's functions.
#include "papi/event_sets.hpp"
#include "papi/interface.h"
#include "papi/library.hpp"

namespace loft::papi {
namespace {

// Calls act(set) when there is one.
template <class Act>
int with_set(int number, Act&& act) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  const EventSets::Held set = event_sets().find(number);
  return set ? act(*set) : PAPI_ENOEVST;
}

// All of them, or none of those behind the first that fails: how many were done.
template <class Act>
int for_each_code(int set, const int* codes, int count, Act&& act) {
  if (codes == nullptr || count <= 0) return PAPI_EINVAL;
  for (int i = 0; i < count; ++i)
    if (const int error = act(set, codes[i]); error != PAPI_OK) return i == 0 ? error : i;
  return PAPI_OK;
}

int code_of(const char* name, int& code) {
  if (name == nullptr) return PAPI_EINVAL;
  const Event* event = catalogue().find(name);
  if (event == nullptr) return PAPI_ENOEVNT;
  code = static_cast<int>(event->code);
  return PAPI_OK;
}

}  // namespace
}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

PAPI_EXPORT int PAPI_create_eventset(int* set) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  if (set == nullptr || *set != PAPI_NULL) return PAPI_EINVAL;
  *set = event_sets().create();
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_destroy_eventset(int* set) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  if (set == nullptr) return PAPI_EINVAL;
  const int error = event_sets().destroy(*set);
  if (error == PAPI_OK) *set = PAPI_NULL;
  return error;
}

PAPI_EXPORT int PAPI_cleanup_eventset(int set) {
  return with_set(set, [](EventSet& held) { return held.clear(); });
}

PAPI_EXPORT int PAPI_add_event(int set, int code) {
  return with_set(set, [&](EventSet& held) { return held.add(code); });
}

PAPI_EXPORT int PAPI_add_named_event(int set, const char* name) {
  int code = 0;
  const int error = code_of(name, code);
  return error != PAPI_OK ? error : PAPI_add_event(set, code);
}

PAPI_EXPORT int PAPI_add_events(int set, int* codes, int count) {
  return for_each_code(set, codes, count, PAPI_add_event);
}

PAPI_EXPORT int PAPI_remove_event(int set, int code) {
  return with_set(set, [&](EventSet& held) { return held.remove(code); });
}

PAPI_EXPORT int PAPI_remove_named_event(int set, const char* name) {
  int code = 0;
  const int error = code_of(name, code);
  return error != PAPI_OK ? error : PAPI_remove_event(set, code);
}

PAPI_EXPORT int PAPI_remove_events(int set, int* codes, int count) {
  return for_each_code(set, codes, count, PAPI_remove_event);
}

PAPI_EXPORT int PAPI_start(int set) {
  return with_set(set, [](EventSet& held) { return held.start(); });
}

PAPI_EXPORT int PAPI_stop(int set, long long* values) {
  return with_set(set, [&](EventSet& held) { return held.stop(values); });
}

PAPI_EXPORT int PAPI_read(int set, long long* values) {
  return with_set(set, [&](EventSet& held) { return held.read(values); });
}

PAPI_EXPORT long long PAPI_get_real_cyc(void);
PAPI_EXPORT int PAPI_read_ts(int set, long long* values, long long* cycles) {
  const int error = PAPI_read(set, values);
  if (error == PAPI_OK && cycles != nullptr) *cycles = PAPI_get_real_cyc();
  return error;
}

PAPI_EXPORT int PAPI_reset(int set) {
  return with_set(set, [](EventSet& held) { return held.reset(); });
}

PAPI_EXPORT int PAPI_accum(int set, long long* values) {
  return with_set(set, [&](EventSet& held) { return held.accumulate(values); });
}

PAPI_EXPORT int PAPI_write(int set, long long* values) {
  return with_set(set, [&](EventSet& held) { return held.write(values); });
}

PAPI_EXPORT int PAPI_state(int set, int* status) {
  if (status == nullptr) return PAPI_EINVAL;
  return with_set(set, [&](EventSet& held) {
    *status = (held.is_running() ? PAPI_RUNNING : PAPI_STOPPED) |
              (held.is_multiplexed ? PAPI_MULTIPLEXING : 0) |
              (held.is_attached() ? PAPI_ATTACHED : 0) | held.overflow_state();
    return static_cast<int>(PAPI_OK);
  });
}

PAPI_EXPORT int PAPI_num_events(int set) {
  return with_set(set, [](EventSet& held) { return static_cast<int>(held.codes().size()); });
}

PAPI_EXPORT int PAPI_list_events(int set, int* codes, int* count) {
  if (count == nullptr || *count < 0 || (codes == nullptr && *count != 0)) return PAPI_EINVAL;
  return with_set(set, [&](EventSet& held) {
    for (int i = 0; codes != nullptr && i < *count; ++i) {
      if (static_cast<std::size_t>(i) >= held.codes().size()) break;
      codes[i] = held.codes()[static_cast<std::size_t>(i)];
    }
    *count = static_cast<int>(held.codes().size());
    return static_cast<int>(PAPI_OK);
  });
}

PAPI_EXPORT int PAPI_assign_eventset_component(int set, int component) {
  return with_set(set, [&](EventSet& held) {
    if (component != 0) return static_cast<int>(PAPI_ENOCMP);
    held.component = 0;
    return static_cast<int>(PAPI_OK);
  });
}

PAPI_EXPORT int PAPI_get_eventset_component(int set) {
  return with_set(set, [](EventSet& held) {
    return held.component < 0 ? static_cast<int>(PAPI_ENOCMP) : held.component;
  });
}

// Every event of a set has a counter of its own: there is nothing to take turns for.
PAPI_EXPORT int PAPI_multiplex_init(void) { return check_started(); }

PAPI_EXPORT int PAPI_set_multiplex(int set) {
  return with_set(set, [](EventSet& held) {
    if (held.component < 0) return static_cast<int>(PAPI_ENOCMP);
    if (held.is_running()) return static_cast<int>(PAPI_EISRUN);
    held.is_multiplexed = true;
    return static_cast<int>(PAPI_OK);
  });
}

PAPI_EXPORT int PAPI_get_multiplex(int set) {
  return with_set(set, [](EventSet& held) { return held.is_multiplexed ? 1 : 0; });
}

// Threads and processes of the same run.
PAPI_EXPORT int PAPI_attach(int set, unsigned long thread) {
  return with_set(set, [&](EventSet& held) { return held.attach(thread); });
}
PAPI_EXPORT int PAPI_detach(int set) {
  return with_set(set, [](EventSet& held) { return held.detach(); });
}

}  // extern "C"
