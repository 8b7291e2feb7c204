#include "loft/count.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "event/plan.hpp"
#include "event/resolver.hpp"
#include "source/perf_events/own_thread.hpp"

struct loft_counters {
  loft::source::perf_events::OwnThreadCounters counters;
  std::vector<loft::sample::Count> latest;
};

namespace {

using loft::Result;
using loft::sample::Count;
using loft::sample::Origin;

Result<loft_counters*> open_counters(const char* names) {
  loft::event::Resolver resolver;
  LOFT_TRY(const auto events, resolver.resolve_list(names));
  LOFT_TRY(const auto plan, loft::event::plan_groups(events, {}));
  std::vector<loft::source::EventGroup> groups;
  for (const auto& group : plan.groups)
    groups.push_back({group.members, events[group.members.front()].group != 0});
  LOFT_TRY(auto counters, loft::source::perf_events::OwnThreadCounters::open(events, groups));
  std::vector<Count> none(counters.events().size(), Count::missing("not read yet"));
  return new loft_counters{std::move(counters), std::move(none)};
}

void tell(const std::string& text, char* error, size_t size) {
  if (error == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(error, text.data(), length);
  error[length] = '\0';
}

loft_kind kind_of(Origin origin) {
  switch (origin) {
    case Origin::counted:
      return LOFT_COUNTED;
    case Origin::scaled:
      return LOFT_SCALED;
    case Origin::modelled:
      return LOFT_MODELLED;
    case Origin::missing:
      break;
  }
  return LOFT_MISSING;
}

const loft::event::Event* event_at(const loft_counters* counters, size_t index) {
  const auto& events = counters->counters.events();
  return index < events.size() ? &events[index] : nullptr;
}

}  // namespace

loft_counters* loft_counters_open(const char* events, char* error, size_t error_size) {
  if (events == nullptr) {
    tell("cannot count: no event was named", error, error_size);
    return nullptr;
  }
  auto opened = open_counters(events);
  if (opened) return *opened;
  tell(loft::to_string(opened.error()), error, error_size);
  return nullptr;
}

void loft_counters_close(loft_counters* counters) { delete counters; }

int loft_counters_start(loft_counters* counters) { return counters->counters.start() ? 0 : -1; }

int loft_counters_stop(loft_counters* counters) {
  if (!counters->counters.stop()) return -1;
  return loft_counters_update(counters);
}

int loft_counters_update(loft_counters* counters) {
  auto counts = counters->counters.read();
  if (!counts) return -1;
  counters->latest = *std::move(counts);
  return 0;
}

size_t loft_counters_size(const loft_counters* counters) { return counters->latest.size(); }

const char* loft_counters_name(const loft_counters* counters, size_t index) {
  const auto* event = event_at(counters, index);
  return event == nullptr ? nullptr : event->name.c_str();
}

const char* loft_counters_unit(const loft_counters* counters, size_t index) {
  const auto* event = event_at(counters, index);
  return event == nullptr ? nullptr : event->unit.c_str();
}

int loft_counters_read(const loft_counters* counters, size_t index, loft_count* count) {
  const auto* event = event_at(counters, index);
  if (event == nullptr) return -1;
  const Count& latest = counters->latest[index];
  *count = loft_count{0, 0, kind_of(latest.origin)};
  if (!latest.is_available()) return 0;
  count->value = latest.value() * event->scale;
  count->running = latest.running_share();
  return 0;
}

const char* loft_counters_why(const loft_counters* counters, size_t index) {
  return index < counters->latest.size() ? counters->latest[index].why.c_str() : "";
}
