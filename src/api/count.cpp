#include "loft/count.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/metrics.hpp"
#include "api/own_thread.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "event/resolver.hpp"
#include "metric/run_counts.hpp"

// Whom to call when an event comes to a multiple of a number.
struct loft_threshold {
  loft_counters* counters;
  size_t index;
  loft_on_threshold callback;
  void* data;
};

struct loft_counters {
  loft::api::OwnThread counters;
  loft::metric::Request request;  // the caller sees the events that it named, and the metrics
  std::vector<loft::sample::Count> latest;
  std::vector<loft::metric::Value> values;  // of the metrics
  loft::Nanoseconds counted{};              // time between starts and stops so far
  std::optional<loft::Nanoseconds> started;
  std::map<size_t, loft_threshold> thresholds;
};

namespace {

using loft::Result;
using loft::sample::Count;
using loft::sample::Origin;

Result<loft_counters*> open_counters(const char* names, std::optional<std::uint32_t> thread = {}) {
  loft::event::Resolver resolver(loft::api::known_names());
  LOFT_TRY(auto request, loft::metric::read_request({names}, resolver, loft::api::known_metrics));
  if (request.events.empty()) {  // metrics of which nothing can be counted still have a time
    LOFT_TRY(auto clock, resolver.resolve("task-clock"));
    request.events.push_back(std::move(clock));
  }
  LOFT_TRY(auto counters, loft::api::OwnThread::open(request.events, thread));
  std::vector<Count> none(counters.events().size(), Count::missing("not read yet"));
  std::vector<loft::metric::Value> values(request.programs.size());
  for (auto& value : values) value.why = "not read yet";
  return new loft_counters{std::move(counters),
                           std::move(request),
                           std::move(none),
                           std::move(values),
                           loft::Nanoseconds{},
                           {},
                           {}};
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
  return index < counters->request.named ? &counters->counters.events()[index] : nullptr;
}

const loft::metric::Program* metric_at(const loft_counters* counters, size_t index) {
  const auto& programs = counters->request.programs;
  if (index < counters->request.named || index - counters->request.named >= programs.size())
    return nullptr;
  return &programs[index - counters->request.named];
}

void evaluate(loft_counters& counters) {
  if (counters.request.programs.empty()) return;
  loft::sample::IntervalCounts whole;
  whole.end = counters.counted;
  if (counters.started) whole.end += loft::now() - *counters.started;
  whole.counts = counters.latest;
  loft::sample::RunCounts frame;
  for (const auto& event : counters.counters.events())
    frame.events.push_back(loft::sample::CountedEvent::of(event));
  counters.values = loft::metric::evaluate_interval(counters.request, frame, whole);
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

const char* loft_metrics_file(size_t index) { return loft::api::loaded_file(index); }

int loft_metrics_define(const char* name, double value) {
  return loft::api::define_constant(name == nullptr ? "" : name, value) ? 0 : -1;
}

namespace {

loft_counters* open_or_tell(const char* events, std::optional<std::uint32_t> thread, char* error,
                            size_t error_size) {
  if (events == nullptr) {
    tell("cannot count: no event was named", error, error_size);
    return nullptr;
  }
  auto opened = open_counters(events, thread);
  if (opened) return *opened;
  tell(loft::to_string(opened.error()), error, error_size);
  return nullptr;
}

}  // namespace

loft_counters* loft_counters_open(const char* events, char* error, size_t error_size) {
  return open_or_tell(events, std::nullopt, error, error_size);
}

loft_counters* loft_counters_open_of(const char* events, long thread, char* error,
                                     size_t error_size) {
  if (thread < 0 || thread > std::numeric_limits<int>::max()) {
    tell("cannot count: this is no number of a thread", error, error_size);
    return nullptr;
  }
  return open_or_tell(events, static_cast<std::uint32_t>(thread), error, error_size);
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

int loft_counters_reset(loft_counters* counters) {
  if (!counters->counters.reset()) return -1;
  counters->counted = loft::Nanoseconds{};
  if (counters->started) counters->started = loft::now();
  return 0;
}

int loft_counters_threshold(loft_counters* counters, size_t index, unsigned long long every,
                            loft_on_threshold callback, void* data) {
  if (event_at(counters, index) == nullptr || (every != 0 && callback == nullptr)) return -1;
  const auto call = [](void* known, std::size_t, std::uint64_t count, void* address) {
    const auto& threshold = *static_cast<const loft_threshold*>(known);
    threshold.callback(threshold.counters, threshold.index, count, address, threshold.data);
  };
  // No callback comes while it changes.
  if (!counters->counters.set_threshold(index, 0, nullptr, nullptr)) return -1;
  loft_threshold& threshold = counters->thresholds[index];
  threshold = {counters, index, callback, data};
  return counters->counters.set_threshold(index, every, call, &threshold) ? 0 : -1;
}

int loft_counters_values(loft_counters* counters, unsigned long long* values, size_t count) {
  static_assert(sizeof *values == sizeof(std::uint64_t));
  return counters->counters.read_plain({reinterpret_cast<std::uint64_t*>(values), count}) ? 0 : -1;
}

int loft_counters_update(loft_counters* counters) {
  auto counts = counters->counters.read();
  if (!counts) return -1;
  counters->latest = *std::move(counts);
  evaluate(*counters);
  return 0;
}

size_t loft_counters_size(const loft_counters* counters) {
  return counters->request.named + counters->request.programs.size();
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
  const loft::metric::Value& value = counters->values[index - counters->request.named];
  *count = loft_count{0, 0, kind_of(value.kind)};
  if (!value.number) return 0;
  count->value = metric->in_unit(value.number->as_double());
  count->running = least_running(*counters);
  return 0;
}

const char* loft_counters_why(const loft_counters* counters, size_t index) {
  if (event_at(counters, index) != nullptr) return counters->latest[index].why.c_str();
  if (metric_at(counters, index) == nullptr) return "";
  return counters->values[index - counters->request.named].why.c_str();
}
