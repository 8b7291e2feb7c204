// The virtual PMU's counters: a counter unit (upc/unit.hpp) with one counter for each event.
//
//   LOFT_TRY(auto unit, EventUnit::create(events.size()));
//   LOFT_CHECK(unit->set_threshold(3, 1'000'000, [](const upc::Reached&) { ... }));
//   LOFT_CHECK(unit->start());
//   LOFT_CHECK(unit->take(totals));          // whenever somebody looks at the engine's counters
//   LOFT_TRY(const auto counts, unit->read());
//
// The engine counts blocks, in each thread on its own. Here is where these sums meet: the unit gets
// what is new of each event, compares with the thresholds, and is what everybody reads. So a block
// still costs one addition, and the unit costs as much for a second as for an hour.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "upc/front_end.hpp"

namespace loft::source::virtual_pmu {

class EventUnit {
 public:
  [[nodiscard]] static Result<std::unique_ptr<EventUnit>> create(std::size_t events);
  EventUnit(const EventUnit&) = delete;
  EventUnit& operator=(const EventUnit&) = delete;

  // While stopped. The handler is called by take(), once, when the event has come to `count`.
  [[nodiscard]] Result<void> set_threshold(std::size_t event, std::uint64_t count,
                                           upc::FrontEnd::Handler handler);
  [[nodiscard]] Result<void> start();
  // What is taken from now on is not counted.
  [[nodiscard]] Result<void> stop();

  // The totals of the first events, or of all, as the engine has them now. Counters are read while
  // they change, and what a signal interrupts is taken back for a moment: what seems to sink is
  // left until later.
  [[nodiscard]] Result<void> take(std::span<const std::uint64_t> totals);
  // What they are in the end, whatever was taken before.
  [[nodiscard]] Result<void> finish(std::span<const std::uint64_t> totals);

  [[nodiscard]] Result<std::vector<std::uint64_t>> read();

 private:
  explicit EventUnit(const upc::Geometry& sizes);
  [[nodiscard]] Result<void> initialise(std::size_t events);
  [[nodiscard]] Result<void> add_new(std::span<const std::uint64_t> totals);
  [[nodiscard]] Result<void> count_again(std::span<const std::uint64_t> totals);

  std::mutex mutex_;  // a monitoring thread may read while another one counts
  upc::Unit unit_;
  std::vector<std::uint64_t> lines_;  // all low: events come as sums
  upc::DirectBus bus_;
  std::optional<upc::FrontEnd> front_end_;
  std::vector<std::uint64_t> taken_;
};

}  // namespace loft::source::virtual_pmu
