// Who woke whom: of tasks that had blocked, by whom they were made ready to run.
//
//   file.add_section(kWakeupsSection, wakeup_section(before));
//   LOFT_TRY(const auto wakeups, read_wakeup_section(bytes, path));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace loft::sample {

struct WokenTask {
  std::uint32_t pid = 0;  // 0: not known
  std::uint32_t tid = 0;
  std::string name;  // empty: not known

  bool operator==(const WokenTask&) const = default;
};

// All wakeups of one task by another, or by interrupts: timers and devices.
struct Wakeups {
  WokenTask waker;
  bool by_interrupt = false;
  bool is_sure = true;  // else it may have been an interrupt, in the time of this waker
  WokenTask woken;
  std::uint64_t times = 0;
  std::uint64_t blocked_ns = 0;  // of the woken task, until it had a CPU again

  bool operator==(const Wakeups&) const = default;
};

// Those with most blocked time first.
void sort_wakeups(std::vector<Wakeups>& wakeups);

[[nodiscard]] std::vector<std::byte> wakeup_section(std::span<const Wakeups> wakeups);
[[nodiscard]] Result<std::vector<Wakeups>> read_wakeup_section(std::span<const std::byte> bytes,
                                                               const std::string& path);

}  // namespace loft::sample
