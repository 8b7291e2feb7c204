#include "loft/count.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "api/metrics.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "event/plan.hpp"
#include "event/resolver.hpp"
#include "metric/run_counts.hpp"
#include "source/perf_events/own_thread.hpp"

struct loft_counters {
  loft::source::perf_events::OwnThreadCounters counters;
  loft::metric::Asked asked;
  std::size_t named = 0;  // events that the caller sees; the others are operands of metrics
  std::vector<loft::sample::Count> latest;
  std::vector<loft::metric::Value> values;  // of the metrics
  loft::Nanoseconds counted{};              // time between starts and stops so far
  std::optional<loft::Nanoseconds> started;
};

namespace {

using loft::Result;
using loft::sample::Count;
using loft::sample::Origin;

// A list that names only events needs no metric file to be read.
Result<loft::metric::Asked> asked_by(const char* names, loft::event::Resolver& resolver) {
  loft::metric::Asked asked;
  asked.named = {names};
  if (resolver.resolve_list(names)) return asked;
  LOFT_TRY(const auto library, loft::api::known_metrics());
  LOFT_TRY(asked, loft::metric::ask({names}, library, resolver));
  if (asked.events().empty()) asked.needed = {"task-clock"};
  return asked;
}

Result<loft_counters*> open_counters(const char* names) {
  loft::event::Resolver resolver;
  LOFT_TRY(auto asked, asked_by(names, resolver));
  std::size_t named = 0;
  if (!asked.named.empty()) {
    LOFT_TRY(const auto own, resolver.resolve_list(loft::join(asked.named, ",")));
    named = own.size();
  }
  LOFT_TRY(const auto events, resolver.resolve_list(asked.events()));
  LOFT_TRY(const auto plan, loft::event::plan_groups(events, {}));
  std::vector<loft::source::EventGroup> groups;
  for (const auto& group : plan.groups)
    groups.push_back({group.members, events[group.members.front()].group != 0});
  LOFT_TRY(auto counters, loft::source::perf_events::OwnThreadCounters::open(events, groups));
  std::vector<Count> none(counters.events().size(), Count::missing("not read yet"));
  std::vector<loft::metric::Value> values(asked.programs.size());
  for (auto& value : values) value.why = "not read yet";
  return new loft_counters{std::move(counters), std::move(asked),    named, std::move(none),
                           std::move(values),   loft::Nanoseconds{}, {}};
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

// What an index stands for: an event, or a metric behind them.
const loft::event::Event* event_at(const loft_counters* counters, size_t index) {
  return index < counters->named ? &counters->counters.events()[index] : nullptr;
}

const loft::metric::Program* metric_at(const loft_counters* counters, size_t index) {
  const auto& programs = counters->asked.programs;
  if (index < counters->named || index - counters->named >= programs.size()) return nullptr;
  return &programs[index - counters->named];
}

void evaluate(loft_counters& counters) {
  if (counters.asked.programs.empty()) return;
  loft::sample::IntervalCounts whole;
  whole.end = counters.counted;
  if (counters.started) whole.end += loft::now() - *counters.started;
  whole.counts = counters.latest;
  loft::sample::RunCounts frame;
  for (const auto& event : counters.counters.events())
    frame.events.push_back({event.name, event.origin, event.unit, event.scale});
  counters.values = loft::metric::evaluate_interval(counters.asked, frame, whole);
}

// The least share of time in which anything counted that this handle counts.
double least_running(const loft_counters& counters) {
  double least = 1;
  for (const Count& count : counters.latest)
    if (count.is_available()) least = std::min(least, count.running_share());
  return least;
}

}  // namespace

int loft_metrics_load(const char* path, char* error, size_t error_size) {
  const auto loaded = loft::api::load_metrics(path == nullptr ? "" : path);
  if (loaded) return 0;
  tell(loft::to_string(loaded.error()), error, error_size);
  return -1;
}

int loft_metrics_define(const char* name, double value) {
  return loft::api::define_constant(name == nullptr ? "" : name, value) ? 0 : -1;
}

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

int loft_counters_start(loft_counters* counters) {
  if (!counters->counters.start()) return -1;
  if (!counters->started) counters->started = loft::now();
  return 0;
}

int loft_counters_stop(loft_counters* counters) {
  if (!counters->counters.stop()) return -1;
  if (counters->started) counters->counted += loft::now() - *counters->started;
  counters->started.reset();
  return loft_counters_update(counters);
}

int loft_counters_update(loft_counters* counters) {
  auto counts = counters->counters.read();
  if (!counts) return -1;
  counters->latest = *std::move(counts);
  evaluate(*counters);
  return 0;
}

size_t loft_counters_size(const loft_counters* counters) {
  return counters->named + counters->asked.programs.size();
}

const char* loft_counters_name(const loft_counters* counters, size_t index) {
  if (const auto* event = event_at(counters, index)) return event->name.c_str();
  const auto* metric = metric_at(counters, index);
  return metric == nullptr ? nullptr : metric->name().c_str();
}

const char* loft_counters_unit(const loft_counters* counters, size_t index) {
  if (const auto* event = event_at(counters, index)) return event->unit.c_str();
  const auto* metric = metric_at(counters, index);
  return metric == nullptr ? nullptr : metric->unit().text.c_str();
}

int loft_counters_read(const loft_counters* counters, size_t index, loft_count* count) {
  if (const auto* event = event_at(counters, index)) {
    const Count& latest = counters->latest[index];
    *count = loft_count{0, 0, kind_of(latest.origin)};
    if (!latest.is_available()) return 0;
    count->value = latest.value() * event->scale;
    count->running = latest.running_share();
    return 0;
  }
  const auto* metric = metric_at(counters, index);
  if (metric == nullptr) return -1;
  const loft::metric::Value& value = counters->values[index - counters->named];
  *count = loft_count{0, 0, kind_of(value.kind)};
  if (!value.number) return 0;
  count->value = metric->in_unit(value.number->as_double());
  count->running = least_running(*counters);
  return 0;
}

const char* loft_counters_why(const loft_counters* counters, size_t index) {
  if (event_at(counters, index) != nullptr) return counters->latest[index].why.c_str();
  if (metric_at(counters, index) == nullptr) return "";
  return counters->values[index - counters->named].why.c_str();
}
