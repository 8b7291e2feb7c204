#include "cli/roof_once.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/names.hpp"
#include "cli/roof_passes.hpp"
#include "source/virtual/counting.hpp"
#include "source/watch.hpp"

namespace loft::cli {
namespace {

using model::Basis;
using model::Scope;
using model::Subject;
using model::Work;
using sample::Count;

constexpr Nanoseconds kBetweenReadings = std::chrono::milliseconds(20);
constexpr std::size_t kMostSlices = 400;

// What the engine adds, in seconds: a counter per block, thus nearly per branch; a search for the
// place to go where the target is not in the instruction. Fitted to compressors, interpreters, a
// database and sort on Zen 4; what is left out is the translation of code that runs once or twice.
constexpr std::string_view kCostEvents =
    "branches,branches_indirect_jump,branches_indirect_call,branches_return";
constexpr double kPerBranch = 0.15e-9;
constexpr double kPerSearch = 2.8e-9;
// It never takes most of the time: where the estimate says so, the estimate is wrong.
constexpr double kLeastShare = 0.25;

double at(const std::vector<Count>& counts, std::size_t i) {
  return i < counts.size() && counts[i].is_available() ? counts[i].value() : 0;
}

double engine_seconds(const std::vector<Count>& counts) {
  const std::size_t first = kRoofEventCount;
  return kPerBranch * at(counts, first) +
         kPerSearch * (at(counts, first + 1) + at(counts, first + 2) + at(counts, first + 3));
}

double without_engine(double seconds, double engine) {
  return std::max(seconds - engine, kLeastShare * seconds);
}

double instructions_of(const std::vector<Count>& counts) { return at(counts, 0); }

using Key = std::pair<std::string, std::string>;  // name and binary of a function

// Follows the counters while the program runs, and shares out the time between two readings.
class Follower {
 public:
  void take(const source::Reading& reading) {
    const double end = to_seconds(reading.time);
    const double seconds = end - time_;
    const double start = std::exchange(time_, end);
    const std::size_t running = count_running(reading);
    std::map<Key, double> sums;  // a binary may have several functions of one name
    for (const sample::FunctionCounts& each : reading.functions)
      sums[{each.name, each.binary}] += instructions_of(each.counts);
    double all = 0;
    for (auto& [key, sum] : sums) {
      const double more = sum - std::exchange(functions_[key].instructions, sum);
      all += sum = std::max(more, 0.0);
    }
    Slice slice{start, end, static_cast<double>(std::max<std::size_t>(running, 1)), {}, {}};
    double most = 0;
    for (const auto& [key, more] : sums) {
      if (more == 0) continue;
      Function& function = functions_[key];
      function.seconds += seconds * more / all;
      function.cpu_seconds += seconds * more / all * slice.running;
      if (more > most) {
        most = more;
        slice.name = key.first;
      }
    }
    slice.totals = reading.totals;
    slices_.push_back(std::move(slice));
    if (slices_.size() >= 2 * kMostSlices) join_pairs();
  }

  // Everything but the whole run. `final` has the counts of the end.
  std::vector<Subject> subjects(const sample::RunCounts& final) const {
    std::vector<Subject> all;
    std::map<Key, std::pair<std::optional<Work>, double>> done;  // work, and the engine's part
    for (const sample::FunctionCounts& counted : final.functions) {
      auto& [work, engine] = done[{counted.name, counted.binary}];
      engine += engine_seconds(counted.counts);
      if (const auto more = work_of(counted.counts)) work = work ? * work += *more : *more;
    }
    for (const auto& [key, counted] : done) {
      Subject subject;
      subject.scope = Scope::function;
      std::tie(subject.name, subject.binary) = key;
      subject.basis = Basis::modelled;
      subject.work = counted.first;
      const auto found = functions_.find(key);
      if (found != functions_.end() && found->second.seconds > 0) {
        const Function& function = found->second;
        subject.concurrency = function.cpu_seconds / function.seconds;
        subject.seconds = without_engine(function.seconds, counted.second / subject.concurrency);
      }
      all.push_back(std::move(subject));
    }
    std::vector<Count> before;
    double clock = 0;  // of the program without the engine
    for (const Slice& slice : slices_) {
      std::vector<Count> counts = slice.totals;
      for (std::size_t i = 0; i < before.size(); ++i) counts[i] = counts[i].since(before[i]);
      before = slice.totals;
      Subject subject;
      subject.scope = Scope::slice;
      subject.name = slice.name;
      subject.basis = Basis::modelled;
      subject.concurrency = slice.running;
      subject.seconds =
          without_engine(slice.end - slice.start, engine_seconds(counts) / slice.running);
      subject.start = clock;
      subject.end = clock += subject.seconds;
      subject.work = work_of(counts);
      if (subject.seconds > 0) all.push_back(std::move(subject));
    }
    return all;
  }

