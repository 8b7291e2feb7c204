#include "source/perf_events/thread_rings.hpp"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

namespace loft::source::perf_events {
namespace {

constexpr std::size_t kPages = 16;
constexpr std::uint32_t kWakeBytes = kPages * 4096 / 4;

event::Event side_band_event() {
  event::Event event;
  event.name = "names of threads";
  event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY};
  event.modifiers.kernel = event.modifiers.hypervisor = false;  // needs no privilege
  return event;
}

// When a thread hands the CPU to one with the same events, the kernel swaps their whole contexts
// and the counts along with them, pairing events by their order. The order of the first thread's
// events is loft's, that of its children the kernel's: counts would end up in other events, and a
// thread that ends would not report its own. One event that is not inherited makes the contexts
// differ, so that they are never swapped.
Result<Fd> open_anchor(Place place) {
  const event::Event event = side_band_event();
  perf_event_attr attr = make_attr(event, {.disabled = false});
  return open_event(attr, event, place);
}

}  // namespace

Result<void> ThreadRings::attach(const TaskPlace& place, const OpenGroups& groups) {
  const event::Event event = side_band_event();
  if (!anchor_.is_open()) {
    LOFT_TRY(anchor_, open_anchor({place.place.pid, -1}));
  }
  perf_event_attr attr =
      make_attr(event, {.group_read = false, .inherit = true, .disabled = false});
  attr.comm = attr.task = 1;
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.watermark = 1;
  attr.wakeup_watermark = kWakeBytes;
  LOFT_TRY(Fd side_band, open_event(attr, event, place.place));
  LOFT_TRY(RingBuffer ring, RingBuffer::map(side_band, kPages));
  for (const Group& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i)
      if (::ioctl(group.member(i).get(), PERF_EVENT_IOC_SET_OUTPUT, side_band.get()) != 0)
        return failure_of_errno(errno, "send the counts of threads to a ring");
  rings_.push_back({std::move(side_band), std::move(ring)});
  return {};
}

void ThreadRings::drain() {
  for (PerCpu& cpu : rings_)
    cpu.ring.drain([this](std::span<const std::byte> record) { table_.take(record); });
}

std::vector<int> ThreadRings::fds() const {
  std::vector<int> fds;
  for (const PerCpu& cpu : rings_) fds.push_back(cpu.side_band.get());
  return fds;
}

bool reports_counts_of_threads() {
  bool reported = false;
  const auto try_thread = [&reported] {
    // A ring belongs to a CPU: the thread that ends has to be there.
    const int cpu = ::sched_getcpu();
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    if (::sched_setaffinity(0, sizeof here, &here) != 0) return;
    event::Event event = side_band_event();
    perf_event_attr attr = make_attr(
        event, {.group_read = false, .inherit = true, .inherit_stat = true, .disabled = false});
    const auto fd = open_event(attr, event, {0, cpu});
    if (!fd) return;
    const auto anchor = open_anchor({0, -1});
    if (!anchor) return;
    auto ring = RingBuffer::map(*fd, 1);
    if (!ring) return;
    std::atomic<pid_t> tid = 0;
    std::thread([&tid] { tid = ::gettid(); }).join();
    // Joined is not yet ended: its counts come with its very end.
    while (::syscall(SYS_tgkill, ::getpid(), tid.load(), 0) == 0) ::sched_yield();
    ring->drain([&reported](std::span<const std::byte> record) {
      perf_event_header header;
      std::memcpy(&header, record.data(), sizeof header);
      reported = reported || header.type == PERF_RECORD_READ;
    });
  };
  std::thread(try_thread).join();  // the caller stays where it may run
  return reported;
}

Result<std::uint64_t> event_id(const Fd& fd) {
  std::uint64_t id = 0;
  if (::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0)
    return failure_of_errno(errno, "ask for the number of an event");
  return id;
}

}  // namespace loft::source::perf_events
