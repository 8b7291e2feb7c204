// The one interface behind which events are counted, by hardware, kernel or the virtual PMU.
//
//   LOFT_TRY(auto run, virtual_pmu::prepare(request));   // or another source's
//   LOFT_CHECK(run->start());
//   while (running) print(run->read());
//   LOFT_TRY(const Reading end, run->read());
//
// A run is prepared completely before anything starts: when it cannot count, nothing has happened.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/cpu_set.hpp"
#include "base/result.hpp"
#include "event/event.hpp"
#include "sample/counting.hpp"

namespace loft::core {
struct MachineGeometry;
}

namespace loft::sample {
struct CodeDetails;
}

namespace loft::source {

namespace virtual_pmu {
class WindowKeeper;
}

enum class Split {
  none,     // totals only
  threads,  // also per thread
  cpus,     // also per CPU
  // The virtual PMU alone:
  functions,         // also per function
  blocks,            // also per basic block
  lines,             // also per line of source code, in CountRequest::details
  thread_functions,  // also per thread, per function, and per function of each thread
  // Regions that the program marks (include/loft/region.h):
  regions,         // also per region, over all threads
  thread_regions,  // also per thread, and per region of each thread
};

// Events that are to be counted at the same time, as indices into CountRequest::events.
struct EventGroup {
  std::vector<std::size_t> members;
  bool keep_together = false;  // the user wrote {a,b}: rather count none than count them apart
};

// Something that happens when an event comes to a count.
struct Threshold {
  std::size_t event = 0;  // index into CountRequest::events
  std::uint64_t count = 0;
  sample::ThresholdAction action = sample::ThresholdAction::snapshot;
  int signal = 0;  // that is sent, with ThresholdAction::signal
};

struct CountRequest {
  std::vector<event::Event> events;
  std::vector<EventGroup> groups;  // each event is in exactly one

  std::vector<std::string> command;  // a program to start
  StandardStreams streams;           // what it gets as input and outputs
  std::vector<pid_t> pids;           // running processes to watch, all their threads
  bool whole_machine = false;        // every task on `cpus`
  CpuList cpus;                      // with whole_machine or Split::cpus: which; empty for all

  Split split = Split::none;
  // Parts are read while the program runs, for intervals: counts of a thread that come at its end
  // are too late.
  bool reads_parts_live = false;

  // The virtual PMU alone: count only inside this function and what it calls; empty for all.
  std::string region;
  // The virtual PMU alone: what happens at which counts.
  std::vector<Threshold> thresholds;
  // Called when one is reached, on another thread, while the thread that came to it waits.
  std::function<void(const sample::ThresholdOutcome&)> on_threshold;
  // The virtual PMU alone: also count per basic block, once the program has ended.
  bool with_blocks = false;
  // The virtual PMU alone: keeps windows of the run for a timing model; null for none.
  virtual_pmu::WindowKeeper* windows = nullptr;
  // The virtual PMU alone: the machine whose caches, TLBs and predictor are simulated, for modelled
  // events; null: these are missing.
  const core::MachineGeometry* model = nullptr;
  bool model_is_sampled = false;  // in windows of the run, not with every instruction
  // The virtual PMU alone: gets, at the end, what there is no place for among the counts; null for
  // nothing.
  sample::CodeDetails* details = nullptr;
};

// Counts as of one moment, aligned with the request's events.
struct Reading {
  Nanoseconds time{};  // since start()
  std::vector<sample::Count> totals;
  std::vector<sample::CpuCounts> cpus;            // with Split::cpus
  std::vector<sample::ThreadCounts> threads;      // with Split::threads and thread_…
  std::vector<sample::FunctionCounts> functions;  // with Split::functions and thread_functions
  std::vector<sample::BlockCounts> blocks;        // with Split::blocks and with_blocks
  std::vector<sample::ThreadFunctionCounts> thread_functions;  // with Split::thread_functions
  std::vector<sample::RegionCounts> regions;  // with Split::regions and thread_regions
};

class CountingRun {
 public:
  CountingRun() = default;
  CountingRun(const CountingRun&) = delete;
  CountingRun& operator=(const CountingRun&) = delete;
  virtual ~CountingRun() = default;

  [[nodiscard]] virtual sample::Source source() const = 0;

  // The events as they are really counted (names carry the modifiers that permission left).
  [[nodiscard]] virtual const std::vector<event::Event>& events() const = 0;

  // Facts a reader of the numbers must know.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

  // The thresholds of the request, and what became of them.
  [[nodiscard]] virtual std::vector<sample::ThresholdOutcome> thresholds() const { return {}; }

  // Lets the program go, or begins to watch.
  [[nodiscard]] virtual Result<void> start() = 0;

  // The program that was started, if one was: wait for it, signal it.
  [[nodiscard]] virtual ChildProcess* program() = 0;

  // Takes in what has queued up; called whenever wake_fds() become readable, and before a read.
  virtual void drain() {}
  [[nodiscard]] virtual std::vector<int> wake_fds() const { return {}; }

  // The counts so far. Valid while running and after the end.
  [[nodiscard]] virtual Result<Reading> read() = 0;

  // An error when a part of the program was not counted, asked at the end.
  [[nodiscard]] virtual Result<void> check() const { return {}; }
};

}  // namespace loft::source
