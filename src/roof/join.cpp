#include "roof/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sample/repeat.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;
using model::Work;
using sample::Origin;

// Below this many samples functions are not told apart: each would be a guess.
constexpr std::uint64_t kFewSamples = 20;
constexpr double kLeastSlice = 0.02;  // seconds
constexpr std::size_t kMostSlices = 400;
// Time without a running thread is noise below this share of the whole.
constexpr double kIdleWorthSaying = 0.05;

// The thread with more than half of the time; 0 where no thread has.
std::uint32_t most_of(const std::map<std::uint32_t, double>& seconds) {
  double sum = 0;
  std::pair<std::uint32_t, double> most;
  for (const auto& thread : seconds) {
    sum += thread.second;
    if (thread.second > most.second) most = thread;
  }
  return most.second > sum / 2 ? most.first : 0;
}

class Join {
 public:
  Join(const NativeTimes& times, const CountedWork& counted) : times_(times), counted_(counted) {
    for (const FunctionWork& function : counted.functions) add_work(function);
    for (const sample::Spent& spent : times.active.spent()) {
      samples_ += spent.samples;
      busy_ += spent.seconds;
    }
    joined_.is_short = samples_ < kFewSamples;
    // Samples that are too few say nothing; threads that ran at once are then taken to take turns.
    if (joined_.is_short) busy_ = times.cpu_seconds;
    busy_ = std::min(busy_, times.wall_seconds);
  }

  Joined joined() {
    add_run();
    if (joined_.is_short) {
      joined_.notes.push_back(fmt::format(
          "the program ran too short to tell its functions apart ({} samples of 2.5 ms)",
          samples_));
      return std::move(joined_);
    }
    add_threads();
    add_functions();
    add_slices();
    return std::move(joined_);
  }

 private:
  // Functions that share a name and a binary are one; what one of them lacks, their sum lacks.
  void add_work(const FunctionWork& function) {
    const auto [entry, is_new] = work_by_function_.try_emplace(function.key, function.work);
    if (is_new) return;
    if (entry->second && function.work)
      *entry->second += *function.work;
    else
      entry->second.reset();
  }

  [[nodiscard]] std::optional<Work> work_of(const FunctionKey& key) const {
    const auto found = work_by_function_.find(key);
    return found == work_by_function_.end() ? std::nullopt : found->second;
  }

  [[nodiscard]] FunctionKey key_of(const sample::Spent& spent) const {
    const auto found = times_.functions.find(spent.function);
    return found == times_.functions.end() ? FunctionKey{} : found->second;
  }

  [[nodiscard]] double share(double seconds) const { return busy_ > 0 ? seconds / busy_ : 0; }

  // The time of a part is sampled, whatever its counts are.
  [[nodiscard]] Origin origin_of_parts() const {
    return counted_.origin == Origin::modelled ? Origin::modelled : Origin::scaled;
  }

  // The virtual PMU counts for each part; counters of the machine are sampled.
  [[nodiscard]] Origin origin_of_their_work() const {
    if (counted_.bytes_are_of_memory) return Origin::modelled;
    return counted_.by == CountedBy::counters ? origin_of_parts() : Origin::counted;
  }

  // Its own time is that in which at least one of its threads ran: what other programs had of the
  // CPUs, or what it slept, says nothing about how well it computes.
  void add_run() {
    Subject subject;
    subject.name = times_.name;
    subject.work = counted_.total;
    subject.origin = subject.work_origin = counted_.origin;
    if (counted_.bytes_are_of_memory) subject.work_origin = Origin::modelled;
    subject.seconds = times_.wall_seconds;
    subject.share_of_time = 1;
    const double idle = times_.wall_seconds > 0 ? 1 - busy_ / times_.wall_seconds : 0;
    if (idle >= kIdleWorthSaying && busy_ > 0) {
      subject.seconds = busy_;
      if (times_.threads.size() > 1) subject.origin = origin_of_parts();
      joined_.notes.push_back(
          fmt::format("for {:.0f} % of the time none of its threads ran: it waited, or other "
                      "programs had the CPUs; rates and shares are of the time in which it ran",
                      idle * 100));
    }
    if (subject.seconds > 0)
      subject.concurrency = std::max(1.0, times_.cpu_seconds / subject.seconds);
    joined_.subjects.push_back(std::move(subject));
  }

