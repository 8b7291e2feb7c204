#include "source/perf_events/counting.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <map>
#include <optional>

#include "source/perf_events/combine.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/machine_counters.hpp"
#include "source/perf_events/places.hpp"
#include "source/perf_events/thread_rings.hpp"
#include "source/perf_events/traced_counting.hpp"

namespace loft::source::perf_events {
namespace {

using sample::Count;

// Groups opened at one place.
struct Post {
  TaskPlace where;
  OpenGroups groups;
};

// Readings of one post, aligned with the events; nothing where an event is not opened there.
using PostReading = std::vector<std::optional<RawReading>>;

class PerfCounting final : public CountingRun {
 public:
  explicit PerfCounting(const CountRequest& request) : request_(request) {}

  Result<void> open();

  sample::Source source() const override { return sample::Source::perf_events; }
  const std::vector<event::Event>& events() const override { return layout_.events; }
  std::vector<std::string> notes() const override;
  Result<void> start() override;
  ChildProcess* program() override { return child_ ? &*child_ : nullptr; }
  void drain() override { rings_.drain(); }
  std::vector<int> wake_fds() const override { return rings_.fds(); }
  Result<Reading> read() override;

 private:
  // Events of PMUs that count whole packages are opened beside the program's own.
  bool is_machine_event(std::size_t i) const {
    return !request_.whole_machine && !layout_.events[i].cpus.empty();
  }
  bool counts_threads_of_program() const {
    return request_.split == Split::threads && request_.pids.empty();
  }

  AttrOptions options() const;
  Result<void> open_posts();
  Result<PostReading> read_post(const Post& post) const;
  std::vector<Count> totals(const std::vector<PostReading>& readings) const;
  std::vector<sample::CpuCounts> cpus(const std::vector<PostReading>& readings,
                                      const std::vector<Count>& totals) const;
  std::vector<sample::ThreadCounts> attached_threads(
      const std::vector<PostReading>& readings) const;
  Result<std::vector<sample::ThreadCounts>> program_threads(
      const std::vector<PostReading>& readings) const;

