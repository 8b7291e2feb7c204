#include "source/scheduler/sampled_run.hpp"

#include "source/living_tasks.hpp"
#include "source/perf_events/places.hpp"
#include "source/scheduler/side_band.hpp"

namespace loft::source::scheduler {
namespace {

constexpr std::size_t kRingBytes = 512 * 1024;  // per CPU: unprivileged users may lock that much

event::Event task_clock() {
  event::Event event;
  event.name = "task-clock";
  event.origin = "kernel";
  event.unit = "ns";
  event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
  return event;
}

}  // namespace

Result<std::unique_ptr<SampledRun>> SampledRun::prepare(const SampledRunRequest& request) {
  std::unique_ptr<SampledRun> run(new SampledRun);
  if (!request.command.empty()) {
    LOFT_TRY(run->child_, ChildProcess::prepare(request.command, request.streams));
  }
  LOFT_CHECK(run->open_sampler(request));
  LOFT_CHECK(run->create_file(request));
  run->on_record_ = request.on_record;
  return run;
}

Result<void> SampledRun::open_sampler(const SampledRunRequest& request) {
  perf_events::SamplerPlan plan;
  plan.stacks = perf_events::StackMode::user_frame_pointers;
  plan.from_exec = request.pids.empty() && !request.whole_machine;
  plan.with_tasks = plan.with_counts = true;
  plan.ring_bytes = kRingBytes;
  CountRequest watched;
  watched.pids = request.pids;
  if (request.whole_machine) {
    plan.tasks = {-1};
  } else {
    LOFT_TRY(const auto places, perf_events::places_of(watched, child_ ? child_->pid() : -1));
    for (const perf_events::TaskPlace& task : places) plan.tasks.push_back(task.place.pid);
  }
  events_ = {task_clock()};
  plan.events = {{events_, static_cast<std::uint64_t>(request.period.count()), 0}};
  // As many samples a second as of time, whatever the event's own rate.
  const auto frequency = static_cast<std::uint64_t>(std::chrono::seconds(1) / request.period);
  for (const event::Event& event : request.events) {
    events_.push_back(event);
    plan.events.push_back({{event}, 0, frequency});
  }
  LOFT_TRY(sampler_, perf_events::Sampler::open(plan));
  if (sampler_->lacks_kernel())
    for (event::Event& event : events_) event.modifiers.kernel = event.modifiers.hypervisor = false;
  return {};
}

Result<void> SampledRun::create_file(const SampledRunRequest& request) {
  RecordingPlan plan;
  plan.basics = 0;
  plan.kernel_events = sampler_->events();
  LOFT_TRY(const CpuList cpus, online_cpus());
  plan.cpus = static_cast<std::uint32_t>(cpus.empty() ? 1 : cpus.back() + 1);
  LOFT_TRY(file_, RecordingFile::create_pending(request.file, std::move(plan)));
  for (const pid_t pid : request.pids)
    if (!describe_process(pid, 0, *file_)) return Failure(threads_of(pid).error());
  if (!request.whole_machine) return {};
  describe_kernel(*file_);
  for (const LivingTask& task : living_tasks())
    if (task.tid == task.pid) (void)describe_process(task.pid, 0, *file_);  // it may have ended
  return {};
}

Result<void> SampledRun::start() {
  start_time_ = now();
  LOFT_CHECK(sampler_->start());
  return child_ ? child_->start() : Result<void>();
}

std::vector<std::string> SampledRun::notes() const {
  if (!sampler_->lacks_kernel()) return {};
  std::vector<std::string> notes{
      "time in the kernel is not told apart by function: this user may not sample it"};
  if (events_.size() > 1) notes.emplace_back("events are those of user mode alone");
  return notes;
}

void SampledRun::drain() {
  sampler_->drain([this](std::span<const std::byte> record) {
    file_->take_raw(record);
    if (on_record_) on_record_(record);
  });
  auto written = file_->end_round();
  if (!written && !failed_) failed_ = std::move(written).error();
}

Result<Reading> SampledRun::read() {
  Reading reading;
  reading.time = now() - start_time_;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    LOFT_TRY(reading.totals.emplace_back(), sampler_->count(i));
  }
  return reading;
}

Result<std::unique_ptr<Recording>> SampledRun::finish() {
  drain();
  if (failed_) return Failure(*failed_);
  LOFT_CHECK(file_->finish({}));
  return Recording::open(file_->path_to_read());
}

}  // namespace loft::source::scheduler
