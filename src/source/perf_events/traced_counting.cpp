#include "source/perf_events/traced_counting.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/perf_events/combine.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/machine_counters.hpp"
#include "source/perf_events/task_trace.hpp"

namespace loft::source::perf_events {
namespace {

using sample::Count;
using sample::ThreadCounts;

std::string path_of(pid_t tid, const char* file) { return fmt::format("/proc/{}/{}", tid, file); }

// The process of a thread that stands still; the thread itself where /proc does not say.
pid_t process_of(pid_t tid) {
  const auto status = read_file(path_of(tid, "status"));
  if (!status) return tid;
  constexpr std::string_view kField = "\nTgid:\t";
  const auto at = status->find(kField);
  if (at == std::string::npos) return tid;
  const auto end = status->find('\n', at + 1);
  const auto from = at + kField.size();
  const auto number = parse_u64(std::string_view(*status).substr(from, end - from));
  return number ? static_cast<pid_t>(*number) : tid;
}

std::string name_of(pid_t tid) { return read_line(path_of(tid, "comm")).value_or(std::string()); }

class TracedCounting final : public CountingRun, private TaskTrace::Visitor {
 public:
  explicit TracedCounting(const CountRequest& request) : request_(request) {}

  Result<void> open();

  sample::Source source() const override { return sample::Source::perf_events; }
  const std::vector<event::Event>& events() const override { return layout_.events; }
  std::vector<std::string> notes() const override;
  Result<void> start() override;
  ChildProcess* program() override { return child_ ? &*child_ : nullptr; }
  void drain() override { trace_->drain(*this); }
  std::vector<int> wake_fds() const override { return {trace_->fd()}; }
  Result<Reading> read() override;

 private:
  struct Task {
    ThreadCounts row;  // counts come last
    OpenGroups groups;
  };

  void born(pid_t tid) override;
  void ended(pid_t tid) override;
  void renamed(pid_t from, pid_t tid) override;
  void left(pid_t tid) override;

  bool is_machine_event(std::size_t i) const { return !layout_.events[i].cpus.empty(); }
  std::vector<Count> counts_of(const Task& task) const;
  ThreadCounts row_of(const Task& task) const;
  Count total(const std::vector<ThreadCounts>& rows, std::size_t event) const;

