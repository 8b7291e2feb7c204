// A program run as it is, or one that runs already, while the kernel notes where each of its
// threads is after every so many nanoseconds of its own run time, and when it comes to a CPU and
// leaves it. The notes become a recording.
//
//   LOFT_TRY(auto run, SampledRun::prepare({.command = {"./app"}, .file = "app.data"}));
//   LOFT_TRY(const auto counts, watch(*run, request, {}));     // task-clock, and requested events
//   LOFT_TRY(const auto recording, run->finish());
//   LOFT_CHECK(run->keep({{section, bytes}}));            // as app.data
//
// The program is slowed by less than a hundredth: a sample costs 2 us, or 20 where a hypervisor has
// to set the timer, and there are 400 in a second.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "source/counting.hpp"
#include "source/file/recording.hpp"
#include "source/perf_events/sampler.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::scheduler {

struct SampledRunRequest {
  std::vector<std::string> command;
  StandardStreams streams;
  std::vector<pid_t> pids;      // these instead, which run already; the command only says how long
  bool whole_machine = false;   // everything that runs, instead; it has no switches and no counts
  Nanoseconds period{2503009};  // of run time between two samples; no divisor of usual periods
  std::vector<event::Event> events;  // to be counted, and sampled, beside the time
  std::string file;                  // where the recording stays, once finished; empty: nowhere
  // Shown each record on its way into the recording.
  std::function<void(std::span<const std::byte>)> on_record;
};

class SampledRun final : public CountingRun {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SampledRun>> prepare(
      const SampledRunRequest& request);

  sample::Source source() const override { return sample::Source::perf_events; }
  const std::vector<event::Event>& events() const override { return events_; }
  std::vector<std::string> notes() const override;
  Result<void> start() override;
  ChildProcess* program() override { return child_ ? &*child_ : nullptr; }
  void drain() override;
  std::vector<int> wake_fds() const override { return sampler_->wake_fds(); }
  Result<Reading> read() override;

  // After the program's end: everything that was noted.
  [[nodiscard]] Result<std::unique_ptr<Recording>> finish();

  // Then puts the file in its place, with more header sections, by their numbers.
  [[nodiscard]] Result<void> keep(RecordingFile::Sections sections) {
    return file_->keep(std::move(sections));
  }

 private:
  SampledRun() = default;
  [[nodiscard]] Result<void> open_sampler(const SampledRunRequest& request);
  [[nodiscard]] Result<void> create_file(const SampledRunRequest& request);

  std::optional<ChildProcess> child_;
  std::vector<event::Event> events_;
  std::optional<perf_events::Sampler> sampler_;
  std::unique_ptr<RecordingFile> file_;
  std::function<void(std::span<const std::byte>)> on_record_;
  Nanoseconds start_time_{};
  std::optional<Error> failed_;  // the first write that went wrong
};

}  // namespace loft::source::scheduler
