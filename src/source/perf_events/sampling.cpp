#include "source/perf_events/sampling.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "base/file.hpp"
#include "base/nameless_file.hpp"
#include "source/living_tasks.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/combine.hpp"
#include "source/perf_events/places.hpp"
#include "source/perf_events/thread_rings.hpp"

namespace loft::source::perf_events {
namespace {

constexpr std::size_t kPages = 128;  // half a MiB per CPU: unprivileged users may lock that much
constexpr std::uint32_t kWakeAt = kPages * 4096 / 4;

event::Event task_clock() {
  event::Event event;
  event.name = "task-clock";
  event.origin = "kernel";
  event.unit = "ns";
  event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
  return event;
}

perf_event_attr sampling_attr(const event::Event& event, const SamplingRequest& request) {
  perf_event_attr attr = make_attr(event, {.group_read = false,
                                           .inherit = true,
                                           .enable_on_exec = request.pids.empty(),
                                           .disabled = true});
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_kernel = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = kWakeAt;
  return attr;
}

perf_event_attr time_attr(const event::Event& event, const SamplingRequest& request) {
  perf_event_attr attr = sampling_attr(event, request);
  attr.sample_period = static_cast<std::uint64_t>(request.period.count());
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.context_switch = 1;
  return attr;
}

// As many samples a second as of time, whatever the event's own rate.
perf_event_attr event_attr(const event::Event& event, const SamplingRequest& request) {
  perf_event_attr attr = sampling_attr(event, request);
  attr.freq = 1;
  attr.sample_freq = static_cast<std::uint64_t>(std::chrono::seconds(1) / request.period);
  return attr;
}

}  // namespace

Result<SamplingRun::Output> SamplingRun::open_output(const std::string& path) {
  Output output;
  if (path.empty()) {
    LOFT_TRY(output.temporary, temporary_file());
  } else {
    LOFT_TRY(output.kept, FileReplacement::of(path, FileReplacement::kForOwnerOnly));
  }
  return output;
}

Result<std::unique_ptr<SamplingRun>> SamplingRun::prepare(const SamplingRequest& request) {
  LOFT_TRY(auto output, open_output(request.file));
  std::unique_ptr<SamplingRun> run(new SamplingRun(std::move(output)));
  if (!request.command.empty()) {
    LOFT_TRY(run->child_, ChildProcess::prepare(request.command, request.streams));
  }
  run->pids_ = request.pids;
  LOFT_CHECK(run->open(request));
  return run;
}

Result<void> SamplingRun::open(const SamplingRequest& request) {
  events_ = {task_clock()};
  attrs_ = {time_attr(events_.front(), request)};
  for (const event::Event& event : request.events) {
    events_.push_back(event);
    attrs_.push_back(event_attr(event, request));
  }
  auto opened = open_on_all_cpus();
  if (!opened && opened.error().kind == ErrorKind::permission) {
    cpus_.clear();
    for (perf_event_attr& attr : attrs_) attr.exclude_kernel = attr.exclude_hv = 1;
    for (event::Event& event : events_) event.modifiers.kernel = event.modifiers.hypervisor = false;
    lacks_kernel_ = true;
    opened = open_on_all_cpus();
  }
  if (!opened) return opened;
  LOFT_CHECK(start_file());
  for (const pid_t pid : pids_) LOFT_CHECK(describe(pid));
  return {};
}

// A ring cannot follow a task from CPU to CPU when the task's children are to be followed as well.
Result<void> SamplingRun::open_on_all_cpus() {
  CountRequest request;
  request.pids = pids_;
  LOFT_TRY(const auto places, places_of(request, child_ ? child_->pid() : -1));
  std::vector<pid_t> tasks;
  for (const TaskPlace& task : places) tasks.push_back(task.place.pid);
  LOFT_TRY(const CpuList cpus, cpus_of(request));
  for (const int cpu : cpus) {
    LOFT_TRY(auto opened, open_on(cpu, tasks));
    cpus_.push_back(std::move(opened));
  }
  return {};
}

Result<SamplingRun::PerCpu> SamplingRun::open_on(int cpu, const std::vector<pid_t>& tasks) {
  std::vector<Post> posts;
  for (const pid_t task : tasks) {
    Post post{task, {}};
    for (std::size_t i = 0; i < events_.size(); ++i) {
      auto fd = open_event(attrs_[i], events_[i], {task, cpu});
      // A thread that ended since it was listed has nothing left to tell.
      if (!fd && fd.error().kind == ErrorKind::not_found && is_attached()) break;
      if (!fd) return Failure(std::move(fd).error());
      post.events.push_back(*std::move(fd));
    }
    if (post.events.size() == events_.size()) posts.push_back(std::move(post));
  }
  if (posts.empty())
    return failure(ErrorKind::not_found, "sample a running process", "it has ended",
                   "'pgrep -a NAME' finds others");
  const int owner = posts.front().events.front().get();
  LOFT_TRY(RingBuffer ring, RingBuffer::map(posts.front().events.front(), kPages));
  for (const Post& post : posts)
    for (const Fd& event : post.events)
      if (event.get() != owner && ::ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, owner) != 0)
        return failure_of_errno(errno, "send the samples of an event to a ring");
  return PerCpu{std::move(posts), std::move(ring)};
}

