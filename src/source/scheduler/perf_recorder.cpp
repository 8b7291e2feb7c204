#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cpu_set.hpp"
#include "source/living_tasks.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/layout.hpp"
#include "source/perf_events/open.hpp"
#include "source/perf_events/ring_buffer.hpp"
#include "source/perf_events/thread_rings.hpp"
#include "source/scheduler/read_table.hpp"
#include "source/scheduler/recorder.hpp"
#include "source/scheduler/side_band.hpp"

namespace loft::source::scheduler {
namespace {

using perf_events::make_attr;
using perf_events::Place;
using perf_events::RingBuffer;

constexpr std::uint64_t kReadFormat = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                      PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                                      PERF_FORMAT_GROUP;

event::Event software(std::string name, std::uint64_t config) {
  event::Event event;
  event.name = std::move(name);
  event.encoding = {"software", PERF_TYPE_SOFTWARE, config};
  return event;
}

void user_mode_only(event::Event& event) {
  event.modifiers.kernel = event.modifiers.hypervisor = false;
}

constexpr std::size_t kPages = 256;

// Everything that watches one task on one CPU.
struct Post {
  Fd side_band;  // owns the ring
  RingBuffer ring;
  std::vector<Fd> group;  // task-clock, then the counters
};

class PerfRecorder final : public Recorder {
 public:
  Result<void> open(const WatchPlan& plan, bool must_count) {
    plan_ = plan;
    if (plan.sets.take_turns())
      return failure(ErrorKind::unsupported, "count by events that threads inherit",
                     "there are more of them than counters, and sets cannot take turns here",
                     "ask for fewer with -e");
    counters_ = plan.sets.events;
    LOFT_TRY(const CpuList cpus, online_cpus());
    std::vector<pid_t> tasks;
    if (plan.program) tasks.push_back(*plan.program);
    for (const pid_t pid : plan.processes) {
      LOFT_TRY(const auto threads, threads_of(pid));
      for (const LivingTask& thread : threads) tasks.push_back(thread.tid);
    }
    LOFT_CHECK(choose_mode(tasks.front(), cpus.front()));
    if (must_count && !has_counts_ && !plan.sets.events.empty())
      return failure(ErrorKind::unsupported, "count by events that threads inherit",
                     "this kernel cannot tell what each of them counted (Linux 6.12 can)");
    for (const pid_t tid : tasks) {
      LOFT_CHECK(anchor(tid));
      for (const int cpu : cpus) {
        auto opened = open_post({tid, cpu});
        // A thread may have ended since it was listed.
        if (!opened && opened.error().kind == ErrorKind::not_found && !plan.program) break;
        if (!opened) return opened;
      }
    }
    std::optional<TaskId> first;
    if (plan.program) {
      const auto pid = static_cast<std::uint32_t>(*plan.program);
      first = TaskId{pid, pid};
    }
    table_.set_members(1 + counters_.size(), plan.slice_ns, first);
    // The kernel lets the whole group have its counters, or nothing of it.
    if (!counters_.empty()) sets_.add_set(counters_, false);
    return {};
  }

  std::string name() const override { return "perf"; }
  std::string description() const override { return "perf_events that threads inherit"; }
  const EventSets& counters() const override { return sets_; }
  std::size_t basics() const override { return 1; }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (!has_counts_)
      notes.push_back(
          "this kernel cannot read counters for threads that inherit them (Linux 6.12 can): slices "
          "have run time alone, and what a thread ran after its last slice is missing");
    if (is_user_only_)
      notes.push_back("counted in user mode alone: the kernel is out of bounds for this user");
    if (const auto why = table_.why_rest_is_missing(); has_counts_ && !why.empty())
      notes.push_back("what the first thread did after its last slice is missing: " + why);
    return notes;
  }

  std::vector<KernelEvent> kernel_events() const override { return {side_band_}; }

  std::vector<int> wake_fds() const override {
    std::vector<int> fds;
    for (const Post& post : posts_) fds.push_back(post.side_band.get());
    return fds;
  }

  void drain(TaskEvents& events) override {
    for (Post& post : posts_)
      post.ring.drain([&](std::span<const std::byte> record) { take(record, events); });
    table_.hand_over(events);
  }

  void stop(TaskEvents& events) override {
    for (const Post& post : posts_)
      for (const Fd& fd : post.group) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
    drain(events);
    if (!plan_.slices || !has_counts_) return;
    for (const Post& post : posts_) read_post(post);
    table_.finish(events);
  }

  Result<Tally> tally() const override {
    Tally tally;
    tally.lost = table_.lost();
    tally.seen = table_.records() + tally.lost;
    return tally;
  }

 private:
  // What this user and this kernel allow, found out by trying.
  Result<void> choose_mode(pid_t tid, int cpu) {
    for (const bool user_only : {false, true}) {
      for (const bool counts : {true, false}) {
        is_user_only_ = user_only;
        has_counts_ = counts;
        perf_event_attr attr = leader_attr();
        const int raw = perf_events::open_raw(attr, {tid, cpu}, -1);
        if (raw >= 0) {
          const Fd opened(raw);
          return adapt_counters();
        }
        if (raw == -EACCES || raw == -EPERM) break;
        if (raw != -EINVAL) return refused(-raw, tid, cpu);
      }
    }
    return refused(EACCES, tid, cpu);
  }

  static Failure refused(int number, pid_t tid, int cpu) {
    return Failure(perf_events::explain_open_failure(
        number, software("task-clock", PERF_COUNT_SW_TASK_CLOCK), {tid, cpu}, false));
  }

