#ifdef LOFT_HAS_ENGINE
#include "source/virtual/threshold_keeper.hpp"

#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

using namespace std::chrono_literals;
using sample::ThresholdAction;

}  // namespace

ThresholdKeeper::ThresholdKeeper(engine::Shared& shared, EventUnit& unit,
                                 std::vector<engine::EventIndex> events,
                                 std::vector<Watched> watched, Reached reached)
    : shared_(shared),
      unit_(unit),
      events_(std::move(events)),
      watched_(std::move(watched)),
      reached_(std::move(reached)),
      tally_(shared),
      states_(watched_.size()) {}

Result<void> ThresholdKeeper::start() {
  std::vector<engine::EventRule> rules;
  for (const Watched& watched : watched_) rules.push_back(engine::event_table()[watched.event]);
  LOFT_TRY(thresholds_, engine::Thresholds::open(shared_, rules));
  for (std::size_t i = 0; i < watched_.size(); ++i)
    LOFT_CHECK(unit_.set_threshold(watched_[i].counter, watched_[i].threshold.count,
                                   [this, i](const auto&) { states_[i].is_reached = true; }));
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  return {};
}

ThresholdKeeper::~ThresholdKeeper() {
  thread_ = {};
  if (thresholds_) thresholds_->close();
}

std::optional<Error> ThresholdKeeper::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ThresholdKeeper::work(const std::stop_token& stop) {
  std::uint32_t known = 0;
  while (!stop.stop_requested()) {
    known = thresholds_->await(known, 20ms);
    for (std::uint32_t slot = 0; slot < thresholds_->slots(); ++slot)
      if (thresholds_->waits(slot)) answer(slot);
  }
}

void ThresholdKeeper::answer(std::uint32_t slot) {
  int signal = 0;
  if (!has_stopped_ && thresholds_->is_in_region(slot)) {
    if (const auto wanted = serve(slot)) {
      signal = *wanted;
    } else {
      const std::lock_guard lock(mutex_);
      failure_ = wanted.error();
      has_stopped_ = true;
    }
  }
  if (has_stopped_ || !thresholds_->is_in_region(slot))
    for (std::uint32_t i = 0; i < watched_.size(); ++i)
      thresholds_->grant(slot, i, engine::kFarthest);
  thresholds_->let_go(slot, signal);
}

// Until the thread may go on. What others may still count is read before the sums: what is counted
// in between is then in both, and never in neither. Gives the signal that the thread gets.
Result<int> ThresholdKeeper::serve(std::uint32_t slot) {
  int signal = 0;
  for (bool may_go = false; !may_go && !has_stopped_;) {
    std::vector<std::uint64_t> held;
    for (std::size_t i = 0; i < watched_.size(); ++i) held.push_back(reserved(i));
    LOFT_TRY(const auto now, counts());
    LOFT_CHECK(unit_.take(now));
    LOFT_TRY(const int wanted, act(slot));
    if (wanted != 0) signal = wanted;
    may_go = has_stopped_ || share(slot, held, now);
  }
  return signal;
}

Result<std::vector<std::uint64_t>> ThresholdKeeper::counts() {
  LOFT_TRY(const auto all, tally_.of_all());
  std::vector<std::uint64_t> counts;
  for (const engine::EventIndex event : events_) counts.push_back(all[event]);
  return counts;
}

Result<void> ThresholdKeeper::stop_counting() {
  LOFT_CHECK(shared_.freeze());
  LOFT_TRY(const auto last, counts());
  LOFT_CHECK(unit_.finish(last));
  LOFT_CHECK(unit_.stop());
  has_stopped_ = true;
  return {};
}

// What is to happen at the thresholds that were reached just now; the signal that is to be sent.
Result<int> ThresholdKeeper::act(std::uint32_t slot) {
  for (std::size_t i = 0; i < watched_.size(); ++i)
    if (is_due(i) && watched_[i].threshold.action == ThresholdAction::stop && !has_stopped_)
      LOFT_CHECK(stop_counting());
  int signal = 0;
  std::vector<std::uint64_t> shown;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (!is_due(i)) continue;
    states_[i].is_done = true;
    if (shown.empty()) {
      LOFT_TRY(shown, unit_.read());
    }
    if (watched_[i].threshold.action == ThresholdAction::signal)
      signal = watched_[i].threshold.signal;
    reached_(i, slot, shown);
  }
  return signal;
}

std::uint64_t ThresholdKeeper::reserved(std::size_t watched) {
  std::uint64_t sum = 0;
  for (std::uint32_t slot = 0; slot < thresholds_->slots(); ++slot)
    if (thresholds_->is_in_region(slot))
      sum += thresholds_->left(slot, static_cast<std::uint32_t>(watched));
  return sum;
}

// False when others had to give back: the sums must be read again.
bool ThresholdKeeper::share(std::uint32_t slot, const std::vector<std::uint64_t>& reserved,
                            const std::vector<std::uint64_t>& counts) {
  constexpr std::uint64_t kWorthwhile = 8;  // a part of what is left that is worth going on with
  for (std::uint32_t i = 0; i < watched_.size(); ++i) {
    if (thresholds_->left(slot, i) != 0) continue;
    if (states_[i].is_done) {
      thresholds_->grant(slot, i, engine::kFarthest);
      continue;
    }
    const std::uint64_t left = watched_[i].threshold.count - counts[watched_[i].counter];
    const std::uint64_t free = left > reserved[i] ? left - reserved[i] : 0;
    if (reserved[i] != 0 && free <= left / kWorthwhile) {
      thresholds_->take_back(i);
      return false;
    }
    thresholds_->grant(slot, i, part_of(i, free));
  }
  return true;
}

// Threads that have nothing are expected to ask next.
std::uint64_t ThresholdKeeper::part_of(std::size_t watched, std::uint64_t free) {
  constexpr std::uint64_t kMostParts = 8;
  std::uint64_t parts = 0;
  for (std::uint32_t slot = 0; slot < thresholds_->slots() && parts < kMostParts; ++slot)
    if (!thresholds_->has_ended(slot) && thresholds_->is_in_region(slot) &&
        thresholds_->left(slot, static_cast<std::uint32_t>(watched)) == 0)
      ++parts;
  return std::max<std::uint64_t>(1, free / std::max<std::uint64_t>(1, parts));
}

}  // namespace loft::source::virtual_pmu
#endif
