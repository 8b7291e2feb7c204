#ifdef LOFT_HAS_ENGINE

#include "source/calls/counters.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "source/calls/tracee.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::calls {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};  // -1: no CPU, no group

// One group that is on the hardware whenever the thread runs, or not at all: nothing is estimated.
perf_event_attr attr_of(const event::Event& event, bool leads) {
  perf_event_attr attr = perf_events::make_attr(event, {.group_read = false, .disabled = false});
  attr.pinned = leads ? 1 : 0;
  attr.read_format = 0;
  return attr;
}

}  // namespace

Result<void> PerfCounters::check() const {
  Fd leader;
  for (const event::Event& event : events_) {
    perf_event_attr attr = attr_of(event, !leader.is_open());
    LOFT_TRY(Fd fd, perf_events::open_event(attr, event, {}, leader));
    if (!leader.is_open()) leader = std::move(fd);
  }
  return {};
}

Result<std::vector<std::uint64_t>> PerfCounters::open(const Tracee& thread,
                                                      std::uint64_t instruction, pid_t pid) const {
  LOFT_TRY(const user_regs_struct registers, thread.registers());
  LOFT_TRY(const Memory memory, Memory::open(pid));
  // Below the red zone of a thread that stands still nobody has anything.
  const std::uint64_t attr_at = (registers.rsp - 1024) & ~std::uint64_t{15};
  std::vector<std::uint64_t> files;
  std::vector<std::uint64_t> pages;
  Result<void> done;
  for (const event::Event& event : events_) {
    const perf_event_attr attr = attr_of(event, files.empty());
    LOFT_CHECK(memory.write(attr_at, std::as_bytes(std::span(&attr, 1))));
    const auto file = thread.system_call(
        instruction, SYS_perf_event_open,
        {attr_at, 0, kNone, files.empty() ? kNone : files.front(), PERF_FLAG_FD_CLOEXEC, 0});
    if (!file) {
      done = Failure(file.error());
      break;
    }
    files.push_back(*file);
    const auto page = thread.system_call(instruction, SYS_mmap,
                                         {0, kCounterPage, PROT_READ, MAP_SHARED, *file, 0});
    if (!page) {
      done = Failure(page.error());
      break;
    }
    pages.push_back(*page);
  }
  // The pages keep the counters.
  for (const std::uint64_t file : files)
    LOFT_CHECK(thread.system_call(instruction, SYS_close, {file, 0, 0, 0, 0, 0}));
  if (done) return pages;
  for (const std::uint64_t page : pages)
    LOFT_CHECK(thread.system_call(instruction, SYS_munmap, {page, kCounterPage, 0, 0, 0, 0}));
  return Failure(done.error());
}

}  // namespace loft::source::calls

#else

#include "source/calls/counters.hpp"

namespace loft::source::calls {

Result<void> PerfCounters::check() const {
  return failure(ErrorKind::unsupported, "count events of calls natively",
                 "this way knows the code of x86-64 alone");
}

Result<std::vector<std::uint64_t>> PerfCounters::open(const Tracee&, std::uint64_t, pid_t) const {
  return Failure(check().error());
}

}  // namespace loft::source::calls

#endif
