// What recordings by loft hold beyond perf's own format: the names of their events, the numbers of
// their header sections, and the keys of their facts. Writers and readers include this one header.
//
//   file.add_feature(recording::kFactsSection, bytes);
//   if (name.starts_with(recording::kMeterPrefix)) ...
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace loft::event::recording {

// What every slice holds, in this order; a recorder knows the first so many of them.
inline constexpr std::string_view kRunTime = "task-clock";
inline constexpr std::string_view kRunTimeInUserMode = "task-clock:u";
inline constexpr std::string_view kWaitTime = "wait-time";  // ready to run, on no CPU
inline constexpr std::string_view kSwitches = "context-switches";
inline constexpr std::string_view kMigrations = "cpu-migrations";
inline constexpr std::array kSliceEvents = {kRunTime, kWaitTime, kSwitches, kMigrations};

// How long a task that had blocked was on no CPU, one sample with its call stack each; the name
// that perf gives it, too.
inline constexpr std::string_view kOffCpuTime = "offcpu-time";

// One sample for each time that a task moved to another CPU.
inline constexpr std::string_view kMigration = "migration";

// Instructions that a task executed while a set of events had its turn; the number of the set
// follows.
inline constexpr std::string_view kSetWorkPrefix = "instructions of set ";

// Energy in microjoules; the name of the meter follows. A meter that shows watts has the second
// prefix as well: its energy is the sum of watts over time.
inline constexpr std::string_view kMeterPrefix = "energy ";
inline constexpr std::string_view kFromWattsPrefix = "from watts: ";

// Whether the event counts the time of tasks that do not run.
[[nodiscard]] constexpr bool is_waiting(std::string_view event) {
  return event == kWaitTime || event == kOffCpuTime;
}

// Whether an address in a sample of the event is where the event happened. Slices hold these sums
// at the address where the slice happened to end.
[[nodiscard]] constexpr bool has_address(std::string_view event) {
  return event != kWaitTime && event != kSwitches && event != kMigrations && event != kMigration;
}

// Header sections with numbers that perf does not use, so that it skips them.
inline constexpr std::uint32_t kFactsSection = 200;     // lines of "key=value"
inline constexpr std::uint32_t kWorkSection = 240;      // what a roofline counted in its second run
inline constexpr std::uint32_t kMachineSection = 241;   // the machine file of the roofline
inline constexpr std::uint32_t kAnalysisSection = 242;  // its loops, verdicts and code
inline constexpr std::uint32_t kRankSection = 243;      // what a rank of a job did, added up
inline constexpr std::uint32_t kCallsSection = 244;     // what was counted of calls
inline constexpr std::uint32_t kWakeupsSection = 245;   // who woke whom
inline constexpr std::uint32_t kRegionsSection = 246;   // of regions that the program marked

// Keys of the facts.
namespace fact {
inline constexpr std::string_view kRecorder = "recorder";
inline constexpr std::string_view kRecorderBefore = "rung";  // the same key in older recordings
inline constexpr std::string_view kSliceNs = "slice_ns";
inline constexpr std::string_view kTurns = "turns";
inline constexpr std::string_view kChanges = "changes";  // of events, while it was recorded
inline constexpr std::string_view kSeen = "seen";
inline constexpr std::string_view kWritten = "written";
inline constexpr std::string_view kLost = "lost";
inline constexpr std::string_view kLostRunNs = "lost_run_ns";
inline constexpr std::string_view kLostTasks = "lost_tasks";
inline constexpr std::string_view kMissed = "missed";
inline constexpr std::string_view kStillRunning = "still_running";
inline constexpr std::string_view kWallNs = "wall_ns";
inline constexpr std::string_view kExitStatus = "exit_status";
inline constexpr std::string_view kIsolatedOn = "isolated_on";
// Of a rank of a parallel job.
inline constexpr std::string_view kRank = "rank";
inline constexpr std::string_view kRanks = "ranks";
inline constexpr std::string_view kLocalRank = "local_rank";
inline constexpr std::string_view kNode = "node";
inline constexpr std::string_view kJob = "job";
inline constexpr std::string_view kLaunch = "launch";
inline constexpr std::string_view kLauncher = "launcher";
inline constexpr std::string_view kMpiNs = "mpi_ns";
inline constexpr std::string_view kMpiCalls = "mpi_calls";
inline constexpr std::string_view kMpiSpanNs = "mpi_span_ns";
}  // namespace fact

}  // namespace loft::event::recording
