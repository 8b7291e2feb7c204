#ifdef LOFT_HAS_ENGINE
#include "source/virtual/run_thresholds.hpp"

#include <fmt/format.h>

#include "base/units.hpp"

namespace loft::source::virtual_pmu {
namespace {

using sample::ThresholdAction;

Failure refuse(const CountRequest& request, const Threshold& threshold, std::string why,
               std::string hint) {
  return failure(ErrorKind::invalid_input,
                 fmt::format("set a threshold of {} on {}", with_separators(threshold.count),
                             request.events[threshold.event].name),
                 std::move(why), std::move(hint));
}

engine::EventIndex index_of(const CountRequest& request, const Threshold& threshold) {
  return static_cast<engine::EventIndex>(request.events[threshold.event].encoding.config);
}

Result<void> check_one(const CountRequest& request, const Threshold& threshold) {
  const event::Event& event = request.events[threshold.event];
  if (!event.encoding.is_virtual())
    return refuse(request, threshold, "the virtual PMU does not count it",
                  "'loft list virtual' shows the events that it has");
  if (event.encoding.config >= engine::event_table().size())
    return refuse(request, threshold, "a model computes it, after the instructions have run",
                  "choose an event that is counted");
  const engine::Measure measure = engine::event_table()[index_of(request, threshold)].measure;
  if (measure == engine::Measure::taken || measure == engine::Measure::not_taken)
    return refuse(request, threshold, "which way a branch goes is known behind its block alone",
                  "set it on the branches, whichever way they go: branches, branches_conditional");
  if (threshold.count == 0)
    return refuse(request, threshold, "every count begins there", "give a count from 1 on");
  return {};
}

}  // namespace

Result<void> check_thresholds(const CountRequest& request) {
  if (request.thresholds.size() > engine::kMaxThresholds)
    return failure(ErrorKind::limit, fmt::format("set {} thresholds", request.thresholds.size()),
                   fmt::format("a run has at most {}", engine::kMaxThresholds), "leave some out");
  for (const Threshold& threshold : request.thresholds) {
    LOFT_CHECK(check_one(request, threshold));
    if (threshold.action == ThresholdAction::stop && request.model != nullptr)
      return refuse(request, threshold, "a model needs the whole run, and cannot be stopped",
                    "leave out the modelled events, or use snapshot");
  }
  return {};
}

RunThresholds::RunThresholds(const CountRequest& request, engine::Shared& shared, EventUnit& unit,
                             const std::vector<engine::EventIndex>& events)
    : request_(request), shared_(shared), events_(events.size()) {
  if (request.thresholds.empty()) return;
  std::vector<engine::EventIndex> counted = events;
  std::vector<ThresholdKeeper::Watched> watched;
  for (const Threshold& threshold : request.thresholds) {
    watched.push_back({counted.size(), index_of(request, threshold), threshold});
    counted.push_back(watched.back().event);
    Outcome outcome;
    outcome.what.event = threshold.event;
    outcome.what.count = threshold.count;
    outcome.what.action = threshold.action;
    outcomes_.push_back(std::move(outcome));
  }
  keeper_.emplace(shared, unit, std::move(counted), std::move(watched),
                  [this](std::size_t number, std::uint32_t slot, const auto& counts) {
                    note_reached(number, slot, counts);
                  });
}

Result<void> RunThresholds::start(std::function<Nanoseconds()> now) {
  now_ = std::move(now);
  return keeper_ ? keeper_->start() : Result<void>();
}

void RunThresholds::note_reached(std::size_t number, std::uint32_t slot,
                                 const std::vector<std::uint64_t>& counts) {
  const engine::SlotEntry thread = shared_.slot(slot);
  sample::ThresholdOutcome reached;
  {
    const std::lock_guard lock(mutex_);
    Outcome& outcome = outcomes_[number];
    outcome.what.is_reached = true;
    outcome.what.value = counts[events_ + number];
    outcome.what.time = now_();
    outcome.what.pid = static_cast<pid_t>(thread.process);
    outcome.what.tid = static_cast<pid_t>(thread.thread);
    outcome.what.comm = thread.name;
    if (outcome.what.action == ThresholdAction::snapshot)
      outcome.counts.assign(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(events_));
    reached = outcome.what;
  }
  if (request_.on_threshold) request_.on_threshold(reached);
}

std::vector<RunThresholds::Outcome> RunThresholds::outcomes() const {
  const std::lock_guard lock(mutex_);
  return outcomes_;
}

std::vector<std::string> RunThresholds::notes() const {
  std::vector<std::string> notes;
  if (!keeper_) return notes;
  if (const auto failed = keeper_->failure())
    notes.push_back("thresholds were not watched to the end: " + failed->why);
  for (const Outcome& outcome : outcomes())
    if (outcome.what.is_reached && outcome.what.action == ThresholdAction::stop)
      notes.push_back(fmt::format(
          "counting stopped when {} came to {}: counts are those until then",
          request_.events[outcome.what.event].name, with_separators(outcome.what.count)));
  return notes;
}

}  // namespace loft::source::virtual_pmu
#endif