Result<void> SamplingRun::start_file() {
  std::vector<format::perf::WrittenEvent> written;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const auto bytes = std::as_bytes(std::span(&attrs_[i], 1));
    written.push_back({{bytes.begin(), bytes.end()}, {}, events_[i].name});
    for (const PerCpu& cpu : cpus_)
      for (const Post& post : cpu.posts) {
        LOFT_TRY(const auto id, event_id(post.events[i]));
        written.back().ids.push_back(id);
      }
  }
  const auto write = [this](std::uint64_t offset, Bytes bytes) {
    return write_all_at(output_.fd(), offset, bytes, "the recording");
  };
  writer_ = std::make_unique<format::perf::RecordingWriter>(write, std::move(written));
  return writer_->start();
}

// What the kernel told nobody, since nobody had asked: names and mappings from before.
Result<void> SamplingRun::describe(pid_t pid) {
  LOFT_TRY(const auto threads, threads_of(pid));
  LOFT_TRY(const auto id, event_id(cpus_.front().posts.front().events.front()));
  const auto append = [&](format::perf::RecordType type, pid_t tid,
                          format::ByteBuilder& body) -> Result<void> {
    // Who, when, on which CPU, by which event: as the kernel ends its own records.
    body.u32(static_cast<std::uint32_t>(pid)).u32(static_cast<std::uint32_t>(tid));
    body.u64(0).u32(0).u32(0).u64(id);
    LOFT_TRY(const auto record,
             format::perf::make_record(type, PERF_RECORD_MISC_USER, body.view()));
    return writer_->append(record);
  };
  for (const LivingTask& thread : threads) {
    format::ByteBuilder body;
    body.u32(static_cast<std::uint32_t>(pid)).u32(static_cast<std::uint32_t>(thread.tid));
    body.text_padded(thread.name, 8);
    LOFT_CHECK(append(format::perf::RecordType::comm, thread.tid, body));
  }
  for (const MappedCode& code : code_of(pid)) {
    format::ByteBuilder body;
    body.u32(static_cast<std::uint32_t>(pid)).u32(static_cast<std::uint32_t>(pid));
    body.u64(code.start).u64(code.size).u64(code.offset).text_padded(code.path, 8);
    LOFT_CHECK(append(format::perf::RecordType::mmap, pid, body));
  }
  return {};
}

Result<void> SamplingRun::start() {
  start_time_ = now();
  if (is_attached())
    for (const PerCpu& cpu : cpus_)
      for (const Post& post : cpu.posts)
        for (const Fd& event : post.events)
          if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
            return failure_of_errno(errno, "begin to sample");
  return child_ ? child_->start() : Result<void>();
}

std::vector<std::string> SamplingRun::notes() const {
  if (!lacks_kernel_) return {};
  std::vector<std::string> notes{
      "time in the kernel is not told apart by function: this user may not sample it"};
  if (events_.size() > 1) notes.emplace_back("events are those of user mode alone");
  return notes;
}

std::vector<int> SamplingRun::wake_fds() const {
  std::vector<int> fds;
  for (const PerCpu& cpu : cpus_) fds.push_back(cpu.posts.front().events.front().get());
  return fds;
}

void SamplingRun::drain() {
  const auto keep = [this](Result<void> result) {
    if (!result && !failed_) failed_ = std::move(result).error();
  };
  for (PerCpu& cpu : cpus_)
    cpu.ring.drain([this](std::span<const std::byte> record) {
      drained_.insert(drained_.end(), record.begin(), record.end());
    });
  keep(writer_->append(drained_));
  keep(writer_->finish_round());
  drained_.clear();
}

Result<sample::Count> SamplingRun::total_of(std::size_t event) const {
  std::map<pid_t, std::vector<RawReading>> by_task;
  for (const PerCpu& cpu : cpus_)
    for (const Post& post : cpu.posts) {
      std::array<std::uint64_t, 4> values{};  // value, enabled, running, id
      if (::read(post.events[event].get(), values.data(), sizeof values) != sizeof values)
        return failure_of_errno(errno, "read " + events_[event].name);
      by_task[post.task].push_back({values[0], Nanoseconds(values[1]), Nanoseconds(values[2])});
    }
  std::optional<sample::Count> sum;
  for (const auto& [task, readings] : by_task) {
    const sample::Count count = count_over_cpus(readings, events_[event]);
    if (sum)
      *sum += count;
    else
      sum = count;
  }
  return sum.value_or(sample::Count::missing("not opened"));
}

Result<Reading> SamplingRun::read() {
  Reading reading;
  reading.time = now() - start_time_;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    LOFT_TRY(reading.totals.emplace_back(), total_of(i));
  }
  return reading;
}

Result<std::unique_ptr<Recording>> SamplingRun::finish() {
  drain();
  if (failed_) return Failure(*failed_);
  utsname system{};
  if (::uname(&system) == 0) {
    writer_->add_text(format::perf::Feature::hostname, system.nodename);
    writer_->add_text(format::perf::Feature::os_release, system.release);
    writer_->add_text(format::perf::Feature::arch, system.machine);
  }
  LOFT_CHECK(writer_->finish());
  return Recording::open(fmt::format("/proc/self/fd/{}", output_.fd().get()));
}

Result<void> SamplingRun::keep(Features features) {
  if (!output_.kept) return {};
  for (auto& [bit, bytes] : features) writer_->add_feature(bit, std::move(bytes));
  LOFT_CHECK(writer_->finish());  // the sections stand at the end: they are written again
  return output_.kept->commit();
}

}  // namespace loft::source::perf_events
