#include "source/virtual/event_unit.hpp"

#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

// As many counters as events, each with one input; more counters need more low bits.
upc::Geometry sizes_for(std::size_t events) {
  upc::Geometry sizes;
  sizes.counters = static_cast<unsigned>(std::max<std::size_t>(1, events));
  sizes.inputs = 1;
  while (sizes.round() > sizes.carry_period()) ++sizes.low_bits;
  sizes.high_bits = 64 - sizes.low_bits;
  return sizes;
}

}  // namespace

EventUnit::EventUnit(const upc::Geometry& sizes)
    : unit_(sizes),
      lines_(sizes.input_words()),
      bus_(unit_, [this]() -> std::span<const std::uint64_t> { return lines_; }) {}

Result<std::unique_ptr<EventUnit>> EventUnit::create(std::size_t events) {
  const upc::Geometry sizes = sizes_for(std::min<std::size_t>(events, upc::kMostCounters + 1));
  LOFT_CHECK(upc::check(sizes));
  std::unique_ptr<EventUnit> unit(new EventUnit(sizes));
  LOFT_CHECK(unit->initialise(events));
  return unit;
}

Result<void> EventUnit::initialise(std::size_t events) {
  LOFT_TRY(front_end_, upc::FrontEnd::initialise(bus_));
  for (unsigned event = 0; event < events; ++event) {
    LOFT_TRY(const unsigned counter, front_end_->select(event, upc::Mode::high));
    static_cast<void>(counter);  // the same number: each has one input
  }
  taken_.resize(events);
  return {};
}

Result<void> EventUnit::set_threshold(std::size_t event, std::uint64_t count,
                                      upc::FrontEnd::Handler handler) {
  const std::lock_guard lock(mutex_);
  return front_end_->set_threshold(static_cast<unsigned>(event), count, std::move(handler));
}

Result<void> EventUnit::start() {
  const std::lock_guard lock(mutex_);
  return front_end_->start();
}

Result<void> EventUnit::stop() {
  const std::lock_guard lock(mutex_);
  return front_end_->stop();
}

Result<void> EventUnit::add_new(std::span<const std::uint64_t> totals) {
  for (std::size_t i = 0; i < taken_.size() && i < totals.size(); ++i) {
    const std::uint64_t fresh = totals[i] - taken_[i];
    if (static_cast<std::int64_t>(fresh) <= 0) continue;
    unit_.add(static_cast<unsigned>(i), fresh);
    if (unit_.running()) taken_[i] = totals[i];
  }
  LOFT_TRY(const auto error, front_end_->handle_interrupts());
  static_cast<void>(error);  // nobody upsets the memory of a model
  return {};
}

Result<void> EventUnit::take(std::span<const std::uint64_t> totals) {
  const std::lock_guard lock(mutex_);
  return add_new(totals);
}

Result<void> EventUnit::finish(std::span<const std::uint64_t> totals) {
  const std::lock_guard lock(mutex_);
  if (unit_.running()) LOFT_CHECK(add_new(totals));
  const auto known = std::span(taken_).first(std::min(taken_.size(), totals.size()));
  return std::ranges::equal(known, totals) ? Result<void>() : count_again(totals);
}

Result<void> EventUnit::count_again(std::span<const std::uint64_t> totals) {
  const bool was_running = unit_.running();
  LOFT_CHECK(front_end_->reset());
  std::ranges::fill(taken_, 0);
  LOFT_CHECK(front_end_->start());
  LOFT_CHECK(add_new(totals));
  return was_running ? Result<void>() : front_end_->stop();
}

Result<std::vector<std::uint64_t>> EventUnit::read() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> counts(taken_.size());
  for (unsigned i = 0; i < counts.size(); ++i) {
    LOFT_TRY(counts[i], front_end_->read(i));
  }
  return counts;
}

}  // namespace loft::source::virtual_pmu
