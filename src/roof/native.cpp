#include "roof/native.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "base/units.hpp"
#include "sample/energy_share.hpp"
#include "source/energy/usage.hpp"
#include "source/watch.hpp"

namespace loft::roof {
namespace {

// Some meters move a thousand times a second, some once: their course has steps of this length, or
// of their own where that is longer.
constexpr Nanoseconds kEnergyStep = std::chrono::milliseconds(20);
// So often somebody looks at what the machine gives: a program of a second is seen some 25 times.
constexpr Nanoseconds kLookStep = 2 * kEnergyStep;

// The samples of the run time; those of other events say what was done, not how long it took.
std::vector<sample::TimelineEntry> times_of(const std::vector<sample::TimelineEntry>& timeline) {
  std::vector<sample::TimelineEntry> times;
  std::ranges::copy_if(timeline, std::back_inserter(times),
                       [](const auto& entry) { return entry.event == 0; });
  return times;
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

}  // namespace

Result<NativeRun> run_natively(const source::scheduler::SampledRunRequest& sampling,
                               const std::function<void(pid_t)>& look) {
  NativeRun native;
  LOFT_TRY(native.run, source::scheduler::SampledRun::prepare(sampling));
  source::CountRequest request;
  request.command = sampling.command;
  request.pids = sampling.pids;
  auto energy = source::energy::EnergyUsage::start();
  source::WatchOptions options;
  if (look && !sampling.command.empty()) options.interval = kLookStep;
  if (energy.has_gauges()) options.interval = kEnergyStep;
  std::uint64_t step = 0;
  options.on_interval = [&](const auto&) {
    if (energy.has_gauges()) energy.poll();
    const bool is_time_to_look = !energy.has_gauges() || step++ % (kLookStep / kEnergyStep) == 0;
    if (look && is_time_to_look && native.run->program() != nullptr)
      look(native.run->program()->pid());
  };
  LOFT_TRY(native.counts, source::watch(*native.run, request, options));
  native.counts.intervals.clear();
  native.counts.energy = energy.so_far();
  return native;
}

Result<NativeProfile> profile_of(sample::RunCounts counts,
                                 std::unique_ptr<source::Recording> recording) {
  NativeProfile native;
  native.counts = std::move(counts);
  native.recording = std::move(recording);
  native.start = start_of(*native.recording);
  sample::ProfileOptions options;
  options.tree = options.timeline = true;
  const unsigned workers = std::thread::hardware_concurrency();
  LOFT_TRY(native.profile, source::profile_recording(*native.recording, options, {}, workers));
  sample::AddressProfile addresses(native.recording->history(), *native.profile.locations, 0);
  native.recording->for_each_sample(workers,
                                    [&](unsigned number) { return addresses.worker(number); });
  native.addresses = addresses.finish();
  return native;
}

double NativeProfile::cpu_seconds() const { return counts.events.front().total.value() * 1e-9; }

FunctionKey NativeProfile::function(std::uint32_t id) const {
  const sample::Function& function = profile.locations->function(id);
  const bool has_binary = function.binary != sample::Function::kNoBinary;
  return {function.name, has_binary ? recording->history().binaries()[function.binary].path : ""};
}

std::vector<model::ThreadName> NativeProfile::threads() const {
  const sample::TaskHistory& history = recording->history();
  std::vector<model::ThreadName> threads;
  std::set<std::uint32_t> tids = profile.result.tids;
  for (const std::uint32_t tid : history.tids()) tids.insert(tid);
  for (const std::uint32_t tid : tids)
    threads.push_back({tid, history.names()[history.comm_at(tid, ~std::uint64_t{0})]});
  return threads;
}

NativeTimes NativeProfile::times() const {
  const auto function_of = [this](sample::Trie::NodeId node) {
    return profile.result.tree[node].key;
  };
  NativeTimes times{
      counts.target,
      to_seconds(counts.wall),
      cpu_seconds(),
      sample::ActiveTime(times_of(profile.result.timeline.entries()), cpu_seconds(), function_of,
                         sample::ActiveTime::Lifetime{
                             start, start + static_cast<std::uint64_t>(counts.wall.count())}),
      {},
      threads()};
  for (const sample::Spent& spent : times.active.spent())
    times.functions.try_emplace(spent.function, function(spent.function));
  return times;
}

std::vector<model::FunctionEnergy> NativeProfile::energy_of_functions() const {
  std::vector<sample::PlacedWeight> samples;
  for (const sample::TimelineEntry& entry : times_of(profile.result.timeline.entries()))
    samples.push_back({static_cast<double>(entry.time - std::min(entry.time, start)) * 1e-9,
                       profile.result.tree[entry.node].key, static_cast<double>(entry.period)});
  std::map<FunctionKey, std::vector<double>> joules;
  for (std::size_t i = 0; i < counts.energy.size(); ++i) {
    if (counts.energy[i].is_gpu) continue;
    const auto shares = sample::share_energy(counts.energy[i].over_time, samples);
    for (const auto& [id, share] : shares.of_place) {
      auto& of_function = joules[function(id)];
      of_function.resize(counts.energy.size());
      of_function[i] += share.joules;
    }
  }
  std::vector<model::FunctionEnergy> functions;
  for (auto& [key, used] : joules) functions.push_back({key.name, key.binary, std::move(used)});
  std::ranges::stable_sort(functions, std::greater{}, [](const model::FunctionEnergy& function) {
    return *std::ranges::max_element(function.joules);
  });
  return functions;
}

sample::NamedProfile NativeProfile::named() const {
  const sample::RecordingSummary& summary = recording->summary();
  return {summary, profile.result, *profile.locations, recording->history(),
          sample::events_of(summary.metadata.events, profile.result)};
}

}  // namespace loft::roof
