#include "source/perf_events/user_read.hpp"

#include <unistd.h>

#include <atomic>

namespace loft::source::perf_events {
namespace {

#if defined(__x86_64__)

constexpr bool kCanRead = true;

std::uint64_t read_hardware(std::uint32_t counter) {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
  return (std::uint64_t{high} << 32) | low;
}

#elif defined(__aarch64__)

constexpr bool kCanRead = true;
constexpr std::uint32_t kCycleCounter = 31;

// The number of the register is part of the instruction, so that each needs its own.
#define LOFT_READ_EVENT_COUNTER(n)                            \
  case n:                                                     \
    asm volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
    break

std::uint64_t read_hardware(std::uint32_t counter) {
  std::uint64_t value = 0;
  switch (counter) {
    LOFT_READ_EVENT_COUNTER(0);
    LOFT_READ_EVENT_COUNTER(1);
    LOFT_READ_EVENT_COUNTER(2);
    LOFT_READ_EVENT_COUNTER(3);
    LOFT_READ_EVENT_COUNTER(4);
    LOFT_READ_EVENT_COUNTER(5);
    LOFT_READ_EVENT_COUNTER(6);
    LOFT_READ_EVENT_COUNTER(7);
    case kCycleCounter:
      asm volatile("mrs %0, pmccntr_el0" : "=r"(value));
      break;
    default:
      break;
  }
  return value;
}
#undef LOFT_READ_EVENT_COUNTER

#else

constexpr bool kCanRead = false;
std::uint64_t read_hardware(std::uint32_t) { return 0; }

#endif

// Whether read_hardware knows this counter.
bool is_readable(std::uint32_t counter) {
#if defined(__aarch64__)
  return counter < 8 || counter == kCycleCounter;
#else
  return counter < 64 || (counter >> 30) == 1;  // fixed counters have bit 30 set
#endif
}

}  // namespace

UserReader UserReader::map(const Fd& fd) {
  UserReader reader;
  if (!kCanRead) return reader;
  auto page =
      Mapping::shared(fd, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), Mapping::Access::read);
  if (page) reader.page_ = *std::move(page);
  return reader;
}

void UserReader::request([[maybe_unused]] perf_event_attr& attr) {
#if defined(__aarch64__)
  constexpr std::uint64_t kUserAccess = 2;
  if (attr.type != PERF_TYPE_SOFTWARE) attr.config1 |= kUserAccess;
#endif
}

std::optional<RawReading> UserReader::read() const {
  if (!page_.is_mapped()) return std::nullopt;
  const auto* page = reinterpret_cast<const volatile perf_event_mmap_page*>(page_.bytes().data());
  RawReading reading;
  std::uint32_t sequence = 0;
  do {
    sequence = page->lock;
    std::atomic_signal_fence(std::memory_order_acq_rel);
    if (!page->cap_user_rdpmc) return std::nullopt;
    const std::uint32_t index = page->index;  // 0: not on a counter
    if (index == 0 || !is_readable(index - 1)) return std::nullopt;
    reading.enabled = nanoseconds(page->time_enabled);
    reading.running = nanoseconds(page->time_running);
    const int unused = 64 - page->pmc_width;
    // The hardware has fewer bits than 64; what it holds is signed.
    auto value = static_cast<std::int64_t>(read_hardware(index - 1) << unused) >> unused;
    value += page->offset;
    reading.value = static_cast<std::uint64_t>(value);
    std::atomic_signal_fence(std::memory_order_acq_rel);
  } while (page->lock != sequence);
  return reading;
}

}  // namespace loft::source::perf_events