  CountRequest request_;
  std::optional<ChildProcess> child_;
  std::optional<TaskTrace> trace_;  // goes first, while its root can still be reaped by child_
  Layout layout_;
  MachineCounters machine_counters_;
  std::map<pid_t, Task> tasks_;
  std::vector<ThreadCounts> ended_;
  std::size_t uncounted_ = 0;  // threads whose counters could not be opened
  std::string why_uncounted_;
  std::size_t left_ = 0;  // processes that the program traces itself
  Nanoseconds start_time_{};
};

Result<void> TracedCounting::open() {
  LOFT_TRY(child_, ChildProcess::prepare(request_.command, request_.streams));
  const pid_t root = child_->pid();
  std::vector<EventGroup> groups;
  for (EventGroup group : request_.groups) {
    std::erase_if(group.members,
                  [this](std::size_t i) { return !request_.events[i].cpus.empty(); });
    if (!group.members.empty()) groups.push_back(std::move(group));
  }
  const AttrOptions options{.enable_on_exec = true};
  LOFT_TRY(TriedLayout tried, try_layout(request_.events, groups, Place{root, -1}, options));
  layout_ = std::move(tried.layout);
  tasks_.emplace(root, Task{{root, root, {}, {}}, std::move(tried.groups)});
  for (std::size_t i = 0; i < layout_.events.size(); ++i)
    if (is_machine_event(i)) machine_counters_.open(layout_, i);
  LOFT_CHECK(layout_.require_some());
  LOFT_TRY(TaskTrace trace, TaskTrace::follow(root));
  trace_.emplace(std::move(trace));
  return {};
}

std::vector<std::string> TracedCounting::notes() const {
  std::vector<std::string> notes;
  if (const auto note = layout_.permission_note(request_.events)) notes.push_back(*note);
  notes.push_back(
      std::string(request_.reads_parts_live
                      ? "each thread is counted while it runs"
                      : "this kernel does not tell what a thread counted when it ends") +
      ": threads were followed with ptrace, which stops each for a moment at its birth "
      "and at signals");
  if (left_ > 0)
    notes.push_back(fmt::format(
        "the program traces {} of its processes itself: these are counted, what they start is not",
        left_));
  if (uncounted_ > 0)
    notes.push_back(fmt::format("{} threads could not be counted: {}", uncounted_, why_uncounted_));
  return notes;
}

Result<void> TracedCounting::start() {
  LOFT_CHECK(machine_counters_.enable());
  start_time_ = now();
  // A signal may stop the program before its exec: then it has to be let on.
  return child_->start([this] { drain(); });
}

void TracedCounting::born(pid_t tid) {
  ended(tid);  // one that was left may have ended, and its number be used again
  auto groups = open_layout(layout_, Place{tid, -1}, AttrOptions{.disabled = false});
  if (!groups) {
    ++uncounted_;
    why_uncounted_ = to_string(groups.error());
    return;
  }
  tasks_.emplace(tid, Task{{process_of(tid), tid, {}, {}}, *std::move(groups)});
}

void TracedCounting::ended(pid_t tid) {
  const auto found = tasks_.find(tid);
  if (found == tasks_.end()) return;
  ended_.push_back(row_of(found->second));
  tasks_.erase(found);
}

void TracedCounting::renamed(pid_t from, pid_t tid) {
  ended(tid);  // the first thread of the process ended in the exec
  auto moved = tasks_.extract(from);
  if (moved.empty()) return;
  moved.key() = tid;
  moved.mapped().row.tid = tid;
  tasks_.insert(std::move(moved));
}

void TracedCounting::left(pid_t tid) {
  ++left_;
  const auto found = tasks_.find(tid);
  if (found != tasks_.end()) found->second.row.comm = name_of(tid);
}

std::vector<Count> TracedCounting::counts_of(const Task& task) const {
  std::vector<Count> counts;
  for (std::size_t i = 0; i < layout_.events.size(); ++i)
    counts.push_back(Count::missing(layout_.missing[i] ? layout_.why_missing(i)
                                                       : "counts the whole machine, not a thread"));
  for (std::size_t g = 0; g < task.groups.size(); ++g) {
    const auto values = task.groups[g].read();
    for (std::size_t k = 0; k < layout_.groups[g].size(); ++k)
      counts[layout_.groups[g][k]] =
          values ? count_of((*values)[k]) : Count::missing(to_string(values.error()));
  }
  return counts;
}

ThreadCounts TracedCounting::row_of(const Task& task) const {
  ThreadCounts row = task.row;
  if (row.comm.empty()) row.comm = name_of(row.tid);
  row.counts = counts_of(task);
  return row;
}

Count TracedCounting::total(const std::vector<ThreadCounts>& rows, std::size_t event) const {
  if (layout_.missing[event]) return Count::missing(layout_.why_missing(event));
  if (is_machine_event(event))
    return machine_counters_.read(event).value_or(Count::missing("not opened"));
  if (uncounted_ > 0)
    return Count::missing(fmt::format("{} threads are missing in it", uncounted_));
  if (left_ > 0)
    return Count::missing("what the processes started that the program traces is missing in it");
  Count sum = rows.front().counts[event];
  for (std::size_t r = 1; r < rows.size(); ++r) sum += rows[r].counts[event];
  return sum;
}

Result<Reading> TracedCounting::read() {
  drain();
  Reading reading;
  reading.time = now() - start_time_;
  reading.threads = ended_;
  for (const auto& [tid, task] : tasks_) reading.threads.push_back(row_of(task));
  for (std::size_t i = 0; i < layout_.events.size(); ++i)
    reading.totals.push_back(total(reading.threads, i));
  return reading;
}

}  // namespace

Result<std::unique_ptr<CountingRun>> prepare_traced(const CountRequest& request) {
  auto run = std::make_unique<TracedCounting>(request);
  LOFT_CHECK(run->open());
  return run;
}

}  // namespace loft::source::perf_events
