#include "job/node_run.hpp"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "job/folder.hpp"
#include "job/launcher.hpp"
#include "job/node_ranks.hpp"
#include "job/rank_file.hpp"
#include "job/summarize.hpp"
#include "source/living_tasks.hpp"
#include "source/scheduler/sampled_run.hpp"
#include "source/supervisor.hpp"

namespace loft::job {
namespace {

// A process is looked at so long after it began to execute a program, at the latest.
constexpr Nanoseconds kNodeRound = std::chrono::milliseconds(50);
// Ranks of one job do not all begin, or end, at once.
constexpr Nanoseconds kPatience = std::chrono::seconds(1);

// What happened to processes since the last round. The rings of CPUs are read one after the other:
// births go before what the new processes execute, and ends come last.
struct Happenings {
  struct Birth {
    pid_t child = 0, parent = 0;
    std::uint64_t time = 0;
  };
  std::vector<Birth> forks;
  std::vector<pid_t> execs;
  std::vector<Birth> exits;
  std::uint64_t lost = 0;

  void take(std::span<const std::byte> record);
};

// As the kernel writes births and ends.
struct TaskRecord {
  perf_event_header header;
  std::uint32_t pid, parent_pid, tid, parent_tid;
  std::uint64_t time;
};
struct LostRecord {
  perf_event_header header;
  std::uint64_t id, lost;
};

template <class Record>
bool read_record(std::span<const std::byte> bytes, Record& record) {
  if (bytes.size() < sizeof record) return false;
  std::memcpy(&record, bytes.data(), sizeof record);
  return true;
}

void Happenings::take(std::span<const std::byte> bytes) {
  perf_event_header header;
  if (!read_record(bytes, header)) return;
  TaskRecord task;
  LostRecord loss;
  std::uint32_t pid = 0;
  switch (header.type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      if (!read_record(bytes, task)) return;
      (header.type == PERF_RECORD_FORK ? forks : exits)
          .push_back(
              {static_cast<pid_t>(task.pid), static_cast<pid_t>(task.parent_pid), task.time});
      return;
    case PERF_RECORD_COMM:
      if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0 ||
          bytes.size() < sizeof header + sizeof pid)
        return;
      std::memcpy(&pid, bytes.data() + sizeof header, sizeof pid);
      execs.push_back(static_cast<pid_t>(pid));
      return;
    case PERF_RECORD_LOST:
      if (read_record(bytes, loss)) lost += loss.lost;
      return;
    default:
      return;
  }
}

std::uint64_t monotonic_ns() { return static_cast<std::uint64_t>(now().count()); }

std::uint64_t since_1970_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

class NodeRun {
 public:
  explicit NodeRun(const NodeRequest& request) : request_(request) {}

  Result<NodeResult> run() {
    LOFT_CHECK(prepare());
    auto recorded = record();
    if (!recorded) {
      ::unlink(result_.path.c_str());
      return Failure(recorded.error());
    }
    return std::move(result_);
  }

 private:
  Result<void> prepare() {
    source::scheduler::SampledRunRequest sampling;
    sampling.command = request_.command;
    sampling.whole_machine = true;
    sampling.period = request_.period;
    sampling.on_record = [this](std::span<const std::byte> record) { happened_.take(record); };
    auto run = source::scheduler::SampledRun::prepare(sampling);
    if (!run) {
      run.error().what = "record the ranks of this node";
      return Failure(run.error());
    }
    run_ = *std::move(run);
    JobHere here = own_job_here();
    const auto launched = launched_by(request_.command);
    const bool ranks_are_below = !launched || launched->ranks_are_children;
    if (run_->program() != nullptr && ranks_are_below) here.root = run_->program()->pid();
    ranks_.emplace(here, read_process);
    LOFT_TRY(result_.path, claim_node_file(request_.folder, here.node));
    return {};
  }

  Result<void> record() {
    LOFT_CHECK(write_node_file(result_.path, {}));
    std::function<void(int)> pass_on;
    if (run_->program() != nullptr)
      pass_on = [this](int signal) { run_->program()->signal(signal); };
    LOFT_TRY(source::Supervisor supervisor, source::Supervisor::create(std::move(pass_on)));
    for (const int fd : run_->wake_fds()) supervisor.on_readable(fd, [] {});
    begin_ = monotonic_ns();
    begin_since_1970_ = since_1970_ns();
    LOFT_CHECK(run_->start());
    if (run_->program() != nullptr)
      LOFT_CHECK(supervisor.follow(run_->program()->pid()));
    else
      look_at_all();
    while (!supervisor.is_over() && !have_ranks_gone()) {
      LOFT_CHECK(supervisor.wait(kNodeRound));
      LOFT_CHECK(finish_round());
    }
    if (run_->program() != nullptr && supervisor.all_ended()) {
      LOFT_TRY(const ProcessEnd end, run_->program()->wait());
      result_.exit_status = end.shell_status();
    }
    wait_for_statuses();
    return summarize();
  }

