#include "source/checks/trial.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "source/perf_events/layout.hpp"

namespace loft::source::checks {

event::Event numbered(std::string name, std::string pmu, std::uint32_t type, std::uint64_t config) {
  event::Event event;
  event.name = std::move(name);
  event.encoding = {std::move(pmu), type, config};
  return event;
}

Result<perf_events::RawReading> count_during(event::Event event,
                                             const std::function<void()>& action,
                                             perf_events::Place place) {
  perf_events::Group group;
  LOFT_CHECK(perf_events::add_permitted(group, event, place, {}));
  LOFT_CHECK(group.enable());
  action();
  LOFT_TRY(const auto readings, group.read());
  return readings.front();
}

void keep_busy() {
  volatile std::uint64_t sum = 1;
  const Nanoseconds end = now() + std::chrono::milliseconds(2);
  while (now() < end)
    for (int i = 0; i < 1000; ++i) sum = sum * 3 + static_cast<std::uint64_t>(i);
}

void touch_new_pages() {
  constexpr std::size_t kSize = 16 * 4096;
  void* pages = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  for (std::size_t at = 0; at < kSize; at += 4096) static_cast<volatile char*>(pages)[at] = 1;
  ::munmap(pages, kSize);
}

void sleep_a_moment() { ::usleep(500); }

}  // namespace loft::source::checks
