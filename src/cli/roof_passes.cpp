#include "cli/roof_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "cli/names.hpp"
#include "sample/active_time.hpp"
#include "sample/call_tree.hpp"
#include "source/energy/usage.hpp"
#include "source/file/schedule.hpp"
#include "source/virtual/counting.hpp"
#include "source/watch.hpp"

namespace loft::cli {
namespace {

using model::Basis;
using model::Scope;
using model::Subject;
using model::Work;

// Below this many samples functions are not told apart: each would be a guess.
constexpr std::uint64_t kFewSamples = 20;
constexpr double kLeastSlice = 0.02;  // seconds
constexpr std::size_t kMostSlices = 400;
// Some meters move ten times a second: a shorter step would show their steps, not the power.
constexpr Nanoseconds kEnergyStep = std::chrono::milliseconds(200);

// The samples of the run time; those of other events say what was done, not how long it took.
std::vector<sample::TimelineEntry> times_of(const std::vector<sample::TimelineEntry>& timeline) {
  std::vector<sample::TimelineEntry> times;
  std::ranges::copy_if(timeline, std::back_inserter(times),
                       [](const auto& entry) { return entry.event == 0; });
  return times;
}

// What rests on these counts is no better than the worst of them.
Basis basis_of(const sample::RunCounts& counted) {
  const auto has = [&](sample::Origin origin) {
    return std::ranges::any_of(counted.events,
                               [&](const auto& event) { return event.total.origin == origin; });
  };
  if (has(sample::Origin::modelled)) return Basis::modelled;
  return has(sample::Origin::scaled) ? Basis::scaled : Basis::counted;
}

// When the first record was made: that of the program's exec, or of the first look at a process.
std::uint64_t start_of(const source::Recording& recording) {
  std::uint64_t start = 0;
  recording.in_order([&](const source::PlacedRecord& placed) {
    start = placed.time.value_or(0);
    return start == 0;  // what was there before has no time
  });
  return start;
}

class Join {
 public:
  Join(const NativePass& native, const sample::RunCounts& counted, std::vector<std::string>& notes)
      : native_(native),
        counted_(counted),
        notes_(notes),
        active_(
            times_of(native.profile.result.timeline.entries()), native.cpu_seconds(),
            [&](sample::Trie::NodeId node) { return native.profile.result.tree[node].key; },
            sample::ActiveTime::Lifetime{
                native.start,
                native.start + static_cast<std::uint64_t>(native.counts.wall.count())}) {
    for (const auto& function : counted.functions)
      if (auto work = work_of(function.counts))
        work_by_function_[{function.name, function.binary}] += *work;
  }

  std::vector<Subject> subjects() {
    std::vector<Subject> all{run()};
    if (samples() < kFewSamples) {
      notes_.push_back(fmt::format(
          "the program ran too short to tell its functions apart ({} samples of 2.5 ms)",
          samples()));
      return all;
    }
    for (auto part : {threads(), functions(), slices()})
      all.insert(all.end(), part.begin(), part.end());
    note_idle_time();
    return all;
  }

 private:
  [[nodiscard]] std::uint64_t samples() const {
    std::uint64_t sum = 0;
    for (const sample::Spent& spent : active_.spent()) sum += spent.samples;
    return sum;
  }

  // The times of functions are then less than the whole.
  void note_idle_time() {
    constexpr double kWorthSaying = 0.05;
    double busy = 0;
    for (const sample::Spent& spent : active_.spent()) busy += spent.seconds;
    const double idle = 1 - busy / to_seconds(native_.counts.wall);
    if (idle < kWorthSaying) return;
    notes_.push_back(
        fmt::format("for {:.0f} % of the time none of its threads ran: it waited, or other "
                    "programs had the CPUs",
                    idle * 100));
  }

  // Their time is sampled, whatever their counts are.
  [[nodiscard]] Basis basis_of_parts() const {
    return basis_of(counted_) == Basis::modelled ? Basis::modelled : Basis::scaled;
  }

  // The virtual PMU counts for each of them; counters of the machine are sampled.
  [[nodiscard]] Basis basis_of_their_work() const {
    return is_by_counters(counted_) ? basis_of_parts() : Basis::counted;
  }

  [[nodiscard]] Subject run() const {
    Subject subject;
    subject.name = native_.counts.target;
    std::vector<sample::Count> totals;
    for (const sample::CountedEvent& event : counted_.events) totals.push_back(event.total);
    subject.work = work_of(totals);
    subject.basis = subject.work_basis = basis_of(counted_);
    subject.seconds = to_seconds(native_.counts.wall);
    if (subject.seconds > 0)
      subject.concurrency = std::max(1.0, native_.cpu_seconds() / subject.seconds);
    return subject;
  }

