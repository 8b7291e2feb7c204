#include "source/perf_events/sampler.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "source/perf_events/attr.hpp"
#include "source/perf_events/combine.hpp"
#include "source/perf_events/thread_rings.hpp"

namespace loft::source::perf_events {
namespace {

constexpr std::uint32_t kStackBytes = 8192;
constexpr std::size_t kWakeAt = 128 * 1024;
constexpr std::size_t kLeastRing = 32 * 1024;
constexpr std::size_t kUsualRing = 1024 * 1024;

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

std::size_t ring_bytes(const SamplerPlan& plan) {
  return plan.ring_bytes > 0 ? std::max(plan.ring_bytes, kLeastRing) : kUsualRing;
}

void set_stacks(perf_event_attr& attr, StackMode stacks) {
  if (stacks == StackMode::none) return;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_kernel = stacks == StackMode::user_frame_pointers;
  if (stacks != StackMode::dwarf) return;
  attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = kUserRegisters;
  attr.sample_stack_user = kStackBytes;
  attr.exclude_callchain_user = 1;
}

perf_event_attr attr_of(const event::Event& event, const SampledEvent& sampled,
                        const SamplerPlan& plan) {
  perf_event_attr attr = make_attr(
      event,
      {.group_read = false, .inherit = true, .enable_on_exec = plan.from_exec, .disabled = true});
  if (!plan.with_counts) attr.read_format = 0;
  attr.sample_type = PERF_SAMPLE_IP;
  if (sampled.period > 0) {
    // The kernel samples a software event each time that it happens where the period is to be in
    // the sample. A fixed one need not be.
    attr.sample_period = sampled.period;
    if (sampled.has_period_field) attr.sample_type |= PERF_SAMPLE_PERIOD;
  } else {
    attr.freq = 1;
    attr.sample_freq = sampled.frequency_hz;
    attr.sample_type |= PERF_SAMPLE_PERIOD;
  }
  if (plan.with_tasks && &sampled == &plan.events.front())
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
  const bool is_machine = plan.tasks.front() < 0;
  attr.context_switch = attr.task != 0 && !is_machine;
  set_stacks(attr, plan.stacks);
  // Hardware does not count while a CPU idles; a clock does.
  attr.exclude_idle = is_machine && event.encoding.type == PERF_TYPE_SOFTWARE;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<std::uint32_t>(std::min(kWakeAt, ring_bytes(plan) / 4));
  set_record_tail(attr);
  return attr;
}

Failure has_ended() {
  return failure(ErrorKind::not_found, "sample a running process", "it has ended",
                 "'pgrep -a NAME' finds others");
}

}  // namespace

std::vector<event::Event> clocks() {
  event::Event cycles;
  cycles.name = "cycles";
  cycles.encoding = {"cpu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
  event::Event clock;
  clock.name = "cpu-clock";
  clock.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK};
  return {cycles, clock};
}

Result<Sampler> Sampler::open(const SamplerPlan& plan) {
  if (plan.stacks == StackMode::dwarf && kUserRegisters == 0)
    return failure(ErrorKind::unsupported, "copy stacks for unwinding",
                   "the registers of this architecture are not known", "use -g fp");
  Sampler sampler;
  sampler.from_exec_ = plan.from_exec;
  LOFT_TRY(const CpuList cpus, online_cpus());
  for (const SampledEvent& sampled : plan.events)
    LOFT_CHECK(sampler.choose(plan, sampled, cpus.front()));
  const std::size_t pages = ring_pages(ring_bytes(plan));
  for (const int cpu : cpus) {
    LOFT_TRY(auto opened, sampler.open_cpu(plan, cpu, pages));
    sampler.cpus_.push_back(std::move(opened));
  }
  return sampler;
}

// The first candidate that this machine and this user can sample, on a task that still runs.
Result<void> Sampler::choose(const SamplerPlan& plan, const SampledEvent& sampled, int cpu) {
  std::optional<Error> refused;
  for (const event::Event& candidate : sampled.candidates)
    for (const event::Event& event : {candidate, in_user_mode(candidate)}) {
      if (sampled.needs_kernel && !event.modifiers.kernel) continue;
      perf_event_attr attr = attr_of(event, sampled, plan);
      int raw = -ESRCH;
      for (std::size_t i = 0; i < plan.tasks.size() && raw == -ESRCH; ++i)
        raw = open_raw(attr, {plan.tasks[i], cpu}, -1);
      if (raw == -ESRCH) return has_ended();
      const Fd tried(std::max(-1, raw));
      if (!tried.is_open()) {
        if (!refused) refused = explain_open_failure(-raw, event, {plan.tasks.front(), -1}, false);
        continue;
      }
      lacks_kernel_ = lacks_kernel_ || !event.modifiers.kernel;
      events_.push_back({event.name, attr, {}});
      chosen_.push_back(event);
      return {};
    }
  return Failure(*refused);
}

// Without descriptors when the task has ended since it was listed, and that may be.
Result<Sampler::Post> Sampler::open_post(Place place, bool may_have_ended) {
  Post post{place.pid, {}};
  for (std::size_t i = 0; i < events_.size(); ++i) {
    auto fd = open_event(events_[i].attr, chosen_[i], place);
    if (!fd && fd.error().kind == ErrorKind::not_found && may_have_ended) return Post{};
    if (!fd) return Failure(std::move(fd).error());
    post.fds.push_back(*std::move(fd));
  }
  return post;
}

// A ring cannot follow a task from CPU to CPU when the task's children are to be followed as well.
Result<Sampler::PerCpu> Sampler::open_cpu(const SamplerPlan& plan, int cpu, std::size_t pages) {
  std::vector<Post> posts;
  for (const pid_t task : plan.tasks) {
    LOFT_TRY(Post post, open_post({task, cpu}, !plan.from_exec));
    if (!post.fds.empty()) posts.push_back(std::move(post));
  }
  if (posts.empty()) return has_ended();
  const Fd& owner = posts.front().fds.front();
  LOFT_TRY(RingBuffer ring, RingBuffer::map_most(owner, pages));
  for (const Post& post : posts)
    for (std::size_t i = 0; i < post.fds.size(); ++i) {
      const Fd& fd = post.fds[i];
      if (fd.get() != owner.get() && ::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, owner.get()) != 0)
        return failure_of_errno(errno, "send the samples of an event to a ring");
      LOFT_TRY(const auto id, event_id(fd));
      events_[i].ids.push_back(id);
    }
  return PerCpu{std::move(posts), std::move(ring)};
}

