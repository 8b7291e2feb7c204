// Records a program, or processes that run: opens the best recorder, lets the program go, writes
// what the recorder tells, and follows it to its end.
//
//   LOFT_TRY(const auto result, record(request));
//
// Signals reach the program as they do without loft. The file can be read at any moment, up to the
// last second; when it cannot be written any more, the program goes on without being recorded.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "event/event.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"
#include "sample/counting.hpp"
#include "source/perf_events/sampler.hpp"
#include "source/scheduler/isolation.hpp"
#include "source/scheduler/recording_output.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

using perf_events::StackMode;

struct RecordTypes {
  bool pmu = true;    // slices with counts
  bool epc = false;   // energy
  bool mig = true;    // migrations
  bool fork = true;   // births and deaths; readers need them to name tasks
  bool sched = true;  // switches
};

struct RecordRequest {
  std::vector<event::Event> events;              // taking turns where counters do not suffice
  std::vector<std::vector<event::Event>> turns;  // sets that take turns in any case
  bool events_may_be_missing = false;            // nobody asked for them by name
  std::vector<std::string> command;
  std::vector<pid_t> pids;
  bool whole_machine = false;  // everything that runs, until the program ends or loft is stopped
  Nanoseconds slice = std::chrono::milliseconds(10);
  RecordTypes types;
  std::uint64_t frequency_hz = 0;     // of samples beside the slices; 0 for none
  std::vector<event::Event> sampled;  // events to sample; without any, the clock
  std::uint64_t period = 0;           // each time that one happened so often; 0: by the frequency
  StackMode stacks = StackMode::none;
  bool off_cpu = false;                      // where tasks block, for how long, and who wakes them
  std::size_t ring_bytes = 0;                // of each ring between kernel and loft; 0: as is usual
  std::optional<sample::CallRequest> calls;  // single calls of functions, beside the slices
  int life = -1;                             // ends the recording when its other side is gone
  std::string recorder;                      // the one to use; empty for the best
  bool until_all_end = false;                // also of what outlives the program
  std::optional<IsolationWish> isolation;
  std::string output = "perf.data";  // "-": standard output; the program's own goes to its errors
  std::string version;               // of loft, for the file
  std::vector<std::string> command_line;  // of loft, for the file
  // Asked for once, at the end: what else is known of this run, by keys of event::recording::fact.
  std::function<std::vector<std::pair<std::string_view, std::string>>()> more_facts;
  // Asked five times a second: other events to count from now on, where somebody wants them.
  std::function<std::optional<std::vector<event::Event>>()> next_events;
  // Told what came of that.
  std::function<void(const Result<void>&)> on_change;
  // Told at once when the file cannot be written any more; the program goes on.
  std::function<void(const Error&)> on_broken;
};

struct RecordedCalls {
  std::uint64_t kept = 0;
  std::uint64_t lost = 0;       // single ones that found no room
  std::uint64_t functions = 0;  // that were watched
  std::uint64_t not_watched = 0;
};

struct OffCpuTotal {
  std::uint64_t times = 0;
  std::uint64_t blocked_ns = 0;
  std::uint64_t wakeups = 0;  // of which it is known who did it
};

struct RecordResult {
  int exit_status = 0;
  std::size_t ring_bytes = 0;  // of each ring between kernel and loft; 0: as is usual
  std::string recorder;        // "bpf"
  std::string description;     // the same for people
  std::vector<std::string> notes;
  std::vector<std::string> isolation;  // what was done to keep others away, and what could not be
  std::vector<std::string> events;
  std::size_t turns = 0;    // sets of events that took turns
  std::size_t changes = 0;  // of events, while it was recorded
  Tally tally;
  std::uint64_t written = 0;
  std::uint64_t lost = 0;  // as the file says: by the recorder, and by the kernel in its rings
  std::uint64_t tasks = 0;
  std::uint64_t slices = 0;
  std::uint64_t switches = 0;
  std::uint64_t bytes = 0;
  std::uint64_t still_running = 0;     // tasks that went on
  std::optional<OffCpuTotal> off_cpu;  // where it was asked for
  std::optional<RecordedCalls> calls;  // where they were asked for
  std::size_t regions = 0;             // that the program marked
  Nanoseconds wall{};
  std::optional<Error> broken;  // the recording ended before the program did
};

[[nodiscard]] Result<RecordResult> record(const RecordRequest& request);

// What a recording says of calls, and what of them it keeps.
void note_calls(const sample::CallRun& run, RecordResult& result);

// How many there are, over all threads.
[[nodiscard]] std::size_t count_regions(const sample::RunCounts& run);

// Where the program writes while it is recorded: not into a recording on standard output.
[[nodiscard]] StandardStreams streams_of(const RecordRequest& request);

}  // namespace loft::source::scheduler