  Result<void> adapt_counters() {
    if (!has_counts_) counters_.clear();
    if (has_counts_ && is_user_only_) counters_ = plan_.sets.in_user_mode().events;
    return {};
  }

  perf_event_attr leader_attr() const {
    event::Event clock = software("task-clock", PERF_COUNT_SW_TASK_CLOCK);
    if (is_user_only_) user_mode_only(clock);
    perf_event_attr attr = make_attr(clock, {.inherit = true,
                                             .inherit_stat = true,
                                             .enable_on_exec = plan_.program.has_value(),
                                             .disabled = plan_.program.has_value()});
    attr.sample_period = plan_.slice_ns;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
    if (has_counts_) attr.sample_type |= PERF_SAMPLE_READ;
    attr.read_format = kReadFormat;
    if (!has_counts_) attr.read_format &= ~std::uint64_t{PERF_FORMAT_GROUP};
    perf_events::set_record_tail(attr);
    return attr;
  }

  // An event that is not inherited keeps the kernel from swapping the events of a thread with those
  // of the next one.
  Result<void> anchor(pid_t tid) {
    event::Event event = software("anchor", PERF_COUNT_SW_DUMMY);
    user_mode_only(event);
    perf_event_attr attr = make_attr(event, {.disabled = false});
    LOFT_TRY(Fd fd, perf_events::open_event(attr, event, {tid, -1}));
    anchors_.push_back(std::move(fd));
    return {};
  }

  Result<void> open_post(Place place) {
    const std::size_t pages =
        plan_.ring_bytes > 0 ? perf_events::ring_pages(plan_.ring_bytes) : kPages;
    LOFT_TRY(Fd side_band, open_side_band(place));
    LOFT_TRY(RingBuffer ring, RingBuffer::map_most(side_band, pages));
    Post post{std::move(side_band), std::move(ring), {}};
    if (plan_.slices) LOFT_CHECK(open_group(post, place));
    posts_.push_back(std::move(post));
    return {};
  }

  Result<Fd> open_side_band(Place place) {
    event::Event event = software("dummy", PERF_COUNT_SW_DUMMY);
    user_mode_only(event);
    perf_event_attr attr =
        make_attr(event, {.group_read = false, .inherit = true, .disabled = false});
    attr.read_format = 0;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
    attr.context_switch = plan_.switches;
    attr.watermark = 1;
    attr.wakeup_watermark = 32768;
    perf_events::set_record_tail(attr);
    LOFT_TRY(Fd fd, perf_events::open_event(attr, event, place));
    LOFT_TRY(const auto id, perf_events::event_id(fd));
    side_band_.name = "dummy";
    side_band_.attr = attr;
    side_band_.ids.push_back(id);
    return fd;
  }

  Result<void> open_group(Post& post, Place place) {
    const auto add = [&](perf_event_attr attr, const event::Event& event) -> Result<void> {
      const Fd none;
      LOFT_TRY(Fd fd, perf_events::open_event(attr, event, place,
                                              post.group.empty() ? none : post.group.front()));
      if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, post.side_band.get()) != 0)
        return failure_of_errno(errno, "send slices to a ring");
      LOFT_TRY(const auto id, perf_events::event_id(fd));
      table_.add_id(id, post.group.size());
      post.group.push_back(std::move(fd));
      return {};
    };
    LOFT_CHECK(add(leader_attr(), software("task-clock", PERF_COUNT_SW_TASK_CLOCK)));
    for (const event::Event& event : counters_) {
      perf_event_attr attr =
          make_attr(event, {.inherit = true, .inherit_stat = true, .disabled = false});
      attr.sample_type = leader_attr().sample_type;
      attr.read_format = kReadFormat;
      perf_events::set_record_tail(attr);
      LOFT_CHECK(add(attr, event));
    }
    return {};
  }

  void take(std::span<const std::byte> record, TaskEvents& events) {
    perf_event_header header;
    std::memcpy(&header, record.data(), sizeof header);
    if (header.type == PERF_RECORD_SAMPLE) {
      table_.take_sample(record, has_counts_, events);
    } else if (header.type == PERF_RECORD_READ) {
      table_.take_read(record, has_counts_);
    } else {
      table_.take_other(record, events);
    }
  }

  void read_post(const Post& post) {
    std::uint64_t values[3 + 2 * 64] = {};
    if (post.group.empty() || post.group.size() > 64) return;
    const ssize_t size = ::read(post.group.front().get(), values, sizeof values);
    if (size < 24) return;
    const std::size_t members = std::min<std::size_t>(values[0], post.group.size());
    table_.take_total_times(values[1], values[2]);
    for (std::size_t i = 0; i < members; ++i)
      table_.take_total(values[3 + 2 * i + 1], values[3 + 2 * i]);
  }

  WatchPlan plan_;
  std::vector<event::Event> counters_;
  EventSets sets_;
  bool has_counts_ = true;
  bool is_user_only_ = false;
  KernelEvent side_band_;
  std::vector<Fd> anchors_;
  std::vector<Post> posts_;
  ReadTable table_;
};

}  // namespace

Result<std::unique_ptr<Recorder>> open_perf_recorder(const WatchPlan& plan) {
  auto recorder = std::make_unique<PerfRecorder>();
  LOFT_CHECK(recorder->open(plan, false));
  return recorder;
}

Result<std::unique_ptr<Recorder>> open_counting_perf_recorder(const WatchPlan& plan) {
  auto recorder = std::make_unique<PerfRecorder>();
  LOFT_CHECK(recorder->open(plan, true));
  return recorder;
}

}  // namespace loft::source::scheduler
