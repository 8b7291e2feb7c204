#include "roof/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <map>

#include "base/text.hpp"
#include "machine/geometry.hpp"
#include "roof/level_bytes.hpp"
#include "roof/loop_why.hpp"
#include "roof/loop_work.hpp"
#include "roof/regions.hpp"
#include "roof/repeat_streams.hpp"
#include "roof/report.hpp"
#include "roof/run_file.hpp"
#include "roof/work_events.hpp"
#include "source/perf_events/counting.hpp"
#include "source/several_runs.hpp"
#include "source/virtual/counting.hpp"
#include "source/watch.hpp"

namespace loft::roof {
namespace {

// Functions that take a smaller share of the time need not be seen by a window.
constexpr double kHotShare = 0.03;

// Where the time went, for the windows of the second run.
std::vector<source::virtual_pmu::WindowedFunction> hot_functions(const NativeTimes& times) {
  std::map<std::uint32_t, double> seconds;  // by function
  double all = 0;
  for (const sample::Spent& spent : times.active.spent()) {
    seconds[spent.function] += spent.seconds;
    all += spent.seconds;
  }
  std::vector<source::virtual_pmu::WindowedFunction> hot;
  for (const auto& [function, spent] : seconds) {
    const auto found = times.functions.find(function);
    if (found == times.functions.end() || spent < kHotShare * all) continue;
    if (!found->second.binary.empty()) hot.push_back({found->second.name, found->second.binary});
  }
  return hot;
}

// A program that does other work in its second run gives wrong rates.
Result<void> check_second(sample::RunCounts& native, const sample::RunCounts& counted,
                          const RepeatStreams& streams, const Target& target) {
  if (!streams.note().empty()) native.notes.push_back(streams.note());
  // A program may print its own timings; only a person can tell whether it did other work.
  if (const auto difference = streams.difference())
    native.notes.push_back(*difference +
                           ": if it did other work, and did not just print other times, the rates "
                           "are wrong");
  if (counted.exit_status == native.exit_status) return {};
  const std::string why =
      fmt::format("it ended with status {} natively and {} under the virtual PMU",
                  status_words(native.exit_status), status_words(counted.exit_status));
  if (target.keep_going) {
    native.notes.push_back("the two runs differ: " + why);
    return {};
  }
  const std::string words(trim(streams.last_words()));
  return failure(ErrorKind::invalid_input, "join the two runs of '" + target.command[0] + "'",
                 why + (words.empty() ? "" : "; its last words were: " + words),
                 "use --keep-going to take the counts all the same");
}

// What had to share a counter in the first run is counted again in others. Where the time went, and
// how much of each event is whose, is still told by the samples of the first.
Result<void> count_again(const Target& target, RepeatStreams& streams, NativeRun& first) {
  source::CountRequest request;
  request.command = target.command;
  const auto& events = first.run->events();
  request.events.assign(events.begin() + 1, events.end());  // the first is the time
  for (std::size_t i = 0; i < request.events.size(); ++i) request.groups.push_back({{i}, false});
  sample::RunCounts of_events = first.counts;
  of_events.events.erase(of_events.events.begin());
  const auto count = [&](source::CountRequest part) -> Result<sample::RunCounts> {
    LOFT_TRY(part.streams, streams.second());
    LOFT_TRY(const auto run, source::perf_events::prepare(part));
    LOFT_TRY(auto counts, source::watch(*run, part, {}));
    return counts;
  };
  LOFT_TRY(auto joined,
           source::count_in_several_runs(request, std::move(of_events), count, target.most_runs));
  first.counts.events.resize(1);
  std::ranges::move(joined.events, std::back_inserter(first.counts.events));
  first.counts.notes = std::move(joined.notes);
  return {};
}

// The program under the virtual PMU, with the events that a roofline needs.
Result<sample::RunCounts> run_counted(const Target& target, StandardStreams streams,
                                      source::virtual_pmu::WindowKeeper& windows) {
  source::CountRequest request;
  LOFT_TRY(request.events, virtual_events(work_event_names() + "," + std::string(kTakenEvent)));
  request.command = target.command;
  request.with_blocks = true;
  request.streams = streams;
  request.split = source::Split::thread_functions;
  request.windows = &windows;
  LOFT_TRY(const auto run, source::virtual_pmu::prepare(request));
  return source::watch(*run, request, {});
}

void begin_pass(const Target& target, std::string_view doing, const sample::RunCounts& native) {
  if (target.on_pass) target.on_pass(doing, to_seconds(native.wall));
}

CountedWork not_counted(sample::RunCounts& native, std::string why) {
  native.notes.push_back(std::move(why));
  CountedWork nothing;
  nothing.by = CountedBy::nobody;
  nothing.origin = sample::Origin::missing;
  return nothing;
}

// What the program did, by its second run.
Result<CountedWork> count_second(const Target& target, RepeatStreams& streams,
                                 source::virtual_pmu::WindowKeeper& windows,
                                 sample::RunCounts& native, CodeByFunction& code) {
  if (was_ended(native.exit_status))
    return not_counted(native,
                       "it was interrupted before its second run, under the virtual PMU: what it "
                       "did is not known");
  LOFT_TRY(const auto second, streams.second());
  begin_pass(target, "second run, under the virtual PMU", native);
  LOFT_TRY(const auto counts, run_counted(target, second, windows));
  if (was_ended(counts.exit_status))
    return not_counted(
        native, "its second run, under the virtual PMU, was interrupted: what it did is not known");
  LOFT_CHECK(check_second(native, counts, streams, target));
  CountedWork work = counted_work(counts);
  work.loops = loops_with_lines(counts);
  code = code_of(counts);
  return work;
}

// What a model says about the time of functions, loops and instructions.
Result<void> model_time(const source::virtual_pmu::WindowKeeper& keeper,
                        const model::Machine& machine, const loft::machine::Conditions& met,
                        Measured& measured) {
  const KeptWindows kept{keeper.windows(), keeper.functions()};
  LOFT_TRY(TimedMachine here, timed_machine(machine, met));
  LOFT_TRY(measured.account, account_of(kept.windows, kept.functions, here));
  LOFT_CHECK(add_loops(kept, measured.counted.loops, here, *measured.account));
  measured.phases = phases_of(kept.windows, here.timer);
  measured.phase_functions = kept.functions;
  return add_waits(kept, here.timer.core(), measured.code);
}

Result<Account> account_elsewhere(const Target& target, RepeatStreams& streams,
                                  const source::virtual_pmu::WindowPlan& plan,
                                  const model::Machine& other) {
  source::virtual_pmu::WindowKeeper windows(loft::machine::geometry_of(other), plan);
  LOFT_TRY(const auto again, streams.second());
  LOFT_CHECK(run_counted(target, again, windows));
  LOFT_TRY(TimedMachine there, timed_machine(other));
  return account_of(windows.windows(), windows.functions(), there);
}

// Bytes beyond the core, by a run whose every instruction goes through a model of the caches.
Result<void> model_bytes(const Target& target, RepeatStreams& streams,
                         const model::Machine& machine, Measured& measured) {
  if (target.bytes == BytesAt::core || measured.counted.by == CountedBy::nobody) return {};
  sample::RunCounts& native = measured.native.counts;
  begin_pass(target, "third run, through a model of the caches", native);
  LOFT_TRY(const auto again, streams.second());
  LOFT_TRY(const auto modelled,
           run_levels(target.command, again, loft::machine::geometry_of(machine)));
  if (modelled.exit_status == native.exit_status)
    add_levels(modelled, measured.counted);
  else
    native.notes.push_back(
        fmt::format("it ended with status {} when its caches were modelled: bytes beyond the core "
                    "are not known",
                    status_words(modelled.exit_status)));
  std::ranges::copy(modelled.notes, std::back_inserter(native.notes));
  if (target.bytes == BytesAt::memory)
    measured.counted = with_bytes_of_memory(std::move(measured.counted));
  return {};
}

Result<NativeProfile> finish(NativeRun& run) {
  LOFT_TRY(auto recording, run.run->finish());
  return profile_of(std::move(run.counts), std::move(recording));
}

Result<void> keep(NativeRun& run, const Target& target, const Measured& measured,
                  const model::Machine& machine) {
  if (target.file.empty()) return {};
  const model::Machine roofs = roofs_for(target.bytes, machine);
  return run.run->keep(
      features_of(measured.native.counts, measured.counted, roofs, analysis_of(measured, roofs)));
}

}  // namespace

std::string status_words(int status) {
  const char* name = status > 128 ? ::sigabbrev_np(status - 128) : nullptr;
  if (name == nullptr) return std::to_string(status);
  return fmt::format("{} (killed by SIG{})", status, name);
}

Result<Measured> measure_by_counters(const Target& target, const WorkCounters& counters,
                                     const model::Machine& machine) {
  std::optional<RepeatStreams> streams;
  if (target.most_runs > 1) {
    LOFT_TRY(streams, RepeatStreams::prepare());
  }
  RegionWatch regions = RegionWatch::start(target.command);
  LOFT_TRY(NativeRun run, run_natively({.command = target.command,
                                        .streams = streams ? streams->first() : StandardStreams{},
                                        .pids = target.pids,
                                        .events = counters.events(),
                                        .file = target.file}));
  if (!target.pids.empty()) run.counts.command = {run.counts.target};
  if (streams && !was_ended(run.counts.exit_status)) LOFT_CHECK(count_again(target, *streams, run));
  std::ranges::move(counters.notes(), std::back_inserter(run.counts.notes));
  Measured measured;
  LOFT_TRY(measured.native, finish(run));
  measured.counted = counters.counted_in(measured.native);
  LOFT_TRY(measured.counted.regions, std::move(regions).finish({}, measured.native.counts.notes));
  LOFT_CHECK(keep(run, target, measured, machine));
  return measured;
}

Result<Measured> measure_twice(const Target& target, const model::Machine& machine,
                               const model::Machine* other) {
  LOFT_TRY(auto streams, RepeatStreams::prepare());
  // What cannot be probed is taken to be as the machine file has it.
  auto probe = loft::machine::ConditionsProbe::make(machine);
  if (probe) probe->look_at_l3();
  RegionWatch regions = RegionWatch::start(target.command);
  LOFT_TRY(
      NativeRun run,
      run_natively({.command = target.command, .streams = streams.first(), .file = target.file},
                   [&](pid_t pid) {
                     if (probe) probe->look_beside(pid);
                   }));
  if (probe) probe->look_at_l3();
  const auto met = probe ? probe->conditions() : loft::machine::Conditions{};
  Measured measured;
  LOFT_TRY(measured.native, finish(run));
  sample::RunCounts& counts = measured.native.counts;
  source::virtual_pmu::WindowPlan plan;
  plan.hot = hot_functions(measured.native.times());
  source::virtual_pmu::WindowKeeper windows(loft::machine::geometry_of(machine), plan);
  const RegionWatch::Count count = [&]() -> Result<sample::RunCounts> {
    if (was_ended(counts.exit_status)) return sample::RunCounts{};
    LOFT_TRY(const auto again, streams.second());
    return run_regions(target.command, again);
  };
  LOFT_TRY(auto in_regions, std::move(regions).finish(count, counts.notes));
  LOFT_TRY(measured.counted, count_second(target, streams, windows, counts, measured.code));
  measured.counted.regions = std::move(in_regions);
  begin_pass(target, "a model of the core explains its time", counts);
  if (const auto modelled = model_time(windows, machine, met, measured); !modelled)
    counts.notes.push_back("why it takes its time is not modelled: " + modelled.error().why);
  if (measured.account && !measured.account->slowed.empty())
    counts.notes.push_back("others used the machine meanwhile: " + measured.account->slowed +
                           "; verdicts reckon with that");
  if (other != nullptr) {
    LOFT_TRY(measured.elsewhere, account_elsewhere(target, streams, plan, *other));
  }
  LOFT_CHECK(model_bytes(target, streams, machine, measured));
  if (target.most_runs > 1)
    counts.notes.emplace_back(
        "--runs was not needed: the virtual PMU counts everything in one run");
  LOFT_CHECK(keep(run, target, measured, machine));
  return measured;
}

}  // namespace loft::roof