Result<void> Sampler::start() {
  if (from_exec_) return {};
  for (const PerCpu& cpu : cpus_)
    for (const Post& post : cpu.posts)
      for (const Fd& fd : post.fds)
        if (::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
          return failure_of_errno(errno, "begin to sample");
  return {};
}

std::vector<int> Sampler::wake_fds() const {
  std::vector<int> fds;
  for (const PerCpu& cpu : cpus_) fds.push_back(cpu.posts.front().fds.front().get());
  return fds;
}

Result<sample::Count> Sampler::count(std::size_t event) const {
  std::map<pid_t, std::vector<RawReading>> by_task;
  for (const PerCpu& cpu : cpus_)
    for (const Post& post : cpu.posts) {
      std::array<std::uint64_t, 4> values{};  // value, enabled, running, id
      if (::read(post.fds[event].get(), values.data(), sizeof values) != sizeof values)
        return failure_of_errno(errno, "read " + chosen_[event].name);
      by_task[post.task].push_back({values[0], Nanoseconds(values[1]), Nanoseconds(values[2])});
    }
  std::optional<sample::Count> sum;
  for (const auto& [task, readings] : by_task) {
    const sample::Count count = count_over_cpus(readings, chosen_[event]);
    if (sum)
      *sum += count;
    else
      sum = count;
  }
  return sum.value_or(sample::Count::missing("not opened"));
}

}  // namespace loft::source::perf_events
