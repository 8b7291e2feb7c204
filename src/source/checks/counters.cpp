#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include <array>

#include "base/text.hpp"
#include "event/resolver.hpp"
#include "source/checks/checks.hpp"
#include "source/checks/trial.hpp"
#include "source/perf_events/ring_buffer.hpp"

namespace loft::source::checks {
namespace {

using perf_events::RawReading;
using Status = Check::Status;

// Several events of one kind; those that fail are named.
struct Tally {
  std::vector<std::string> working;
  std::vector<std::string> failing;
  std::string why;
  std::string fix;

  void add(const event::Event& event, const std::function<void()>& action) {
    const auto reading = count_during(event, action);
    if (reading && reading->value > 0) {
      working.push_back(event.name);
      return;
    }
    failing.push_back(event.name);
    if (!why.empty()) return;
    why = reading ? event.name + " opens but stays 0" : reading.error().why;
    if (!reading) fix = reading.error().hint;
  }

  [[nodiscard]] Check verdict(std::string id, std::string title) const {
    if (failing.empty())
      return {std::move(id), std::move(title), Status::ok, join(working, ", ") + " count", ""};
    if (working.empty()) return {std::move(id), std::move(title), Status::missing, why, fix};
    return {std::move(id), std::move(title), Status::limited,
            join(working, ", ") + " count; not " + join(failing, ", ") + ": " + why, fix};
  }
};

// What this machine calls the PMU of its cores.
std::string core_pmu() {
  event::PmuTable pmus{SystemRoot()};
  return pmus.core_names().empty() ? "cpu" : pmus.core_names().front();
}

Check hardware_counters() {
  Tally tally;
  const std::string pmu = core_pmu();
  static constexpr std::array<std::pair<const char*, std::uint64_t>, 6> kEvents{
      {{"cycles", PERF_COUNT_HW_CPU_CYCLES},
       {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
       {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
       {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
       {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
       {"cache-misses", PERF_COUNT_HW_CACHE_MISSES}}};
  for (const auto& [name, config] : kEvents)
    tally.add(numbered(name, pmu, PERF_TYPE_HARDWARE, config), [] {
      keep_busy();
      touch_new_pages();
    });
  return tally.verdict("hardware-counters", "hardware counters");
}

// The largest group of the same event that still gets its counters together.
Check counters_at_once() {
  constexpr std::size_t kMost = 32;
  const std::string pmu = core_pmu();
  std::size_t together = 0;
  for (std::size_t size = 1; size <= kMost; ++size) {
    perf_events::Group trial;
    bool opened = true;
    for (std::size_t i = 0; i < size && opened; ++i) {
      event::Event event =
          numbered("instructions", pmu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
      event.modifiers.kernel = event.modifiers.hypervisor = false;
      opened = trial.add(event, {0, -1}, {}).has_value();
    }
    if (!opened || !trial.enable()) break;
    keep_busy();
    const auto readings = trial.read();
    if (!readings || readings->front().running.count() == 0) break;
    together = size;
  }
  if (together == 0)
    return {"counters-at-once", "counters at once", Status::missing, "there are none", ""};
  return {"counters-at-once", "counters at once", Status::ok,
          fmt::format("{} events of the core count at the same time; more take turns", together),
          ""};
}

Check software_events() {
  Tally tally;
  tally.add(numbered("task-clock", "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
            keep_busy);
  tally.add(numbered("page-faults", "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
            touch_new_pages);
  tally.add(
      numbered("context-switches", "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES),
      sleep_a_moment);
  return tally.verdict("software-events", "software events");
}

Check kernel_mode() {
  event::Event event =
      numbered("task-clock:k", "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  perf_events::Group group;
  const auto added = group.add(event, {0, -1}, {});
  if (added) return {"kernel-mode", "counting in the kernel", Status::ok, "allowed", ""};
  return {"kernel-mode", "counting in the kernel", Status::missing, added.error().why,
          added.error().hint};
}

Check whole_machine() {
  const auto reading =
      count_during(numbered("cpu-clock", "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
                   keep_busy, {-1, 0});
  const std::string title = "counting all tasks of a CPU";
  if (!reading)
    return {"whole-machine", title, Status::missing, reading.error().why, reading.error().hint};
  if (reading->value == 0)
    return {"whole-machine", title, Status::missing, "cpu-clock opens on cpu 0 but stays 0", ""};
  return {"whole-machine", title, Status::ok, "cpu-clock counts on cpu 0", ""};
}

Check tracepoints(const SystemRoot& root) {
  event::Resolver resolver(root);
  const auto event = resolver.resolve("sched:sched_switch");
  const std::string title = "tracepoints";
  if (!event) return {"tracepoints", title, Status::missing, event.error().why, event.error().hint};
  const auto reading = count_during(*event, sleep_a_moment);
  if (!reading)
    return {"tracepoints", title, Status::missing, reading.error().why, reading.error().hint};
  if (reading->value == 0)
    return {"tracepoints", title, Status::missing, "sched:sched_switch opens but stays 0", ""};
  return {"tracepoints", title, Status::ok, "sched:sched_switch counts", ""};
}

Result<std::size_t> samples_of_busy_time() {
  event::Event event =
      numbered("cpu-clock", "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  event.modifiers.kernel = event.modifiers.hypervisor = false;
  perf_event_attr attr = perf_events::make_attr(event, {.group_read = false, .disabled = false});
  attr.sample_period = 100'000;  // every 0.1 ms of run time
  attr.sample_type = PERF_SAMPLE_IP;
  LOFT_TRY(const Fd fd, perf_events::open_event(attr, event, {0, -1}));
  LOFT_TRY(auto ring, perf_events::RingBuffer::map(fd, 8));
  keep_busy();
  std::size_t records = 0;
  ring.drain([&records](std::span<const std::byte>) { ++records; });
  return records;
}

Check sampling() {
  const auto records = samples_of_busy_time();
  if (!records)
    return {"sampling", "sampling", Status::missing, records.error().why, records.error().hint};
  if (*records == 0)
    return {"sampling", "sampling", Status::missing, "cpu-clock opens but gives no sample", ""};
  return {"sampling", "sampling", Status::ok,
          fmt::format("{} samples of cpu-clock in 2 ms", *records), ""};
}

Check breakpoints() {
  volatile std::uint64_t watched = 0;
  event::Event event = numbered("breakpoint", "breakpoint", PERF_TYPE_BREAKPOINT, 0);
  event.modifiers.kernel = event.modifiers.hypervisor = false;
  event.encoding.config1 = reinterpret_cast<std::uintptr_t>(&watched);
  event.encoding.config2 = HW_BREAKPOINT_LEN_8;
  perf_event_attr attr = perf_events::make_attr(event, {.group_read = false, .disabled = false});
  attr.bp_type = HW_BREAKPOINT_W;
  const auto fd = perf_events::open_event(attr, event, {0, -1});
  if (!fd) return {"breakpoints", "breakpoints", Status::missing, fd.error().why, ""};
  for (std::uint64_t i = 0; i < 3; ++i) watched = i;
  std::array<std::uint64_t, 4> words{};
  const bool counted = ::read(fd->get(), words.data(), sizeof words) > 0 && words[0] == 3;
  if (!counted)
    return {"breakpoints", "breakpoints", Status::missing, "three writes were not seen as three",
            ""};
  return {"breakpoints", "breakpoints", Status::ok, "writes to a variable are counted", ""};
}

}  // namespace

std::vector<Check> counters(const SystemRoot& root) {
  std::vector<Check> checks{hardware_counters()};
  if (checks.front().status != Status::missing) checks.push_back(counters_at_once());
  for (Check check : {software_events(), kernel_mode(), whole_machine(), tracepoints(root),
                      sampling(), breakpoints()})
    checks.push_back(std::move(check));
  return checks;
}

}  // namespace loft::source::checks
