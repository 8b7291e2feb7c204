// Events that share counters at the same time, at one place: opened, switched and read together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "event/event.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::perf_events {

// One counter as the kernel reports it.
struct RawReading {
  std::uint64_t value = 0;
  Nanoseconds enabled{0};
  Nanoseconds running{0};
};

class Group {
 public:
  // Adds `event` to the group at `place`; the first one leads. On failure the group is unchanged.
  [[nodiscard]] Result<void> add(const event::Event& event, Place place, AttrOptions options);

  [[nodiscard]] bool is_empty() const { return members_.empty(); }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] const Fd& leader() const { return members_.front(); }
  [[nodiscard]] const Fd& member(std::size_t i) const { return members_[i]; }

  [[nodiscard]] Result<void> enable() const;
  [[nodiscard]] Result<void> disable() const;

  // One reading per member, in the order in which they were added.
  [[nodiscard]] Result<std::vector<RawReading>> read() const;

  // Reads into `readings`, one for each member, without an allocation; false where that fails.
  // For groups that are read at once.
  [[nodiscard]] bool read_into(std::span<RawReading> readings) const noexcept;

 private:
  [[nodiscard]] Result<std::vector<RawReading>> read_at_once() const;
  [[nodiscard]] Result<std::vector<RawReading>> read_one_by_one() const;

  std::vector<Fd> members_;
  bool group_read_ = true;
};

}  // namespace loft::source::perf_events
