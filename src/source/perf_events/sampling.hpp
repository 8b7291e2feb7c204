// A program run as it is, or one that runs already, while the kernel notes where each of its
// threads is after every so many nanoseconds of its own run time, and when it comes to a CPU and
// leaves it. The notes become a recording.
//
//   LOFT_TRY(auto run, SamplingRun::prepare({.command = {"./app"}, .file = "app.data"}));
//   LOFT_TRY(const auto counts, watch(*run, request, {}));     // task-clock, and events asked for
//   LOFT_TRY(const auto recording, run->finish());
//   LOFT_CHECK(run->keep({{section, bytes}}));            // as app.data
//
// The program is slowed by less than a hundredth: a sample costs 2 us, or 20 where a hypervisor has
// to set the timer, and there are 400 in a second.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/file_replacement.hpp"
#include "format/perf/writer.hpp"
#include "source/counting.hpp"
#include "source/file/recording.hpp"
#include "source/perf_events/ring_buffer.hpp"

namespace loft::source::perf_events {

struct SamplingRequest {
  std::vector<std::string> command;
  StandardStreams streams;
  std::vector<pid_t> pids;      // these instead, which run already; the command only says how long
  Nanoseconds period{2503009};  // of run time between two samples; no divisor of usual periods
  std::vector<event::Event> events;  // to be counted, and sampled, beside the time
  std::string file;                  // where the recording stays, once finished; empty: nowhere
};

class SamplingRun final : public CountingRun {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SamplingRun>> prepare(const SamplingRequest& request);

  sample::Source source() const override { return sample::Source::perf_events; }
  const std::vector<event::Event>& events() const override { return events_; }
  std::vector<std::string> notes() const override;
  Result<void> start() override;
  ChildProcess* program() override { return child_ ? &*child_ : nullptr; }
  void drain() override;
  std::vector<int> wake_fds() const override;
  Result<Reading> read() override;

  // After the program's end: everything that was noted.
  [[nodiscard]] Result<std::unique_ptr<Recording>> finish();

  // Then puts the file in its place, with more header sections, by their numbers.
  using Features = std::map<std::uint32_t, std::vector<std::byte>>;
  [[nodiscard]] Result<void> keep(Features features);

 private:
  // One task on one CPU.
  struct Post {
    pid_t task = 0;
    std::vector<Fd> events;  // aligned with events_
  };
  struct PerCpu {
    std::vector<Post> posts;  // the first event of the first owns the ring
    RingBuffer ring;
  };

  struct Output {
    std::optional<FileReplacement> kept;  // none: the recording vanishes with `temporary`
    Fd temporary;
    [[nodiscard]] const Fd& fd() const { return kept ? kept->fd() : temporary; }
  };

  explicit SamplingRun(Output output) : output_(std::move(output)) {}
  [[nodiscard]] static Result<Output> open_output(const std::string& path);
  [[nodiscard]] Result<void> open(const SamplingRequest& request);
  [[nodiscard]] Result<void> open_on_all_cpus();
  [[nodiscard]] Result<PerCpu> open_on(int cpu, const std::vector<pid_t>& tasks);
  [[nodiscard]] Result<void> start_file();
  [[nodiscard]] Result<void> describe(pid_t pid);
  [[nodiscard]] Result<sample::Count> total_of(std::size_t event) const;
  [[nodiscard]] bool is_attached() const { return !pids_.empty(); }

  std::optional<ChildProcess> child_;
  std::vector<pid_t> pids_;
  Output output_;
  std::vector<event::Event> events_;
  std::vector<perf_event_attr> attrs_;  // of the events
  bool lacks_kernel_ = false;           // no permission to sample the kernel
  std::vector<PerCpu> cpus_;
  std::unique_ptr<format::perf::RecordingWriter> writer_;
  std::vector<std::byte> drained_;
  Nanoseconds start_time_{};
  std::optional<Error> failed_;  // the first write that went wrong
};

}  // namespace loft::source::perf_events
