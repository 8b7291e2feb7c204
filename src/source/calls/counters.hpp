// Hardware counters that each thread of a watched program reads itself, beside the clock, without a
// system call: the kernel's page of a counter says how. A thread opens its own, since the kernel
// lets a program read counters that are mapped in its own memory alone.
//
//   PerfCounters counters(events);
//   LOFT_TRY(const auto pages, counters.open(thread, syscall_instruction, pid));
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::source::calls {

class Tracee;

class Counters {
 public:
  virtual ~Counters() = default;
  // Their names, and what one count is.
  [[nodiscard]] virtual const std::vector<event::Event>& events() const = 0;
  // Whether this machine has them, and this user may read them.
  [[nodiscard]] virtual Result<void> check() const = 0;
  // `thread` stands still. The addresses of their pages in its memory.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> open(const Tracee& thread,
                                                                std::uint64_t instruction,
                                                                pid_t pid) const = 0;
};

class PerfCounters final : public Counters {
 public:
  explicit PerfCounters(std::vector<event::Event> events) : events_(std::move(events)) {}
  [[nodiscard]] const std::vector<event::Event>& events() const override { return events_; }
  [[nodiscard]] Result<void> check() const override;
  [[nodiscard]] Result<std::vector<std::uint64_t>> open(const Tracee& thread,
                                                        std::uint64_t instruction,
                                                        pid_t pid) const override;

 private:
  std::vector<event::Event> events_;
};

inline constexpr std::uint64_t kCounterPage = 4096;  // bytes that each is mapped with

}  // namespace loft::source::calls
