#include "source/scheduler/stack_sampler.hpp"

#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"
#include "source/perf_events/thread_rings.hpp"
#include "source/scheduler/side_band.hpp"

namespace loft::source::scheduler {
namespace {

constexpr std::uint32_t kStackBytes = 8192;
constexpr std::uint32_t kWakeAt = 128 * 1024;

// The registers that an unwinder of this architecture starts from, as perf_regs.h numbers them.
#if defined(__x86_64__)
constexpr std::uint64_t kUserRegisters = 0xFF0FFF;  // all but the segments
#elif defined(__aarch64__)
constexpr std::uint64_t kUserRegisters = (std::uint64_t{1} << 33) - 1;
#else
constexpr std::uint64_t kUserRegisters = 0;
#endif

event::Event candidate(bool is_hardware, bool user_only) {
  event::Event event;
  event.name = is_hardware ? "cycles" : "cpu-clock";
  event.encoding = is_hardware
                       ? event::Encoding{"cpu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}
                       : event::Encoding{"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK};
  if (user_only) {
    event.name += ":u";
    event.modifiers.kernel = event.modifiers.hypervisor = false;
  }
  return event;
}

perf_event_attr attr_of(const event::Event& event, const SamplerPlan& plan) {
  perf_event_attr attr = perf_events::make_attr(event, {.group_read = false,
                                                        .inherit = true,
                                                        .enable_on_exec = plan.from_exec,
                                                        .disabled = plan.from_exec});
  attr.read_format = 0;
  attr.freq = 1;
  attr.sample_freq = plan.frequency_hz;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
  if (plan.stacks != StackMode::none) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (plan.stacks == StackMode::dwarf) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = kUserRegisters;
    attr.sample_stack_user = kStackBytes;
    attr.exclude_callchain_user = 1;
  }
  attr.watermark = 1;
  attr.wakeup_watermark = kWakeAt;
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
  std::optional<Error> refused;
  for (const auto& [is_hardware, user_only] :
       {std::pair{true, false}, {true, true}, {false, false}, {false, true}}) {
    const event::Event event = candidate(is_hardware, user_only);
    perf_event_attr attr = attr_of(event, plan);
    const int raw = perf_events::open_raw(attr, {plan.tasks.front(), cpus.front()}, -1);
    if (raw < 0) {
      refused = perf_events::explain_open_failure(-raw, event, {plan.tasks.front(), -1}, false);
      continue;
    }
    const Fd tried(raw);
    sampler.event_ = {event.name, attr, {}};
    sampler.lacks_kernel_ = user_only;
    for (const pid_t tid : plan.tasks) {
      for (const int cpu : cpus) {
        LOFT_TRY(Fd fd, perf_events::open_event(attr, event, {tid, cpu}));
        LOFT_TRY(auto ring, perf_events::RingBuffer::map_most(fd, 256));
        LOFT_TRY(const auto id, perf_events::event_id(fd));
        sampler.event_.ids.push_back(id);
        sampler.posts_.push_back({std::move(fd), std::move(ring)});
      }
    }
    return sampler;
  }
  return Failure(*refused);
}

void StackSampler::drain(TaskEvents& events) {
  for (Post& post : posts_)
    post.ring.drain([&](std::span<const std::byte> record) { events.take_raw(record); });
}

std::vector<int> StackSampler::wake_fds() const {
  std::vector<int> fds;
  for (const Post& post : posts_) fds.push_back(post.fd.get());
  return fds;
}

}  // namespace loft::source::scheduler
