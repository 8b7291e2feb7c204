#include "roof/virtual_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/text.hpp"
#include "base/units.hpp"
#include "event/recording_schema.hpp"
#include "roof/loop_work.hpp"
#include "roof/run_file.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/tasks.hpp"

namespace loft::roof {
namespace {

std::vector<std::string> names_of(const source::Recording& recording) {
  std::vector<std::string> names;
  for (const auto& event : recording.metadata().events) names.push_back(event.name);
  return names;
}

double fact(const source::Recording& recording, std::string_view key) {
  return static_cast<double>(parse_u64(source::loft_fact(recording.metadata(), key)).value_or(0));
}

// Threads and slices, as the table of tasks has them.
void read_threads(const sample::TaskTable& table, VirtualRun& run) {
  const WorkColumns columns(table.counters);
  for (const sample::TaskRow& task : table.tasks)
    run.threads.push_back({task.tid, task.comm, static_cast<double>(task.run_ns.value_or(0)) * 1e-9,
                           columns.done_in(task.counted.counts)});
  for (const sample::TaskSlice& slice : table.slices) {
    const Done done = columns.done_in(slice.counted.counts);
    run.slices.push_back({slice.task, slice.end, static_cast<double>(slice.run_ns) * 1e-9,
                          done.work.instructions.value_or(0), done});
  }
}

// A slice of one thread, by its end: what it ran, and how many instructions share that.
struct Share {
  double run_seconds = 0;
  double instructions = 0;
};
using Shares = std::map<std::pair<std::uint32_t, std::uint64_t>, Share>;

Shares shares_of(const VirtualRun& run) {
  Shares all;
  for (const VirtualSlice& slice : run.slices) {
    Share& share = all[{run.threads[slice.thread].tid, slice.end}];
    share.run_seconds += slice.run_seconds;
    share.instructions += slice.instructions;
  }
  return all;
}

// What each function did, and its share of the time of each slice in which it ran.
Result<void> read_functions(const source::Recording& recording, VirtualRun& run) {
  sample::ProfileOptions options;
  options.tree = options.timeline = true;
  LOFT_TRY(const auto profile,
           source::profile_recording(recording, options, {}, std::thread::hardware_concurrency()));
  const auto names = names_of(recording);
  const WorkColumns columns(names);
  struct Sum {
    std::vector<std::uint64_t> counts;
    double run_seconds = 0;
    double instructions = 0;
    double weighted = 0;  // by the share of their slice
  };
  std::map<std::uint32_t, Sum> functions;
  for (const sample::Trie::Node& node : profile.result.rows.nodes()) {
    const std::size_t event = profile.result.rows[node.parent].key;
    if (node.parent == sample::Trie::kRoot || event >= names.size()) continue;
    Sum& sum = functions[node.key];
    sum.counts.resize(names.size());
    sum.counts[event] += node.self.period;
  }
  const Shares slices = shares_of(run);
  const sample::Timeline& timeline = profile.result.timeline;
  for (const sample::TimelineEntry& entry : timeline.entries()) {
    const auto slice = slices.lower_bound({entry.tid, entry.time});
    if (columns.instructions() != entry.event || slice == slices.end() ||
        slice->first.first != entry.tid || slice->second.instructions == 0)
      continue;
    Sum& sum = functions[profile.result.tree[entry.node].key];
    const double instructions = static_cast<double>(entry.period) * timeline.step();
    const double share = instructions / slice->second.instructions;
    sum.run_seconds += slice->second.run_seconds * share;
    sum.instructions += instructions;
    sum.weighted += instructions * std::min(share, 1.0);
  }
  for (const auto& [id, sum] : functions) {
    const sample::Function& function = profile.locations->function(id);
    const bool has_binary = function.binary != sample::Function::kNoBinary;
    run.functions.push_back(
        {{function.name, has_binary ? recording.history().binaries()[function.binary].path : ""},
         columns.done_in(sum.counts),
         sum.run_seconds,
         sum.instructions > 0 ? sum.weighted / sum.instructions : 0});
  }
  return {};
}

std::string why_no_loops(const std::vector<std::string>& events) {
  return can_find_loops(events)
             ? "loops are not shown: an older version of loft, which did not keep them, recorded it"
             : fmt::format("loops are not shown: '{}' was not recorded", kTakenEvent);
}

}  // namespace

bool is_counted(const source::Recording& recording) {
  return WorkColumns(names_of(recording)).are_complete();
}

Result<CountedRun> read_counted(const source::Recording& recording) {
  const sample::TaskTable table = source::read_tasks(recording);
  CountedRun counted;
  const auto& words = recording.metadata().command_line;
  if (words.size() > 2) counted.command.assign(words.begin() + 2, words.end());  // loft record
  counted.exit_status = static_cast<int>(fact(recording, event::recording::fact::kExitStatus));
  counted.threads = table.tasks.size();
  VirtualRun run;
  run.name = loft::join(counted.command, " ");
  run.wall_seconds = fact(recording, event::recording::fact::kWallNs) * 1e-9;
  run.start = table.first_time;
  read_threads(table, run);
  LOFT_CHECK(read_functions(recording, run));
  LOFT_TRY(auto analysis, read_kept_analysis(recording));
  if (analysis)
    run.loops = std::move(analysis->loops);
  else
    counted.notes.push_back(why_no_loops(names_of(recording)));
  counted.subjects = subjects_of(run);
  const model::Subject& whole = counted.subjects.front();
  double cpu_seconds = 0;
  for (const VirtualThread& thread : run.threads) cpu_seconds += thread.run_seconds;
  const double waiting = std::max(0.0, run.wall_seconds - cpu_seconds);
  counted.wall_seconds = whole.seconds + waiting;
  counted.cpu_seconds = whole.seconds * whole.concurrency;
  counted.notes.push_back(
      fmt::format("one run, under the virtual PMU, which took {}: times are estimates of what they "
                  "would have been without; functions that took turns share it by instructions, "
                  "and their rates are not known; 'loft roof -- CMD' without --once measures them",
                  format_seconds(run.wall_seconds)));
  return counted;
}

}  // namespace loft::roof