  // Of processes that began before.
  void look_at_all() {
    for (const source::LivingTask& task : source::living_tasks())
      if (task.tid == task.pid && !task.is_kernel) ranks_->look_at(task.pid, begin_);
  }

  Result<void> finish_round() {
    happened_.forks.clear();
    happened_.execs.clear();
    happened_.exits.clear();
    run_->drain();
    const std::size_t before = ranks_->ranks().size();
    std::ranges::sort(happened_.forks, {}, &Happenings::Birth::time);
    for (const auto& fork : happened_.forks) ranks_->take_fork(fork.child, fork.parent, fork.time);
    ranks_->look_again(monotonic_ns());
    for (const pid_t pid : happened_.execs) ranks_->look_at(pid, monotonic_ns());
    for (const auto& fork : happened_.forks) ranks_->adopt(fork.child, fork.parent);
    for (const auto& exit : happened_.exits) ranks_->take_exit(exit.child, exit.time);
    (void)ranks_->read_statuses();
    if (ranks_->ranks().empty() || !ranks_->have_all_ended()) busy_until_ = monotonic_ns();
    if (ranks_->ranks().size() == before) return {};
    return write_node_file(result_.path, summaries());  // they run: known, should this be killed
  }

  [[nodiscard]] bool have_ranks_gone() const {
    return run_->program() == nullptr && !ranks_->ranks().empty() && ranks_->have_all_ended() &&
           monotonic_ns() - busy_until_ > static_cast<std::uint64_t>(kPatience.count());
  }

  // Somebody has to have waited for them.
  void wait_for_statuses() {
    const auto most = now() + kPatience;
    (void)finish_round();
    while (!ranks_->read_statuses() && ranks_->have_all_ended() && now() < most)
      ::usleep(std::chrono::microseconds(std::chrono::milliseconds(20)).count());
  }

  [[nodiscard]] std::vector<RankSummary> summaries() const {
    std::vector<RankSummary> all;
    for (const NodeRank& rank : ranks_->ranks()) {
      RankSummary& summary = all.emplace_back();
      summary.rank = rank.rank;
      summary.command = rank.command;
      summary.source = to_string(sample::Source::perf_events);
      summary.start_ns = begin_since_1970_ + (rank.begin - std::min(rank.begin, begin_));
    }
    return all;
  }

  void finish(const NodeRank& rank, RankSummary& summary) const {
    if (rank.lost_samples)
      summary.notes.emplace_back("numbers of processes were used again: time of ranks is missing");
    if (rank.end == 0) return;  // it goes on, without anybody who records it
    summary.state = State::ended;
    summary.wall_ns = rank.end - std::min(rank.end, rank.begin);
    summary.exit_status = rank.status.value_or(kUnknownStatus);
    if (!rank.status)
      summary.notes.emplace_back(
          "how ranks ended is not known: kernels before 6.15 do not tell it to a recorder of a "
          "node");
  }

  Result<void> summarize() {
    LOFT_TRY(const auto recording, run_->finish());
    std::vector<RankSummary> all = summaries();
    for (std::size_t i = 0; i < all.size(); ++i) finish(ranks_->ranks()[i], all[i]);
    LOFT_CHECK(add_recording_of_node(*recording, ranks_->by_process(), all));
    result_.ranks = all.size();
    result_.notes = run_->notes();
    if (happened_.lost > 0)
      result_.notes.push_back(std::to_string(happened_.lost) +
                              " records were lost: time of ranks may be missing");
    for (RankSummary& summary : all)
      summary.notes.insert(summary.notes.end(), result_.notes.begin(), result_.notes.end());
    return write_node_file(result_.path, all);
  }

  const NodeRequest& request_;
  NodeResult result_;
  std::unique_ptr<source::scheduler::SampledRun> run_;
  std::optional<NodeRanks> ranks_;
  Happenings happened_;
  std::uint64_t begin_ = 0;
  std::uint64_t begin_since_1970_ = 0;
  std::uint64_t busy_until_ = 0;
};

}  // namespace

Result<NodeResult> record_node(const NodeRequest& request) { return NodeRun(request).run(); }

}  // namespace loft::job
