#include "cli/roof_recording.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "base/text.hpp"
#include "cli/roof_passes.hpp"
#include "event/virtual_names.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/tasks.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::cli {
namespace {

using model::Basis;
using model::Scope;
using model::Subject;

std::vector<std::string> event_names() {
  std::vector<std::string> names;
  for (const std::string_view name : split(kRoofEvents, ','))
    names.push_back(std::string(event::kVirtualPrefix) + std::string(name));
  return names;
}

// Where each of them stands in a list of names, or one past it.
std::vector<std::size_t> places_in(const std::vector<std::string>& names) {
  std::vector<std::size_t> places;
  for (const std::string& wanted : event_names())
    places.push_back(static_cast<std::size_t>(std::ranges::find(names, wanted) - names.begin()));
  return places;
}

std::vector<std::string> names_of(const source::Recording& recording) {
  std::vector<std::string> names;
  for (const auto& event : recording.metadata().events) names.push_back(event.name);
  return names;
}

// Counts of kRoofEvents, added up.
class Sum {
 public:
  void add(std::size_t event, std::uint64_t count) { counts_[event] += count; }
  void add(const std::vector<std::uint64_t>& counts, const std::vector<std::size_t>& places) {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] < counts.size()) counts_[i] += counts[places[i]];
  }
  [[nodiscard]] std::optional<model::Work> work() const {
    std::vector<sample::Count> counts;
    for (const std::uint64_t count : counts_) counts.push_back(sample::Count::exact(count));
    return work_of(counts);
  }

 private:
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(event_names().size());
};

class Reader {
 public:
  explicit Reader(const source::Recording& recording)
      : recording_(recording),
        table_(source::read_tasks(recording)),
        places_(places_in(table_.counters)) {}

  Result<CountedRun> read() {
    const auto& words = recording_.metadata().command_line;
    if (words.size() > 2) run_.command.assign(words.begin() + 2, words.end());  // loft record
    run_.wall_seconds = fact("wall_ns") * 1e-9;
    run_.exit_status = static_cast<int>(fact("exit_status"));
    for (const sample::TaskRow& task : table_.tasks)
      run_.cpu_seconds += static_cast<double>(task.run_ns.value_or(0)) * 1e-9;
    add_run();
    add_threads();
    LOFT_CHECK(add_functions());
    add_slices();
    run_.notes.push_back(
        "time is that of the run under the virtual PMU, shared among functions by their "
        "instructions: rates are a lower bound; 'loft roof -- CMD' measures the native time");
    return std::move(run_);
  }

 private:
  [[nodiscard]] double fact(std::string_view key) const {
    for (const auto& [bit, text] : recording_.metadata().other_features)
      if (bit == source::scheduler::kLoftFeature)
        for (const std::string_view line : split(text, '\n'))
          if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
            return static_cast<double>(parse_u64(line.substr(key.size() + 1)).value_or(0));
    return 0;
  }

  [[nodiscard]] double concurrency() const {
    return run_.wall_seconds > 0 ? std::max(1.0, run_.cpu_seconds / run_.wall_seconds) : 1;
  }

  void add_run() {
    Subject subject;
    subject.name = join(run_.command, " ");
    Sum sum;
    for (const sample::TaskRow& task : table_.tasks) sum.add(task.counts, places_);
    subject.work = sum.work();
    subject.seconds = run_.wall_seconds;
    subject.concurrency = concurrency();
    subject.basis = Basis::modelled;
    run_.subjects.push_back(std::move(subject));
  }

  void add_threads() {
    for (const sample::TaskRow& task : table_.tasks) {
      Subject subject;
      Sum sum;
      sum.add(task.counts, places_);
      subject.scope = Scope::thread;
      subject.name = task.comm;
      subject.tid = task.tid;
      subject.work = sum.work();
      subject.seconds = static_cast<double>(task.run_ns.value_or(0)) * 1e-9;
      subject.basis = Basis::modelled;
      run_.subjects.push_back(std::move(subject));
      ++run_.threads;
    }
  }