  // Counts of a run of its own are matched by the order in which threads were made.
  void add_threads() {
    // A thread alone stands under the roofs of one thread, in its own run time.
    std::map<std::uint32_t, double> seconds;
    for (const sample::Spent& spent : times_.active.spent())
      seconds[spent.tid] += spent.cpu_seconds;
    const bool same_run = counted_.by != CountedBy::virtual_pmu;
    if (!same_run && times_.threads.size() != counted_.threads.size()) {
      joined_.notes.push_back(
          fmt::format("threads are not shown: there were {} natively and {} under the virtual PMU",
                      times_.threads.size(), counted_.threads.size()));
      return;
    }
    for (std::size_t i = 0; i < times_.threads.size(); ++i) {
      const auto found =
          same_run ? std::ranges::find(counted_.threads, times_.threads[i].tid, &ThreadWork::tid)
                   : counted_.threads.begin() + static_cast<std::ptrdiff_t>(i);
      Subject subject;
      subject.scope = Scope::thread;
      subject.tid = times_.threads[i].tid;
      subject.name = times_.threads[i].name;
      if (found != counted_.threads.end()) {
        subject.name = found->name;
        subject.work = found->work;
      }
      subject.seconds = seconds[times_.threads[i].tid];
      subject.share_of_time = share(subject.seconds);
      subject.origin = origin_of_parts();
      subject.work_origin = origin_of_their_work();
      joined_.subjects.push_back(std::move(subject));
    }
  }

  [[nodiscard]] Subject function(const FunctionKey& key) const {
    Subject subject;
    subject.scope = Scope::function;
    subject.name = key.name;
    subject.binary = key.binary;
    subject.work = work_of(key);
    subject.origin = origin_of_parts();
    subject.work_origin = origin_of_their_work();
    return subject;
  }

  void add_functions() {
    struct Sum {
      double seconds = 0;
      double cpu = 0;
      std::uint64_t samples = 0;
      std::map<std::uint32_t, double> threads;  // CPU seconds of each
    };
    std::map<FunctionKey, Sum> sums;
    double all_seconds = 0;
    for (const sample::Spent& spent : times_.active.spent()) {
      Sum& sum = sums[key_of(spent)];
      sum.seconds += spent.seconds;
      sum.cpu += spent.cpu_seconds;
      sum.samples += spent.samples;
      sum.threads[spent.tid] += spent.cpu_seconds;
      all_seconds += spent.seconds;
    }
    for (const auto& [key, sum] : sums) {
      Subject subject = function(key);
      subject.seconds = sum.seconds;
      subject.share_of_time = all_seconds > 0 ? sum.seconds / all_seconds : 0;
      if (sum.seconds > 0) subject.concurrency = sum.cpu / sum.seconds;
      subject.mostly_in = most_of(sum.threads);
      subject.time_error = sample::share_error(
          static_cast<double>(sum.samples) / static_cast<double>(samples_), sum.samples);
      joined_.subjects.push_back(std::move(subject));
      cpu_by_function_[key] = sum.cpu;
    }
    for (const auto& [key, work] : work_by_function_)  // counted, but never met by a sample
      if (!sums.contains(key)) joined_.subjects.push_back(function(key));
  }

  // Each function's work is spread evenly over its own time.
  void add_slices() {
    const auto count = std::clamp<std::size_t>(
        static_cast<std::size_t>(times_.wall_seconds / kLeastSlice), 1, kMostSlices);
    for (const auto& slice : times_.active.slices(count)) joined_.subjects.push_back(of(slice));
  }

  [[nodiscard]] Subject of(const sample::ActiveTime::Slice& slice) const {
    Subject subject;
    subject.scope = Scope::slice;
    subject.start = slice.start;
    subject.end = slice.end;
    subject.origin = subject.work_origin = Origin::modelled;
    subject.seconds = slice.end - slice.start;
    if (times_.wall_seconds > 0) subject.share_of_time = subject.seconds / times_.wall_seconds;
    // Where nothing ran, nothing was done; where nothing that ran was counted, nothing is known.
    if (slice.spent.empty()) subject.work = Work{};
    double cpu = 0;
    double busy = 0;
    double most = 0;
    std::map<std::uint32_t, double> threads;
    for (const sample::Spent& spent : slice.spent) {
      const FunctionKey key = key_of(spent);
      threads[spent.tid] += spent.cpu_seconds;
      cpu += spent.cpu_seconds;
      busy += spent.seconds;
      if (spent.cpu_seconds > most) {
        most = spent.cpu_seconds;
        subject.name = key.name;  // what it did most
      }
      const auto work = work_of(key);
      const double of_function = cpu_by_function_.at(key);
      if (!work || of_function <= 0) continue;
      if (!subject.work) subject.work = Work{};
      *subject.work += work->scaled_by(spent.cpu_seconds / of_function);
    }
    if (busy > 0) subject.concurrency = cpu / busy;
    subject.mostly_in = most_of(threads);
    return subject;
  }

  const NativeTimes& times_;
  const CountedWork& counted_;
  std::map<FunctionKey, std::optional<Work>> work_by_function_;
  std::map<FunctionKey, double> cpu_by_function_;
  std::uint64_t samples_ = 0;
  double busy_ = 0;  // seconds of elapsed time in which any of its threads ran
  Joined joined_;
};

}  // namespace

Joined join(const NativeTimes& times, const CountedWork& counted) {
  return Join(times, counted).joined();
}

}  // namespace loft::roof
