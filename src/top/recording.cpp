#include "top/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "event/recorder_names.hpp"
#include "event/recording_schema.hpp"

namespace loft::top {
namespace {

namespace schema = event::recording;
using source::scheduler::EventSets;
using source::scheduler::SetTime;
using source::scheduler::Slice;
using source::scheduler::TaskId;

// Process 0 is the kernel's idle task: cores are numbered from 1.
TaskId task_of(int cpu) {
  const auto number = static_cast<std::uint32_t>(cpu) + 1;
  return {number, number};
}

std::uint64_t nanoseconds(Nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

// The events that some core counts: first those that need no counter, then each in a set of its
// own, since each may have had its counter for another share of the time.
EventSets sets_of(const Frame& frame) {
  std::vector<event::Event> always;
  std::vector<event::Event> others;
  for (const CoreSample& core : frame.cores) {
    if (!core.set) continue;
    for (std::size_t i = 0; i < core.set->request.events.size(); ++i) {
      event::Event event = core.set->request.events[i];
      event.name = core.set->frame.events[i].name;
      event.modifiers = core.set->frame.events[i].id.modifiers;
      auto& list = source::scheduler::needs_counter(event) ? others : always;
      const bool is_known = std::ranges::find(list, event.name, &event::Event::name) != list.end();
      // The run time of slices has this name.
      if (core.set->why_missing[i].empty() && !is_known && event.name != schema::kRunTime)
        list.push_back(std::move(event));
    }
  }
  EventSets sets;
  sets.sets.front().size = always.size();
  sets.events = std::move(always);
  for (event::Event& event : others) sets.add_set({std::move(event)}, false);
  return sets;
}

std::vector<std::string> meters_of(const Frame& frame) {
  std::vector<std::string> names;
  for (const EnergySample& energy : frame.energy)
    names.push_back(fmt::format(
        "{}{}{}", schema::kMeterPrefix,
        energy.origin == sample::Origin::modelled ? schema::kFromWattsPrefix : std::string_view(),
        energy.domain));
  return names;
}

}  // namespace

Result<void> CoreRecording::create(const Frame& frame) {
  if (std::ranges::none_of(frame.cores,
                           [](const CoreSample& core) { return core.busy.has_value(); }))
    return failure(ErrorKind::unsupported, "record the cores",
                   "the kernel does not say how long they are busy (/proc/stat)");
  source::scheduler::RecordingPlan plan;
  plan.basics = 1;
  plan.counters = sets_of(frame);
  plan.meters = meters_of(frame);
  plan.slice_ns =
      frame.cores.empty() ? 0 : nanoseconds(frame.cores.front().end - frame.cores.front().start);
  for (const CoreSample& core : frame.cores)
    plan.cpus = std::max(plan.cpus, static_cast<std::uint32_t>(core.cpu) + 1);
  always_ = plan.counters.sets.front().size;
  for (const event::Event& event : plan.counters.events) events_.push_back(event.name);
  remainders_.resize(plan.meters.size());
  first_ = frame.origin;
  LOFT_TRY(file_, source::scheduler::RecordingFile::create(path_, std::move(plan)));
  for (const CoreSample& core : frame.cores)
    file_->take(
        source::scheduler::Name{{nanoseconds(frame.origin), static_cast<std::uint32_t>(core.cpu)},
                                task_of(core.cpu),
                                fmt::format("CPU {}", core.cpu)});
  return {};
}

void CoreRecording::add_core(const CoreSample& core, Nanoseconds origin) {
  if (!core.is_read()) return;
  has_ticks_ |= core.busy_origin != sample::Origin::counted;
  std::vector<std::uint64_t> counts(events_.size());
  std::vector<SetTime> sets(1 + events_.size() - always_);
  for (std::size_t i = 0; i < core.counts.size(); ++i) {
    const auto found = std::ranges::find(events_, core.set->frame.events[i].name);
    if (found == events_.end() || !core.counts[i].is_available()) continue;
    const auto at = static_cast<std::size_t>(found - events_.begin());
    counts[at] = core.counts[i].raw;
    if (at >= always_)
      sets[1 + at - always_] = {nanoseconds(core.counts[i].enabled),
                                nanoseconds(core.counts[i].running), 0};
  }
  Slice slice;
  slice.end = {nanoseconds(origin + core.end), static_cast<std::uint32_t>(core.cpu)};
  slice.task = task_of(core.cpu);
  slice.run_ns = static_cast<std::uint64_t>(core.busy.value_or(0) * core.seconds() * 1e9);
  slice.counts = counts;
  slice.sets = sets;
  file_->take(slice);
}

void CoreRecording::add_energy(const Frame& frame) {
  const source::scheduler::Moment at{nanoseconds(frame.origin + frame.time), 0};
  for (std::size_t i = 0; i < frame.energy.size() && i < remainders_.size(); ++i) {
    remainders_[i] += frame.energy[i].joules.value_or(0) * 1e6;
    const double whole = std::floor(remainders_[i]);
    if (whole < 1) continue;
    file_->take_energy(i, at, static_cast<std::uint64_t>(whole));
    remainders_[i] -= whole;
  }
}

Result<void> CoreRecording::add(const Frame& frame) {
  const bool has_some = std::ranges::any_of(frame.cores, &CoreSample::is_read);
  if (!file_ && !has_some) return {};  // nobody has read yet, on a busy machine
  if (!file_) LOFT_CHECK(create(frame));
  for (const CoreSample& core : frame.cores) add_core(core, frame.origin);
  add_energy(frame);
  last_ = frame.origin + frame.time;
  return file_->end_round();
}

Result<void> CoreRecording::finish() {
  if (!file_) return {};
  source::scheduler::RecordingFacts facts;
  facts.version = version_;
  facts.command_line = command_line_;
  facts.loft = {
      {schema::fact::kRecorder, std::string(has_ticks_ ? schema::kTopByTicks : schema::kTop)},
      {schema::fact::kSeen, std::to_string(file_->taken())},
      {schema::fact::kWritten, std::to_string(file_->taken())},
      {schema::fact::kLost, "0"},
      {schema::fact::kWallNs, std::to_string(nanoseconds(last_ - first_))}};
  return file_->finish(facts);
}

}  // namespace loft::top
