// The outcome of one counting run: what `loft stat` shows, whatever source counted it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.hpp"
#include "sample/count.hpp"

namespace loft::sample {

// A part of a total: a thread, a CPU or a function. Parts are aligned with RunCounts::events.
struct ThreadCounts {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string comm;
  std::vector<Count> counts;
};

struct CpuCounts {
  int cpu = 0;
  std::vector<Count> counts;
};

struct FunctionCounts {
  std::string name;
  std::string binary;
  std::vector<Count> counts;
};

struct BlockInstruction {
  std::uint8_t length = 0;        // bytes
  std::uint16_t vector_bits = 0;  // 0: no floating point, no vectors; at most 64: one number
  bool computes = false;          // on them, and does not just move them
  bool is_masked = false;
};

// A basic block: instructions that are always run together.
struct BlockCounts {
  std::string function;
  std::uint64_t offset = 0;  // in the function
  std::string binary;
  std::uint64_t address = 0;      // in the binary
  std::vector<std::string> code;  // its instructions as text
  std::vector<Count> counts;
  std::uint64_t end = 0;                // behind its last instruction, in the binary
  std::optional<std::uint64_t> target;  // in the binary, where it ends in a direct jump
  bool goes_on = true;                  // control may go on behind its end: no jump, no return
  std::vector<BlockInstruction> instructions;  // as many as `code` has
};

// What one thread did in one function; both are indices into the lists of the same run.
struct ThreadFunctionCounts {
  std::size_t thread = 0;
  std::size_t function = 0;
  std::vector<Count> counts;
};

// A region that the program marked (include/loft/region.h), over all threads or in one of them.
struct RegionCounts {
  std::vector<std::string> path;      // names from the outermost region to this one
  std::optional<std::size_t> thread;  // index into the threads of the run; nothing: all of them
  std::uint64_t visits = 0;
  // Where the run was native: from begin to end, added up over threads; and how long at least one
  // of them was inside.
  std::optional<Nanoseconds> time;
  std::optional<Nanoseconds> elapsed;
  std::vector<Count> counts;  // inside, with the regions inside of it
  std::vector<Count> self;    // without them
};

struct IntervalCounts {
  Nanoseconds start{};  // since the run began
  Nanoseconds end{};
  std::vector<Count> counts;
  // Where the run is told apart so: what each did in this interval.
  std::vector<ThreadCounts> threads;
  std::vector<CpuCounts> cpus;
};

// What happens when an event comes to a count.
enum class ThresholdAction {
  snapshot,  // all counts of that moment are kept
  stop,      // nothing is counted from there on
  signal,    // the thread that came to it gets a signal
  print,     // it is told at once
};
const char* to_string(ThresholdAction action);

// A threshold, and what became of it.
struct ThresholdOutcome {
  std::size_t event = 0;    // index into RunCounts::events
  std::uint64_t count = 0;  // that was waited for
  ThresholdAction action = ThresholdAction::snapshot;
  bool is_reached = false;
  // At the end of the block with which it was reached:
  std::uint64_t value = 0;
  Nanoseconds time{};  // since the run began
  pid_t pid = 0;       // the thread that came to it
  pid_t tid = 0;
  std::string comm;
  std::vector<Count> counts;  // of all events then; with `snapshot` alone
};

// What a meter had shown by some moment, both since the start.
struct EnergySeen {
  double seconds = 0;
  double joules = 0;
};

// What a meter of the whole machine counted while a program ran.
struct EnergyUsed {
  std::string meter;  // "package-0", "NVIDIA H200"
  double joules = 0;
  std::vector<EnergySeen> over_time;  // in order of time
  bool is_gpu = false;                // counts no work that the CPU did
  // Modelled: the meter shows watts; they were added up over the time between readings.
  Origin origin = Origin::counted;
};

// How a total varied over repeated runs.
struct Spread {
  std::size_t runs = 0;
  double mean = 0;       // as counted, without the event's scale
  double deviation = 0;  // standard deviation between runs
  double low = 0;        // 95 % confidence interval of the mean
  double high = 0;
};

// Who counted. source/sources.hpp has the table of those that count live.
enum class Source {
  perf_events,
  virtual_pmu,
  file,      // a recording, or what another tool wrote
  combined,  // a native run by perf_events, and a second one by the virtual PMU
};

// The words of --source and of the JSON output: "perf_events", "virtual", "file",
// "perf_events+virtual".
const char* to_string(Source source);
std::optional<Source> source_named(std::string_view name);

struct CountedEvent {
  std::string name;            // as asked for, with the modifiers that were really used
  std::string origin;          // where the name came from
  std::string unit;            // empty for plain counts
  double scale = 1;            // the value in `unit` is the count times this
  bool whole_machine = false;  // counts everybody's work on its CPUs, not only the program's
  Count total;
  std::optional<Spread> spread;  // when the run was repeated; the total is then the mean, rounded
  event::Identity id;            // what it is, whatever it is called

  [[nodiscard]] static CountedEvent of(const event::Event& event, Count total = {}) {
    return {event.name, event.origin,     event.unit, event.scale,
            false,      std::move(total), {},         event.identity()};
  }

  // The total in its unit. Only for available counts.
  [[nodiscard]] double value() const { return (spread ? spread->mean : total.value()) * scale; }
};

struct RunCounts {
  std::vector<std::string> command;  // empty when a running process or the machine was watched
  Source source = Source::perf_events;
  std::string target;   // "./app", "process 4711", "all CPUs"
  int exit_status = 0;  // as a shell reports it
  Nanoseconds wall{};
  Origin wall_origin = Origin::counted;  // scaled: known from samples alone
  std::optional<Spread> wall_spread;     // in seconds
  std::optional<Nanoseconds> user;       // CPU time of a command that loft started
  std::optional<Nanoseconds> system;
  std::string watched_cpus;         // "0-3" where some CPUs were watched, not all
  std::optional<Nanoseconds> busy;  // of watched CPUs: how long they were not idle, in sum
  std::vector<CountedEvent> events;
  std::vector<ThreadCounts> threads;
  std::vector<CpuCounts> cpus;
  std::vector<FunctionCounts> functions;
  std::vector<BlockCounts> blocks;
  std::vector<ThreadFunctionCounts> thread_functions;  // where asked for; pairs that never met are
                                                       // left out
  std::vector<RegionCounts> regions;  // where asked for, a region before those inside of it
  std::vector<IntervalCounts> intervals;
  std::vector<ThresholdOutcome> thresholds;  // in the order in which they were asked for
  std::vector<EnergyUsed> energy;            // where it was asked for, and there is a meter
  std::vector<std::string> notes;            // what a reader of the numbers must know

  // Under the virtual PMU a program takes longer than alone: no rate follows from that time.
  [[nodiscard]] bool has_engine_time() const { return source == Source::virtual_pmu; }
};

}  // namespace loft::sample