  // Threads are matched by the order in which they were made.
  [[nodiscard]] std::vector<Subject> threads() {
    std::map<std::uint32_t, Subject> by_tid;
    for (const std::uint32_t tid : native_.recording->history().tids()) by_tid[tid];
    // A thread alone stands under the roofs of one thread, in its own run time.
    for (const sample::Spent& spent : active_.spent())
      by_tid[spent.tid].seconds += spent.cpu_seconds;
    const auto counted = threads_of(counted_);
    std::vector<Subject> all;
    const bool same_run = is_by_counters(counted_);
    if (!same_run && by_tid.size() != counted.size()) {
      notes_.push_back(
          fmt::format("threads are not shown: there were {} natively and {} under "
                      "the virtual PMU",
                      by_tid.size(), counted.size()));
      return all;
    }
    auto next = counted.begin();
    for (auto& [tid, subject] : by_tid) {
      const auto found = same_run ? counted.find(tid) : next++;
      subject.scope = Scope::thread;
      subject.tid = tid;
      subject.name = native_.name_of(tid);
      if (found != counted.end()) {
        subject.name = found->second.comm;
        subject.work = work_of(found->second.counts);
      }
      subject.basis = basis_of_parts();
      subject.work_basis = basis_of_their_work();
      all.push_back(subject);
    }
    return all;
  }

  [[nodiscard]] std::vector<Subject> functions() {
    struct Sum {
      double seconds = 0;
      double cpu = 0;
      std::uint64_t samples = 0;
    };
    std::map<FunctionKey, Sum> sums;
    for (const sample::Spent& spent : active_.spent()) {
      Sum& sum = sums[native_.function(spent.function)];
      sum.seconds += spent.seconds;
      sum.cpu += spent.cpu_seconds;
      sum.samples += spent.samples;
    }
    const auto all_samples = static_cast<double>(samples());
    std::vector<Subject> all;
    const auto subject_of = [this](const FunctionKey& key) {
      Subject subject;
      subject.scope = Scope::function;
      subject.name = key.first;
      subject.binary = key.second;
      subject.basis = basis_of_parts();
      subject.work_basis = basis_of_their_work();
      return subject;
    };
    for (const auto& [key, sum] : sums) {
      Subject subject = subject_of(key);
      const auto work = work_by_function_.find(key);
      if (work != work_by_function_.end()) subject.work = work->second;
      subject.seconds = sum.seconds;
      if (sum.seconds > 0) subject.concurrency = sum.cpu / sum.seconds;
      const auto count = static_cast<double>(sum.samples);
      subject.time_error = 1.96 * std::sqrt((1 - count / all_samples) / count);
      all.push_back(std::move(subject));
      cpu_by_function_[key] = sum.cpu;
    }
    for (const auto& [key, work] : work_by_function_) {
      if (sums.contains(key)) continue;
      Subject subject = subject_of(key);  // counted, but never seen by a sample
      subject.work = work;
      all.push_back(std::move(subject));
    }
    return all;
  }

  // Each function's work is spread evenly over its own time.
  [[nodiscard]] std::vector<Subject> slices() {
    std::vector<Subject> all;
    const double seconds = to_seconds(native_.counts.wall);
    const auto count =
        std::clamp<std::size_t>(static_cast<std::size_t>(seconds / kLeastSlice), 1, kMostSlices);
    for (const auto& slice : active_.slices(count)) {
      Subject subject;
      subject.scope = Scope::slice;
      subject.start = slice.start;
      subject.end = slice.end;
      subject.basis = subject.work_basis = Basis::modelled;
      subject.seconds = slice.end - slice.start;
      subject.work = Work{};
      double cpu = 0;
      double busy = 0;
      double most = 0;
      for (const sample::Spent& spent : slice.spent) {
        const FunctionKey key = native_.function(spent.function);
        cpu += spent.cpu_seconds;
        busy += spent.seconds;
        if (spent.cpu_seconds > most) {
          most = spent.cpu_seconds;
          subject.name = key.first;  // what it did most
        }
        const auto work = work_by_function_.find(key);
        const double of_function = cpu_by_function_[key];
        if (work != work_by_function_.end() && of_function > 0)
          *subject.work += work->second.scaled_by(spent.cpu_seconds / of_function);
      }
      if (busy > 0) subject.concurrency = cpu / busy;
      all.push_back(std::move(subject));
    }
    return all;
  }

