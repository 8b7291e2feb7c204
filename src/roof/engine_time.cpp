// The time that a run under the virtual PMU would have taken without the engine.
#include <algorithm>
#include <map>

#include "roof/virtual_recording.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;

// A function that did so much of the instructions of its slices has their time for itself.
constexpr double kNearlyAll = 0.9;

void add(Done& sum, const Done& part) {
  sum.work += part.work;
  sum.engine.branches += part.engine.branches;
  sum.engine.searches += part.engine.searches;
}

Subject estimated(Scope scope, const Done& done) {
  Subject subject;
  subject.scope = scope;
  subject.work = done.work;
  subject.origin = sample::Origin::modelled;
  return subject;
}

class Estimate {
 public:
  explicit Estimate(const VirtualRun& run) : run_(run) {
    for (const VirtualThread& thread : run.threads) {
      cpu_ += thread.run_seconds;
      add(all_, thread.done);
    }
    // Waiting is not its own time. Threads that ran less than the wall time are taken to take
    // turns.
    busy_ = std::min(run.wall_seconds, cpu_);
    if (busy_ > 0) concurrency_ = cpu_ / busy_;
  }

  std::vector<Subject> subjects() {
    add_run();
    add_threads();
    add_functions();
    add_loops();
    add_slices();
    return std::move(subjects_);
  }

 private:
  void add_run() {
    Subject subject = estimated(Scope::run, all_);
    subject.name = run_.name;
    subject.concurrency = concurrency_;
    subject.seconds = without_engine(busy_, all_.engine.seconds() / concurrency_);
    subject.share_of_time = 1;
    subjects_.push_back(std::move(subject));
  }

  void add_threads() {
    const double run_seconds = subjects_.front().seconds;
    for (const VirtualThread& thread : run_.threads) {
      Subject subject = estimated(Scope::thread, thread.done);
      subject.name = thread.name;
      subject.tid = thread.tid;
      subject.seconds = without_engine(thread.run_seconds, thread.done.engine.seconds());
      if (run_seconds > 0) subject.share_of_time = subject.seconds / run_seconds;
      subjects_.push_back(std::move(subject));
    }
  }

  void add_functions() {
    const std::size_t first = subjects_.size();
    double all = 0;
    for (const VirtualFunction& function : run_.functions) {
      Subject subject = estimated(Scope::function, function.done);
      subject.name = function.key.name;
      subject.binary = function.key.binary;
      subject.concurrency = concurrency_;
      subject.seconds =
          without_engine(function.run_seconds, function.done.engine.seconds()) / concurrency_;
      subject.time_is_shared = function.own_share < kNearlyAll;
      all += subject.seconds;
      subjects_.push_back(std::move(subject));
    }
    for (std::size_t i = first; i < subjects_.size() && all > 0; ++i)
      subjects_[i].share_of_time = subjects_[i].seconds / all;
  }

  // A loop shares its function's time by instructions.
  void add_loops() {
    std::map<FunctionKey, std::size_t> functions;
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      if (subjects_[i].scope == Scope::function)
        functions.try_emplace({subjects_[i].name, subjects_[i].binary}, i);
    for (const LoopWork& loop : run_.loops) {
      const auto found = functions.find(loop.function);
      if (found == functions.end()) continue;
      const Subject& function = subjects_[found->second];
      const double all = function.work ? function.work->instructions.value_or(0) : 0;
      if (all <= 0) continue;
      const double share = std::min(1.0, loop.work.instructions.value_or(0) / all);
      Subject subject = estimated(Scope::loop, {loop.work, {}});
      subject.name = function.name;
      subject.binary = function.binary;
      subject.loop = loop.facts;
      subject.concurrency = function.concurrency;
      subject.seconds = function.seconds * share;
      subject.share_of_time = function.share_of_time * share;
      subject.time_is_shared = function.time_is_shared || share < kNearlyAll;
      subjects_.push_back(std::move(subject));
    }
  }

  // All threads together, from look to look.
  void add_slices() {
    struct Sum {
      Done done;
      double run_seconds = 0;
    };
    std::map<std::uint64_t, Sum> by_end;
    for (const VirtualSlice& slice : run_.slices) {
      Sum& sum = by_end[slice.end];
      add(sum.done, slice.done);
      sum.run_seconds += slice.run_seconds;
    }
    const double run_seconds = subjects_.front().seconds;
    std::uint64_t start = run_.start;
    double clock = 0;  // of the program without the engine
    for (const auto& [end, sum] : by_end) {
      if (end < start) continue;
      Subject subject = estimated(Scope::slice, sum.done);
      const double lasted = static_cast<double>(end - start) * 1e-9;
      if (lasted > 0) subject.concurrency = std::max(1.0, sum.run_seconds / lasted);
      subject.seconds = without_engine(lasted, sum.done.engine.seconds() / subject.concurrency);
      if (run_seconds > 0) subject.share_of_time = subject.seconds / run_seconds;
      subject.start = clock;
      subject.end = clock += subject.seconds;
      start = std::max(start, end);
      if (subject.seconds > 0) subjects_.push_back(std::move(subject));
    }
  }

  const VirtualRun& run_;
  Done all_;
  double cpu_ = 0;
  double busy_ = 0;
  double concurrency_ = 1;
  std::vector<Subject> subjects_;
};

}  // namespace

std::vector<Subject> subjects_of(const VirtualRun& run) { return Estimate(run).subjects(); }

}  // namespace loft::roof