  CountRequest request_;
  std::optional<ChildProcess> child_;
  Layout layout_;
  std::vector<Post> posts_;
  MachineCounters machine_counters_;
  ThreadRings rings_;
  Nanoseconds start_time_{};
};

AttrOptions PerfCounting::options() const {
  const bool by_thread = counts_threads_of_program();
  return {.group_read = !by_thread,
          .inherit = !request_.whole_machine,
          .inherit_stat = by_thread,
          .enable_on_exec = child_.has_value() && !request_.whole_machine && request_.pids.empty(),
          .disabled = true};
}

Result<void> PerfCounting::open() {
  if (!request_.command.empty()) {
    LOFT_TRY(child_, ChildProcess::prepare(request_.command, request_.streams));
  }
  LOFT_CHECK(open_posts());
  for (std::size_t i = 0; i < layout_.events.size(); ++i)
    if (is_machine_event(i)) machine_counters_.open(layout_, i);
  return layout_.require_some();
}

Result<void> PerfCounting::open_posts() {
  LOFT_TRY(const auto places, places_of(request_, child_ ? child_->pid() : -1));
  std::vector<EventGroup> task_groups;
  layout_.events = request_.events;
  for (EventGroup group : request_.groups) {
    std::erase_if(group.members, [this](std::size_t i) { return is_machine_event(i); });
    if (!group.members.empty()) task_groups.push_back(std::move(group));
  }
  for (const TaskPlace& where : places) {
    if (posts_.empty()) {
      auto tried = try_layout(request_.events, task_groups, where.place, options());
      if (!tried && tried.error().kind == ErrorKind::not_found && places.size() > 1) continue;
      if (!tried) return Failure(std::move(tried).error());
      layout_ = std::move(tried->layout);
      posts_.push_back({where, std::move(tried->groups)});
    } else {
      auto groups = open_layout(layout_, where.place, options());
      // A thread that ended since it was listed has nothing left to count.
      if (!groups && groups.error().kind == ErrorKind::not_found) continue;
      if (!groups) return Failure(std::move(groups).error());
      posts_.push_back({where, *std::move(groups)});
    }
    if (counts_threads_of_program()) LOFT_CHECK(rings_.attach(where, posts_.back().groups));
  }
  if (posts_.empty())
    return failure(ErrorKind::not_found, "count", "the process has ended",
                   "'pgrep -a NAME' finds others");
  return {};
}

std::vector<std::string> PerfCounting::notes() const {
  std::vector<std::string> notes;
  if (const auto note = layout_.permission_note(request_.events)) notes.push_back(*note);
  if (rings_.table().lost() > 0)
    notes.push_back(
        fmt::format("{} records of ended threads were lost: their counts are in the "
                    "total but not in the table of threads",
                    rings_.table().lost()));
  if (const std::size_t silent = rings_.table().silent(); silent > 0)
    notes.push_back(
        fmt::format("the kernel did not tell the counts of {} threads: they are in the total but "
                    "not in the table of threads",
                    silent));
  return notes;
}

Result<void> PerfCounting::start() {
  LOFT_CHECK(machine_counters_.enable());
  start_time_ = now();
  if (!options().enable_on_exec)
    for (const Post& post : posts_)
      for (const Group& group : post.groups) LOFT_CHECK(group.enable());
  if (child_) LOFT_CHECK(child_->start());
  return {};
}

Result<PostReading> PerfCounting::read_post(const Post& post) const {
  PostReading reading(layout_.events.size());
  for (std::size_t g = 0; g < post.groups.size(); ++g) {
    LOFT_TRY(const auto values, post.groups[g].read());
    for (std::size_t k = 0; k < values.size(); ++k) reading[layout_.groups[g][k]] = values[k];
  }
  return reading;
}

std::vector<Count> PerfCounting::totals(const std::vector<PostReading>& readings) const {
  std::vector<Count> totals;
  for (std::size_t i = 0; i < layout_.events.size(); ++i) {
    if (layout_.missing[i]) {
      totals.push_back(Count::missing(layout_.why_missing(i)));
      continue;
    }
    std::optional<Count> sum;
    const auto add = [&sum](const Count& part) { sum ? (void)(*sum += part) : (void)(sum = part); };
    // Posts of one task on several CPUs stand next to each other.
    for (std::size_t p = 0; p < posts_.size();) {
      std::vector<RawReading> of_task;
      const Place place = posts_[p].where.place;
      do of_task.push_back(readings[p][i].value_or(RawReading{}));
      while (++p < posts_.size() && place.pid > 0 && posts_[p].where.place.pid == place.pid);
      if (!is_machine_event(i))
        add(place.pid > 0 && place.cpu >= 0 ? count_over_cpus(of_task, layout_.events[i])
                                            : count_of(of_task.front()));
    }
    if (const auto of_machine = machine_counters_.read(i)) add(*of_machine);
    totals.push_back(sum.value_or(Count::missing("not opened")));
  }
  return totals;
}

std::vector<sample::CpuCounts> PerfCounting::cpus(const std::vector<PostReading>& readings,
                                                  const std::vector<Count>& totals) const {
  std::map<int, std::vector<Count>> by_cpu;
  for (std::size_t p = 0; p < posts_.size(); ++p) {
    const auto [at, is_new] = by_cpu.try_emplace(posts_[p].where.place.cpu, totals.size());
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const RawReading raw = readings[p][i].value_or(RawReading{});
      const Count part = layout_.missing[i] ? totals[i]
                         : is_machine_event(i)
                             ? Count::missing("counts the whole machine, not a CPU")
                         : request_.whole_machine ? count_of(raw)
                                                  : part_of(totals[i], raw.value);
      if (is_new) {
        at->second[i] = part;
      } else if (part.is_available()) {
        at->second[i].raw += part.raw;  // of another task; enabled and running are the total's
      }
    }
  }
  std::vector<sample::CpuCounts> rows;
  for (auto& [cpu, counts] : by_cpu) rows.push_back({cpu, std::move(counts)});
  return rows;
}

std::vector<sample::ThreadCounts> PerfCounting::attached_threads(
    const std::vector<PostReading>& readings) const {
  std::vector<sample::ThreadCounts> rows;
  for (std::size_t p = 0; p < posts_.size(); ++p) {
    const TaskPlace& where = posts_[p].where;
    sample::ThreadCounts row{where.pid, where.place.pid, where.comm, {}};
    for (std::size_t i = 0; i < layout_.events.size(); ++i)
      row.counts.push_back(readings[p][i] ? count_of(*readings[p][i])
                           : layout_.missing[i]
                               ? Count::missing(layout_.why_missing(i))
                               : Count::missing("counts the whole machine, not a thread"));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<sample::ThreadCounts>> PerfCounting::program_threads(
    const std::vector<PostReading>& readings) const {
  const auto ended = rings_.table().threads();
  // What the posts read is everybody's; what ended threads had is in the table; the rest is the
  // first thread's, unless the table lacks others.
  const bool rest_is_of_first = rings_.table().silent() == 0 && rings_.table().lost() == 0;
  std::map<pid_t, std::vector<std::vector<RawReading>>> by_thread;  // tid, event, CPU
  const pid_t first = posts_.front().where.place.pid;
  const auto row_of = [&](pid_t tid) -> auto& {
    auto& row = by_thread[tid];
    row.resize(layout_.events.size());
    return row;
  };
  for (std::size_t p = 0; p < posts_.size(); ++p) {
    for (std::size_t g = 0; g < posts_[p].groups.size(); ++g) {
      for (std::size_t k = 0; k < posts_[p].groups[g].size(); ++k) {
        const std::size_t event = layout_.groups[g][k];
        LOFT_TRY(const auto id, event_id(posts_[p].groups[g].member(k)));
        RawReading rest = readings[p][event].value_or(RawReading{});
        for (const auto& [tid, thread] : ended) {
          const auto found = thread.by_event_id.find(id);
          if (found == thread.by_event_id.end()) continue;
          row_of(tid)[event].push_back(found->second);
          rest = rest - found->second;
        }
        row_of(first)[event].push_back(rest);
      }
    }
  }
  const auto names = rings_.table().names();
  std::vector<sample::ThreadCounts> rows;
  for (const auto& [tid, by_event] : by_thread) {
    const auto thread = ended.find(tid);
    const auto name = names.find(tid);
    sample::ThreadCounts row{thread == ended.end() ? first : thread->second.pid,
                             tid,
                             name == names.end() ? std::string() : name->second,
                             {}};
    for (std::size_t i = 0; i < layout_.events.size(); ++i) {
      if (layout_.missing[i]) {
        row.counts.push_back(Count::missing(layout_.why_missing(i)));
      } else if (tid == first && !rest_is_of_first) {
        row.counts.push_back(Count::missing("cannot be told apart from threads without counts"));
      } else {
        row.counts.push_back(count_over_cpus(by_event[i], layout_.events[i]));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Reading> PerfCounting::read() {
  drain();
  Reading reading;
  reading.time = now() - start_time_;
  std::vector<PostReading> readings;
  for (const Post& post : posts_) {
    LOFT_TRY(auto values, read_post(post));
    readings.push_back(std::move(values));
  }
  reading.totals = totals(readings);
  if (request_.split == Split::cpus || request_.whole_machine)
    reading.cpus = cpus(readings, reading.totals);
  if (request_.split == Split::threads) {
    if (request_.pids.empty()) {
      LOFT_TRY(reading.threads, program_threads(readings));
    } else {
      reading.threads = attached_threads(readings);
    }
  }
  return reading;
}

}  // namespace

Result<void> check(const CountRequest& request) {
  if (request.split != Split::none && request.split != Split::threads &&
      request.split != Split::cpus)
    return failure(ErrorKind::unsupported, "count per function or block with hardware counters",
                   "they know CPUs and threads, not functions",
                   "use --source virtual, or sample with loft record and loft report");
  if (!request.region.empty())
    return failure(ErrorKind::unsupported, "count inside one function with hardware counters",
                   "they know CPUs and threads, not functions", "use --source virtual");
  return {};
}

Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request) {
  LOFT_CHECK(check(request));
  if (request.split == Split::threads && request.pids.empty() &&
      (request.reads_parts_live || !reports_counts_of_threads())) {
    // Where ptrace is not allowed either, rows are missing and the notes say so.
    auto traced = prepare_traced(request);
    const bool is_needed = request.reads_parts_live;
    if (traced || is_needed || traced.error().kind != ErrorKind::permission) return traced;
  }
  auto run = std::make_unique<PerfCounting>(request);
  LOFT_CHECK(run->open());
  return run;
}

}  // namespace loft::source::perf_events
