#include "source/perf_events/sampling.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"
#include "base/nameless_file.hpp"
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

perf_event_attr sampling_attr(const event::Event& event) {
  perf_event_attr attr = make_attr(
      event, {.group_read = false, .inherit = true, .enable_on_exec = true, .disabled = true});
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

perf_event_attr time_attr(const event::Event& event, Nanoseconds period) {
  perf_event_attr attr = sampling_attr(event);
  attr.sample_period = static_cast<std::uint64_t>(period.count());
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.context_switch = 1;
  return attr;
}

// As many samples a second as of time, whatever the event's own rate.
perf_event_attr event_attr(const event::Event& event, Nanoseconds period) {
  perf_event_attr attr = sampling_attr(event);
  attr.freq = 1;
  attr.sample_freq = static_cast<std::uint64_t>(std::chrono::seconds(1) / period);
  return attr;
}

format::perf::WriteAt writer_to(int fd) {
  return [fd](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return failure_of_errno(errno, "write the recording");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
    return {};
  };
}

}  // namespace

Result<SamplingRun::Output> SamplingRun::open_output(const std::string& path) {
  if (!path.empty()) {
    const Destination to = destination_of(path);
    std::string beside = to.path;
    if (to.can_be_replaced) beside += ".new-" + std::to_string(::getpid());
    Fd fd(::open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!fd.is_open()) return failure_of_errno(errno, "write '" + path + "'");
    return Output{std::move(fd), to.path, to.can_be_replaced ? beside : std::string()};
  }
  LOFT_TRY(Fd fd, temporary_file());
  return Output{std::move(fd), {}, {}};
}

SamplingRun::~SamplingRun() {
  if (!output_.beside.empty()) ::unlink(output_.beside.c_str());
}

Result<std::unique_ptr<SamplingRun>> SamplingRun::prepare(const SamplingRequest& request) {
  LOFT_TRY(auto child, ChildProcess::prepare(request.command, request.streams));
  LOFT_TRY(auto output, open_output(request.file));
  std::unique_ptr<SamplingRun> run(new SamplingRun(std::move(child), std::move(output)));
  LOFT_CHECK(run->open(request));
  return run;
}

Result<void> SamplingRun::open(const SamplingRequest& request) {
  events_ = {task_clock()};
  attrs_ = {time_attr(events_.front(), request.period)};
  for (const event::Event& event : request.events) {
    events_.push_back(event);
    attrs_.push_back(event_attr(event, request.period));
  }
  auto opened = open_on_all_cpus();
  if (!opened && opened.error().kind == ErrorKind::permission) {
    cpus_.clear();
    for (perf_event_attr& attr : attrs_) attr.exclude_kernel = attr.exclude_hv = 1;
    lacks_kernel_ = true;
    opened = open_on_all_cpus();
  }
  if (!opened) return opened;
  return start_file();
}

// A ring cannot follow a task from CPU to CPU when the task's children are to be followed as well.
Result<void> SamplingRun::open_on_all_cpus() {
  LOFT_TRY(const CpuList cpus, cpus_of(CountRequest{}));
  for (const int cpu : cpus) {
    std::vector<Fd> events;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      LOFT_TRY(events.emplace_back(), open_event(attrs_[i], events_[i], {child_.pid(), cpu}));
    }
    LOFT_TRY(RingBuffer ring, RingBuffer::map(events.front(), kPages));
    for (std::size_t i = 1; i < events.size(); ++i)
      if (::ioctl(events[i].get(), PERF_EVENT_IOC_SET_OUTPUT, events.front().get()) != 0)
        return failure_of_errno(errno, "send the samples of an event to a ring");
    cpus_.push_back({std::move(events), std::move(ring)});
  }
  return {};
}

Result<void> SamplingRun::start_file() {
  std::vector<format::perf::WrittenEvent> written;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const auto bytes = std::as_bytes(std::span(&attrs_[i], 1));
    written.push_back({{bytes.begin(), bytes.end()}, {}, events_[i].name});
    for (const PerCpu& cpu : cpus_) {
      LOFT_TRY(const auto id, event_id(cpu.events[i]));
      written.back().ids.push_back(id);
    }
  }
  writer_ = std::make_unique<format::perf::RecordingWriter>(writer_to(output_.fd.get()),
                                                            std::move(written));
  return writer_->start();
}

std::vector<std::string> SamplingRun::notes() const {
  if (!lacks_kernel_) return {};
  return {"time in the kernel is not told apart by function: this user may not sample it"};
}

std::vector<int> SamplingRun::wake_fds() const {
  std::vector<int> fds;
  for (const PerCpu& cpu : cpus_) fds.push_back(cpu.events.front().get());
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

Result<Reading> SamplingRun::read() {
  Reading reading;
  reading.time = now() - child_.start_time();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    std::vector<RawReading> readings;
    for (const PerCpu& cpu : cpus_) {
      std::array<std::uint64_t, 4> values{};  // value, enabled, running, id
      if (::read(cpu.events[i].get(), values.data(), sizeof values) != sizeof values)
        return failure_of_errno(errno, "read " + events_[i].name);
      readings.push_back({values[0], Nanoseconds(values[1]), Nanoseconds(values[2])});
    }
    reading.totals.push_back(count_over_cpus(readings, events_[i]));
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
  return Recording::open(fmt::format("/proc/self/fd/{}", output_.fd.get()));
}

void SamplingRun::add_feature(std::uint32_t bit, std::vector<std::byte> bytes) {
  writer_->add_feature(bit, std::move(bytes));
}

Result<void> SamplingRun::keep() {
  LOFT_CHECK(writer_->finish());  // again, with what was added
  if (output_.beside.empty()) return {};
  if (::rename(output_.beside.c_str(), output_.path.c_str()) != 0)
    return failure_of_errno(errno, "replace '" + output_.path + "'");
  output_.beside.clear();
  return {};
}

}  // namespace loft::source::perf_events