  // A slice of one thread, by its end: what it ran, and how many instructions share that.
  struct Share {
    std::uint64_t run_ns = 0;
    std::uint64_t instructions = 0;
  };
  using Shares = std::map<std::pair<std::uint32_t, std::uint64_t>, Share>;

  [[nodiscard]] Shares shares() const {
    Shares all;
    for (const sample::TaskSlice& slice : table_.slices) {
      Share& share = all[{table_.tasks[slice.task].tid, slice.end}];
      share.run_ns += slice.run_ns;
      if (places_[0] < slice.counts.size()) share.instructions += slice.counts[places_[0]];
    }
    return all;
  }

  Result<void> add_functions() {
    sample::ProfileOptions options;
    options.tree = options.timeline = true;
    LOFT_TRY(const auto profile, source::profile_recording(recording_, options, {},
                                                           std::thread::hardware_concurrency()));
    const std::vector<std::size_t> events = places_in(names_of(recording_));
    struct Done {
      Sum sum;
      double cpu_seconds = 0;
    };
    std::map<std::uint32_t, Done> functions;
    const Shares slices = shares();
    for (const sample::TimelineEntry& entry : profile.result.timeline) {
      const auto event = std::ranges::find(events, entry.event);
      if (event == events.end()) continue;
      Done& done = functions[profile.result.tree[entry.node].key];
      done.sum.add(static_cast<std::size_t>(event - events.begin()), entry.period);
      const auto slice = slices.lower_bound({entry.tid, entry.time});
      if (event != events.begin() || slice == slices.end() || slice->first.first != entry.tid ||
          slice->second.instructions == 0)
        continue;
      done.cpu_seconds += static_cast<double>(slice->second.run_ns) * 1e-9 *
                          static_cast<double>(entry.period) /
                          static_cast<double>(slice->second.instructions);
    }
    if (profile.result.timeline_is_cut)
      run_.notes.push_back("the recording is too long to tell its functions apart");
    for (const auto& [id, done] : functions) {
      const sample::Function& function = profile.locations->function(id);
      Subject subject;
      subject.scope = Scope::function;
      subject.name = function.name;
      if (function.binary != sample::Function::kNoBinary)
        subject.binary = recording_.history().binaries()[function.binary].path;
      subject.work = done.sum.work();
      subject.concurrency = concurrency();
      subject.seconds = done.cpu_seconds / subject.concurrency;
      subject.basis = Basis::modelled;
      if (!profile.result.timeline_is_cut) run_.subjects.push_back(std::move(subject));
    }
    return {};
  }

  // All threads together, from look to look.
  void add_slices() {
    std::map<std::uint64_t, std::pair<Sum, std::uint64_t>> by_end;
    for (const sample::TaskSlice& slice : table_.slices) {
      auto& [sum, run_ns] = by_end[slice.end];
      sum.add(slice.counts, places_);
      run_ns += slice.run_ns;
    }
    std::uint64_t start = table_.first_time;
    for (const auto& [end, done] : by_end) {
      Subject subject;
      subject.scope = Scope::slice;
      subject.start = static_cast<double>(start - table_.first_time) * 1e-9;
      subject.end = static_cast<double>(end - table_.first_time) * 1e-9;
      subject.work = done.first.work();
      subject.seconds = subject.end - subject.start;
      if (subject.seconds > 0)
        subject.concurrency =
            std::max(1.0, static_cast<double>(done.second) * 1e-9 / subject.seconds);
      subject.basis = Basis::modelled;
      start = std::max(start, end);
      if (subject.seconds > 0) run_.subjects.push_back(std::move(subject));
    }
  }

  const source::Recording& recording_;
  sample::TaskTable table_;
  std::vector<std::size_t> places_;  // of kRoofEvents in the table's counters
  CountedRun run_;
};

}  // namespace

bool is_counted(const source::Recording& recording) {
  const auto names = names_of(recording);
  return std::ranges::all_of(places_in(names),
                             [&](std::size_t place) { return place < names.size(); });
}

Result<CountedRun> read_counted(const source::Recording& recording) {
  return Reader(recording).read();
}

}  // namespace loft::cli