  const NativePass& native_;
  const sample::RunCounts& counted_;
  std::vector<std::string>& notes_;
  sample::ActiveTime active_;
  std::map<FunctionKey, Work> work_by_function_;
  std::map<FunctionKey, double> cpu_by_function_;
};

}  // namespace

std::optional<Work> work_of(const std::vector<sample::Count>& counts) {
  if (counts.size() < kRoofEventCount) return std::nullopt;
  std::vector<double> values{0};
  for (std::size_t i = 1; i < kRoofEventCount; ++i) {
    if (!counts[i].is_available()) return std::nullopt;
    values.push_back(counts[i].value());
  }
  std::optional<double> instructions;
  if (counts[0].is_available()) instructions = counts[0].value();
  // Widths matter as proportions: instructions times lanes.
  const model::FlopsByWidth widths{values[5] + values[6], values[7] * 4 + values[8] * 2,
                                   values[9] * 8 + values[10] * 4,
                                   values[11] * 16 + values[12] * 8};
  return Work{values[3], values[4], values[1] + values[2], instructions, widths, values[13]};
}

std::map<std::uint32_t, sample::ThreadCounts> threads_of(const sample::RunCounts& counted) {
  std::map<std::uint32_t, sample::ThreadCounts> all;
  for (const sample::ThreadCounts& part : counted.threads) {
    const auto [entry, is_new] = all.try_emplace(static_cast<std::uint32_t>(part.tid), part);
    if (is_new) continue;
    entry->second.comm = part.comm;
    for (std::size_t i = 0; i < part.counts.size() && i < entry->second.counts.size(); ++i)
      entry->second.counts[i] += part.counts[i];
  }
  return all;
}

bool is_by_counters(const sample::RunCounts& counted) { return counted.source == kByCounters; }

double NativePass::cpu_seconds() const { return counts.events.front().total.value() * 1e-9; }

FunctionKey NativePass::function(std::uint32_t id) const {
  const sample::Function& function = profile.locations->function(id);
  const bool has_binary = function.binary != sample::Function::kNoBinary;
  return {function.name, has_binary ? recording->history().binaries()[function.binary].path : ""};
}

std::string NativePass::name_of(std::uint32_t tid) const {
  const sample::TaskHistory& history = recording->history();
  return history.names()[history.comm_at(tid, ~std::uint64_t{0})];
}

Result<NativeRun> run_natively(const source::perf_events::SamplingRequest& sampling) {
  NativeRun native;
  LOFT_TRY(native.run, source::perf_events::SamplingRun::prepare(sampling));
  source::CountRequest request;
  request.command = sampling.command;
  request.pids = sampling.pids;
  auto energy = source::energy::EnergyUsage::start();
  source::WatchOptions options;
  if (energy.has_gauges()) {
    options.interval = kEnergyStep;
    options.on_interval = [&](const auto&) { energy.look(); };
  }
  LOFT_TRY(native.counts, source::watch(*native.run, request, options));
  native.counts.intervals.clear();
  native.counts.energy = energy.so_far();
  return native;
}

Result<NativePass> profile_of(NativeRun& run) {
  LOFT_TRY(auto recording, run.run->finish());
  return profile_of(std::move(run.counts), std::move(recording));
}

Result<NativePass> profile_of(sample::RunCounts counts,
                              std::unique_ptr<source::Recording> recording) {
  NativePass pass;
  pass.counts = std::move(counts);
  pass.recording = std::move(recording);
  pass.start = start_of(*pass.recording);
  sample::ProfileOptions options;
  options.tree = options.timeline = true;
  LOFT_TRY(pass.profile, source::profile_recording(*pass.recording, options, {},
                                                   std::thread::hardware_concurrency()));
  return pass;
}

Result<sample::RunCounts> run_counted(const std::vector<std::string>& command,
                                      StandardStreams streams) {
  event::Resolver resolver(known_names(true));
  source::CountRequest request;
  LOFT_TRY(request.events, resolver.resolve_list(std::string(kRoofEvents)));
  request.command = command;
  request.streams = streams;
  request.split = source::Split::thread_functions;
  LOFT_TRY(const auto run, source::virtual_pmu::prepare(request));
  return source::watch(*run, request, {});
}

std::vector<Subject> join_passes(const NativePass& native, const sample::RunCounts& counted,
                                 std::vector<std::string>& notes) {
  return Join(native, counted, notes).subjects();
}

std::optional<view::PageSchedule> schedule_of(const NativePass& native) {
  view::PageSchedule schedule;
  for (const source::RunSlice& slice : source::read_schedule(*native.recording)) {
    const auto seconds = [&](std::uint64_t time) {
      return static_cast<double>(std::max(time, native.start) - native.start) * 1e-9;
    };
    schedule.add(slice.tid, slice.cpu.value_or(view::PageSchedule::kNoCpu), seconds(slice.start),
                 seconds(slice.end));
  }
  return schedule.tid.empty() ? std::nullopt : std::optional(std::move(schedule));
}

std::vector<view::PageThread> thread_names_of(const NativePass& native) {
  std::vector<view::PageThread> threads;
  for (const std::uint32_t tid : native.recording->history().tids())
    threads.push_back({tid, native.name_of(tid)});
  return threads;
}

std::vector<view::PageFlame> flames_of(const NativePass& native) {
  const sample::ProfileResult& result = native.profile.result;
  const sample::RecordingSummary& summary = native.recording->summary();
  const sample::NamedProfile named{summary, result, *native.profile.locations,
                                   native.recording->history(),
                                   sample::events_of(summary.metadata.events, result)};
  const auto tree = sample::make_call_tree(result.tree, *native.profile.locations,
                                           sample::TreeOrder::from_callers);
  return view::page_flames(named, tree);
}

}  // namespace loft::cli
