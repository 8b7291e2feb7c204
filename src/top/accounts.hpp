// How busy each CPU is, by the kernel's own accounts: /proc/schedstat where the kernel keeps it
// (nanoseconds, and how long tasks waited), else /proc/stat (ticks, usually of 10 ms).
//
//   CpuAccounts accounts{SystemRoot()};
//   accounts.read(now());
//   accounts.busy(3)       // share of the time since the reading before
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/places.hpp"

namespace loft::top {

// Since the machine started.
struct CpuAccount {
  Nanoseconds busy{};
  std::optional<Nanoseconds> waited;  // of all tasks that waited for this CPU, in sum
};
using AccountsByCpu = std::map<int, CpuAccount>;

// Lines that are not understood are left out.
[[nodiscard]] AccountsByCpu parse_schedstat(std::string_view text);
[[nodiscard]] AccountsByCpu parse_stat(std::string_view text, Nanoseconds tick);

class CpuAccounts {
 public:
  explicit CpuAccounts(SystemRoot root);

  void read(Nanoseconds at);

  // Ticks are too coarse for short samples: from /proc/stat these are over the last second.
  [[nodiscard]] std::optional<double> busy(int cpu) const;
  // Whether that is the time itself, and not a number of ticks.
  [[nodiscard]] bool is_exact() const { return has_schedstat_; }
  // Tasks that waited, on average. Nothing where the kernel does not tell.
  [[nodiscard]] std::optional<double> waiting(int cpu) const;

 private:
  struct Reading {
    Nanoseconds at{};
    AccountsByCpu cpus;
  };
  // Of one CPU, from the first reading to the last.
  struct Change {
    CpuAccount before;
    CpuAccount after;
    Nanoseconds time{};
  };
  [[nodiscard]] std::optional<Change> change_of(int cpu) const;

  SystemRoot root_;
  bool has_schedstat_ = false;
  std::deque<Reading> readings_;  // the oldest is where the window begins
};

}  // namespace loft::top
