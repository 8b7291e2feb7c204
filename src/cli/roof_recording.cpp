#include "cli/roof_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/roof_passes.hpp"
#include "event/virtual_names.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/tasks.hpp"

namespace loft::cli {
namespace {

using model::Basis;
using model::Scope;
using model::Subject;

// What the engine adds, in seconds: a counter per block, thus nearly per branch; a search for the
// place to go where the target is not in the instruction. Fitted to compressors, interpreters, a
// database and sort on Zen 4; what is left out is the translation of code that runs once or twice.
constexpr double kPerBranch = 0.15e-9;
constexpr double kPerSearch = 2.8e-9;
// It never takes most of the time: where the estimate says so, the estimate is wrong.
constexpr double kLeastShare = 0.25;

double without_engine(double seconds, double engine) {
  return std::max(seconds - engine, kLeastShare * seconds);
}

// kRoofEvents, then kEngineEvents.
std::vector<std::string> event_names() {
  std::vector<std::string> names;
  for (const std::string_view list : {kRoofEvents, kEngineEvents})
    for (const std::string_view name : split(list, ','))
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

// Counts of these events, added up.
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
  [[nodiscard]] double engine_seconds() const {
    const std::uint64_t* cost = counts_.data() + kRoofEventCount;
    return kPerBranch * static_cast<double>(cost[0]) +
           kPerSearch * static_cast<double>(cost[1] + cost[2] + cost[3]);
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
    wall_ = fact("wall_ns") * 1e-9;
    run_.exit_status = static_cast<int>(fact("exit_status"));
    for (const sample::TaskRow& task : table_.tasks)
      cpu_ += static_cast<double>(task.run_ns.value_or(0)) * 1e-9;
    add_run();
    add_threads();
    LOFT_CHECK(add_functions());
    add_slices();
    run_.notes.push_back(
        fmt::format("one run, under the virtual PMU, which took {}: times are estimates of what "
                    "they would have "
                    "been without, by function in proportion to instructions; 'loft roof -- CMD' "
                    "without --once "
                    "measures them",
                    format_seconds(wall_)));
    return std::move(run_);
  }

 private:
  [[nodiscard]] double fact(std::string_view key) const {
    return static_cast<double>(
        parse_u64(source::loft_fact(recording_.metadata(), key)).value_or(0));
  }

  [[nodiscard]] double concurrency() const { return wall_ > 0 ? std::max(1.0, cpu_ / wall_) : 1; }

  void add_run() {
    Subject subject;
    subject.name = join(run_.command, " ");
    Sum sum;
    for (const sample::TaskRow& task : table_.tasks) sum.add(task.counted.counts, places_);
    subject.work = sum.work();
    subject.concurrency = concurrency();
    subject.seconds = without_engine(wall_, sum.engine_seconds() / subject.concurrency);
    subject.basis = Basis::modelled;
    run_.wall_seconds = subject.seconds;
    run_.cpu_seconds = without_engine(cpu_, sum.engine_seconds());
    run_.subjects.push_back(std::move(subject));
  }

  void add_threads() {
    for (const sample::TaskRow& task : table_.tasks) {
      Subject subject;
      Sum sum;
      sum.add(task.counted.counts, places_);
      subject.scope = Scope::thread;
      subject.name = task.comm;
      subject.tid = task.tid;
      subject.work = sum.work();
      subject.seconds =
          without_engine(static_cast<double>(task.run_ns.value_or(0)) * 1e-9, sum.engine_seconds());
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
      if (places_[0] < slice.counted.counts.size())
        share.instructions += slice.counted.counts[places_[0]];
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
    const auto place_of = [&](std::uint32_t event) {
      return static_cast<std::size_t>(std::ranges::find(events, event) - events.begin());
    };
    for (const sample::Trie::Node& node : profile.result.rows.nodes()) {
      const sample::Trie::Node& event = profile.result.rows[node.parent];
      const std::size_t place = place_of(event.key);
      if (node.parent != sample::Trie::kRoot && place < events.size())
        functions[node.key].sum.add(place, node.self.period);
    }
    const Shares slices = shares();
    const sample::Timeline& timeline = profile.result.timeline;
    for (const sample::TimelineEntry& entry : timeline.entries()) {
      const auto slice = slices.lower_bound({entry.tid, entry.time});
      if (place_of(entry.event) != 0 || slice == slices.end() || slice->first.first != entry.tid ||
          slice->second.instructions == 0)
        continue;
      functions[profile.result.tree[entry.node].key].cpu_seconds +=
          static_cast<double>(slice->second.run_ns) * 1e-9 * static_cast<double>(entry.period) *
          timeline.step() / static_cast<double>(slice->second.instructions);
    }
    for (const auto& [id, done] : functions) {
      const sample::Function& function = profile.locations->function(id);
      Subject subject;
      subject.scope = Scope::function;
      subject.name = function.name;
      if (function.binary != sample::Function::kNoBinary)
        subject.binary = recording_.history().binaries()[function.binary].path;
      subject.work = done.sum.work();
      subject.concurrency = concurrency();
      subject.seconds =
          without_engine(done.cpu_seconds, done.sum.engine_seconds()) / subject.concurrency;
      subject.basis = Basis::modelled;
      run_.subjects.push_back(std::move(subject));
    }
    return {};
  }

  // All threads together, from look to look.
  void add_slices() {
    std::map<std::uint64_t, std::pair<Sum, std::uint64_t>> by_end;
    for (const sample::TaskSlice& slice : table_.slices) {
      auto& [sum, run_ns] = by_end[slice.end];
      sum.add(slice.counted.counts, places_);
      run_ns += slice.run_ns;
    }
    std::uint64_t start = table_.first_time;
    double clock = 0;  // of the program without the engine
    for (const auto& [end, done] : by_end) {
      if (end < start) continue;
      Subject subject;
      subject.scope = Scope::slice;
      subject.work = done.first.work();
      const double lasted = static_cast<double>(end - start) * 1e-9;
      if (lasted > 0)
        subject.concurrency = std::max(1.0, static_cast<double>(done.second) * 1e-9 / lasted);
      subject.seconds = without_engine(lasted, done.first.engine_seconds() / subject.concurrency);
      subject.start = clock;
      subject.end = clock += subject.seconds;
      subject.basis = Basis::modelled;
      start = std::max(start, end);
      if (subject.seconds > 0) run_.subjects.push_back(std::move(subject));
    }
  }

  const source::Recording& recording_;
  sample::TaskTable table_;
  std::vector<std::size_t> places_;  // of the events in the table's counters
  double wall_ = 0;                  // under the engine, in seconds
  double cpu_ = 0;
  CountedRun run_;
};

}  // namespace

bool is_counted(const source::Recording& recording) {
  const auto names = names_of(recording);
  const auto places = places_in(names);
  return std::all_of(places.begin(), places.begin() + kRoofEventCount,
                     [&](std::size_t place) { return place < names.size(); });
}

Result<CountedRun> read_counted(const source::Recording& recording) {
  return Reader(recording).read();
}

}  // namespace loft::cli
