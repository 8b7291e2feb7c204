#include "source/scheduler/stack_sampler.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"
#include "source/perf_events/thread_rings.hpp"
#include "source/scheduler/side_band.hpp"

namespace loft::source::scheduler {
namespace {

constexpr std::uint32_t kStackBytes = 8192;
constexpr std::uint32_t kWakeAt = 128 * 1024;
constexpr std::size_t kPages = 256;

// The registers that an unwinder of this architecture starts from, as perf_regs.h numbers them.
#if defined(__x86_64__)
constexpr std::uint64_t kUserRegisters = 0xFF0FFF;  // all but the segments
#elif defined(__aarch64__)
constexpr std::uint64_t kUserRegisters = (std::uint64_t{1} << 33) - 1;
#else
constexpr std::uint64_t kUserRegisters = 0;
#endif

event::Event in_user_mode(event::Event event) {
  if (!event.name.ends_with(":u")) event.name += ":u";
  event.modifiers.kernel = event.modifiers.hypervisor = false;
  return event;
}

// What stands for the time that a thread runs, the best first.
std::vector<event::Event> clocks() {
  event::Event cycles;
  cycles.name = "cycles";
  cycles.encoding = {"cpu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
  event::Event clock;
  clock.name = "cpu-clock";
  clock.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK};
  return {cycles, in_user_mode(cycles), clock, in_user_mode(clock)};
}

perf_event_attr attr_of(const event::Event& event, const SamplerPlan& plan) {
  perf_event_attr attr = perf_events::make_attr(event, {.group_read = false,
                                                        .inherit = true,
                                                        .enable_on_exec = plan.from_exec,
                                                        .disabled = plan.from_exec});
  attr.read_format = 0;
  if (plan.period > 0) {
    attr.sample_period = plan.period;
  } else {
    attr.freq = 1;
    attr.sample_freq = plan.frequency_hz;
  }
  attr.sample_type = PERF_SAMPLE_IP;
  // The kernel samples a software event each time that it happens where the period is to be in the
  // sample. A fixed one need not be.
  if (plan.period == 0) attr.sample_type |= PERF_SAMPLE_PERIOD;
  if (plan.stacks != StackMode::none) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (plan.stacks == StackMode::dwarf) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = kUserRegisters;
    attr.sample_stack_user = kStackBytes;
    attr.exclude_callchain_user = 1;
  }
  // Hardware does not count while a CPU idles; a clock does.
  attr.exclude_idle = plan.tasks.front() < 0 && event.encoding.type == PERF_TYPE_SOFTWARE;
  attr.watermark = 1;
  attr.wakeup_watermark = kWakeAt;
  if (plan.ring_bytes > 0)
    attr.wakeup_watermark = static_cast<std::uint32_t>(
        std::min<std::size_t>(kWakeAt, std::max<std::size_t>(plan.ring_bytes, 32768) / 4));
  set_record_tail(attr);
  return attr;
}

}  // namespace

Result<StackSampler> StackSampler::open(const SamplerPlan& plan) {
  if (plan.stacks == StackMode::dwarf && kUserRegisters == 0)
    return failure(ErrorKind::unsupported, "copy stacks for unwinding",
                   "the registers of this architecture are not known", "use -g fp");
  StackSampler sampler;
  LOFT_TRY(const CpuList cpus, online_cpus());
  if (plan.events.empty()) LOFT_CHECK(sampler.choose(plan, clocks(), cpus.front()));
  for (const event::Event& event : plan.events)
    LOFT_CHECK(sampler.choose(plan, {event, in_user_mode(event)}, cpus.front()));
  const std::size_t pages = plan.ring_bytes > 0 ? perf_events::ring_pages(plan.ring_bytes) : kPages;
  for (const pid_t tid : plan.tasks)
    for (const int cpu : cpus) LOFT_CHECK(sampler.open_post({tid, cpu}, pages));
  return sampler;
}

// The first candidate that this machine and this user can sample.
Result<void> StackSampler::choose(const SamplerPlan& plan,
                                  const std::vector<event::Event>& candidates, int cpu) {
  std::optional<Error> refused;
  for (const event::Event& event : candidates) {
    perf_event_attr attr = attr_of(event, plan);
    const int raw = perf_events::open_raw(attr, {plan.tasks.front(), cpu}, -1);
    const Fd tried(std::max(-1, raw));
    if (!tried.is_open()) {
      if (!refused)
        refused = perf_events::explain_open_failure(-raw, event, {plan.tasks.front(), -1}, false);
      continue;
    }
    lacks_kernel_ = lacks_kernel_ || !event.modifiers.kernel;
    events_.push_back({event.name, attr, {}});
    chosen_.push_back(event);
    return {};
  }
  return Failure(*refused);
}

Result<void> StackSampler::open_post(perf_events::Place place, std::size_t pages) {
  std::vector<Fd> fds;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    LOFT_TRY(Fd fd, perf_events::open_event(events_[i].attr, chosen_[i], place));
    LOFT_TRY(const auto id, perf_events::event_id(fd));
    events_[i].ids.push_back(id);
    fds.push_back(std::move(fd));
  }
  LOFT_TRY(auto ring, perf_events::RingBuffer::map_most(fds.front(), pages));
  for (const Fd& fd : fds)
    if (fd.get() != fds.front().get() &&
        ::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, fds.front().get()) != 0)
      return failure_of_errno(errno, "send the samples of an event to a ring");
  posts_.push_back({std::move(fds), std::move(ring)});
  return {};
}

void StackSampler::drain(TaskEvents& events) {
  for (Post& post : posts_)
    post.ring.drain([&](std::span<const std::byte> record) { events.take_raw(record); });
}

std::vector<int> StackSampler::wake_fds() const {
  std::vector<int> fds;
  for (const Post& post : posts_) fds.push_back(post.fds.front().get());
  return fds;
}

}  // namespace loft::source::scheduler