 private:
  struct Function {
    double instructions = 0;  // at the last reading
    double seconds = 0;
    double cpu_seconds = 0;
  };
  struct Slice {
    double start = 0;
    double end = 0;
    double running = 1;         // threads that got on meanwhile
    std::string name;           // what it did most
    std::vector<Count> totals;  // at its end
  };

  std::size_t count_running(const source::Reading& reading) {
    std::size_t running = 0;
    for (const sample::ThreadCounts& thread : reading.threads) {
      const double now = instructions_of(thread.counts);
      if (now > std::exchange(threads_[{thread.pid, thread.tid}], now)) ++running;
    }
    return running;
  }

  void join_pairs() {
    std::vector<Slice> joined;
    for (std::size_t i = 0; i + 1 < slices_.size(); i += 2) {
      Slice both = std::move(slices_[i + 1]);
      both.start = slices_[i].start;
      both.running = (both.running + slices_[i].running) / 2;
      joined.push_back(std::move(both));
    }
    slices_ = std::move(joined);
  }

  double time_ = 0;
  std::map<Key, Function> functions_;
  std::map<std::pair<pid_t, pid_t>, double> threads_;
  std::vector<Slice> slices_;
};

Subject whole_run(const OnceRun& run) {
  Subject subject;
  subject.name = run.counts.target;
  subject.basis = Basis::modelled;
  subject.seconds = run.seconds;
  if (run.seconds > 0) subject.concurrency = std::max(1.0, run.cpu_seconds / run.seconds);
  std::vector<Count> totals;
  for (const sample::CountedEvent& event : run.counts.events) totals.push_back(event.total);
  subject.work = work_of(totals);
  return subject;
}

}  // namespace

Result<OnceRun> run_once(const std::vector<std::string>& command) {
  event::Resolver resolver(known_names(true));
  source::CountRequest request;
  LOFT_TRY(request.events,
           resolver.resolve_list(std::string(kRoofEvents) + "," + std::string(kCostEvents)));
  request.command = command;
  request.split = source::Split::thread_functions;
  Follower follower;
  source::WatchOptions options;
  options.interval = kBetweenReadings;
  options.on_reading = [&follower](const source::Reading& reading) { follower.take(reading); };
  OnceRun run;
  LOFT_TRY(const auto counting, source::virtual_pmu::prepare(request));
  LOFT_TRY(run.counts, source::watch(*counting, request, options));
  run.counts.intervals.clear();

  std::vector<Count> totals;
  for (const sample::CountedEvent& event : run.counts.events) totals.push_back(event.total);
  const double wall = to_seconds(run.counts.wall);
  const auto seconds = [](const std::optional<Nanoseconds>& time) {
    return to_seconds(time.value_or(Nanoseconds{}));
  };
  const double cpu = seconds(run.counts.user) + seconds(run.counts.system);
  const double engine = engine_seconds(totals);
  run.cpu_seconds = without_engine(cpu, engine);
  run.seconds = without_engine(wall, wall > 0 ? engine / std::max(1.0, cpu / wall) : 0);
  run.subjects.push_back(whole_run(run));
  std::ranges::move(follower.subjects(run.counts), std::back_inserter(run.subjects));
  return run;
}

}  // namespace loft::cli
