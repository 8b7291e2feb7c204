#include "source/scheduler/probe.hpp"

#ifdef LOFT_HAS_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include <probes/scheduler/wire.h>
#include <scheduler_skeleton.h>
#include "base/fd.hpp"
#include "base/text.hpp"
#include "source/living_tasks.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"
#include "source/scheduler/probe_records.hpp"
#include "source/scheduler/probe_refusal.hpp"

namespace loft::source::scheduler {
namespace {

using perf_events::make_attr;
using perf_events::open_event;

static_assert(kMostCounters == LOFT_MAX_COUNTERS && kMostSets == LOFT_MAX_SETS);

struct CloseSkeleton {
  void operator()(scheduler_bpf* skeleton) const { scheduler_bpf__destroy(skeleton); }
};
struct CloseRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
struct CloseLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

// The namespace in which loft's own pids are, where it is not the machine's first.
std::uint32_t own_namespace() {
  constexpr ino_t kFirst = 0xEFFFFFFC;  // PROC_PID_INIT_INO
  struct stat status {};
  if (::stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kFirst) return 0;
  return static_cast<std::uint32_t>(status.st_ino);
}

// Whether a program that names this variable of the kernel can be loaded.
bool kernel_lists(const std::string& variable) {
  std::ifstream symbols("/proc/kallsyms");
  const std::string ending = " " + variable;
  for (std::string line; std::getline(symbols, line);)
    if (line.ends_with(ending)) return true;
  return false;
}

class LoadedProbe final : public Probe {
 public:
  Result<void> load(const ProbeOptions& options) {
    keep_warnings();
    options_ = options;
    skeleton_.reset(scheduler_bpf__open());
    if (!skeleton_) return refused(errno, "open the scheduler probe");
    LOFT_TRY(const CpuList online, online_cpus());
    const int possible = libbpf_num_possible_cpus();
    if (possible <= 0) return refused(-possible, "count the CPUs");
    auto* settings = skeleton_->rodata;
    describe_sets();
    settings->slice_ns = options.slice_ns;
    settings->wake_bytes = options.ring_bytes / 4;
    settings->namespace_inode = own_namespace();
    settings->wants_switches = options.switches;
    settings->wants_slices = options.slices;
    settings->wants_migrations = options.migrations;
    tells_interrupts_ = options.wakers && kernel_lists("__preempt_count");
    bpf_program__set_autoload(skeleton_->progs.on_waking, tells_interrupts_);
    bpf_program__set_autoload(skeleton_->progs.on_waking_somewhere,
                              options.wakers && !tells_interrupts_);
    const auto slots =
        static_cast<std::uint32_t>(possible) * std::max<std::uint32_t>(1, settings->counters_used);
    slots_per_cpu_ = settings->counters_used;
    LOFT_CHECK(choose_storage());
    bpf_map__set_max_entries(skeleton_->maps.counters, slots);
    bpf_map__set_max_entries(skeleton_->maps.ring, static_cast<std::uint32_t>(options.ring_bytes));
    if (const int result = scheduler_bpf__load(skeleton_.get()); result != 0)
      return refused(-result, "load the scheduler probe");
    cpus_ = online;
    for (const int cpu : online) {
      for (std::size_t s = 0; s < options_.sets.sets.size(); ++s) LOFT_CHECK(open_set(s, cpu));
      LOFT_CHECK(drive_slices(cpu));
    }
    if (!turns_.empty()) {
      for (const int cpu : online) LOFT_CHECK(begin_turn(cpu, turns_[turn_]));
    }
    ring_.reset(ring_buffer__new(bpf_map__fd(skeleton_->maps.ring), take_record, this, nullptr));
    if (!ring_) return refused(errno, "map the ring of the scheduler probe");
    return attach();
  }

  Result<void> follow_program(pid_t pid) override { return mark(pid, LOFT_PENDING); }

  Result<void> follow_process(pid_t pid) override {
    LOFT_CHECK(mark(pid, LOFT_ATTACHED));
    return adopt_threads();
  }

  // Who is born of a process that is followed is followed by itself. Those of others, while all
  // were listed, are found when they are listed again.
  Result<void> follow_machine() override {
    constexpr int kMostLooks = 8;
    bool has_more = true;
    for (int look = 0; look < kMostLooks && has_more; ++look) {
      has_more = false;
      for (const LivingTask& task : living_tasks())
        if (task.tid == task.pid && mark(task.pid, LOFT_ATTACHED, BPF_NOEXIST)) has_more = true;
      LOFT_CHECK(adopt_threads());
    }
    return {};
  }

  const EventSets& sets() const override { return options_.sets; }

  // The counters of the next set run before those of the old one stop: where there are enough for
  // both, none misses anything.
  Result<void> change(const std::vector<event::Event>& events) override {
    LOFT_TRY(const std::size_t next, find_or_add(events));
    const std::size_t old = turns_[turn_];
    if (next == old) return {};
    for (const int cpu : cpus_) {
      switch_set(cpu, next, PERF_EVENT_IOC_ENABLE);
      const bool has_begun = begin_turn(cpu, next).has_value();
      switch_set(cpu, has_begun ? old : next, PERF_EVENT_IOC_DISABLE);
    }
    turn_ = static_cast<std::size_t>(std::ranges::find(turns_, next) - turns_.begin());
    return {};
  }

  // A CPU that is gone has nothing to count; what cannot be switched stays as it is.
  void next_turn() override {
    const std::size_t old = turns_[turn_];
    turn_ = (turn_ + 1) % turns_.size();
    for (const int cpu : cpus_) {
      if (!begin_turn(cpu, 0)) continue;
      switch_set(cpu, old, PERF_EVENT_IOC_DISABLE);
      switch_set(cpu, turns_[turn_], PERF_EVENT_IOC_ENABLE);
      (void)begin_turn(cpu, turns_[turn_]);
    }
  }

  void stop() override {
    drivers_.clear();  // first: what ends slices relies on what sees the switches
    scheduler_bpf__detach(skeleton_.get());
    if (options_.slices) walk_tasks(write_rest_);
  }

  bool drain(TaskEvents& events) override {
    sink_ = &events;
    const int taken = ring_buffer__consume(ring_.get());
    sink_ = nullptr;
    return taken > 0;
  }

  bool tells_interrupts() const override { return tells_interrupts_; }

  int wake_fd() const override { return ring_buffer__epoll_fd(ring_.get()); }

  Result<Tally> tally() const override {
    const int possible = libbpf_num_possible_cpus();
    std::vector<loft_totals> values(static_cast<std::size_t>(std::max(possible, 1)));
    const std::uint32_t key = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.totals), &key, values.data()) != 0)
      return refused(errno, "read what the scheduler probe lost");
    Tally tally;
    for (const loft_totals& value : values) {
      tally.seen += value.seen;
      tally.lost += value.lost;
      tally.lost_run_ns += value.lost_run_ns;
      tally.lost_tasks += value.lost_tasks;
      tally.missed += value.missed;
    }
    return tally;
  }

 private:
  // Linux 5.10 has no task storage: there tasks are told apart by their numbers.
  Result<void> choose_storage() {
    has_task_storage_ = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, nullptr) == 1;
    skeleton_->rodata->has_task_storage = has_task_storage_;
    bpf_map__set_autocreate(skeleton_->maps.tasks, has_task_storage_);
    bpf_map__set_autocreate(skeleton_->maps.tasks_by_number, !has_task_storage_);
    if (has_task_storage_ || own_namespace() == 0) return {};
    return failure(ErrorKind::unsupported, "load the scheduler probe",
                   "before Linux 5.11 it cannot be used inside a pid namespace");
  }

  void describe_sets() {
    auto* settings = skeleton_->rodata;
    const EventSets& sets = options_.sets;
    settings->may_change = options_.may_change;
    settings->counters_used =
        static_cast<std::uint32_t>(options_.may_change ? kMostCounters : sets.events.size());
    settings->always_on = 0;
    for (std::size_t s = 0; s < sets.sets.size(); ++s) {
      describe_set(s);
      if (sets.sets[s].takes_turns)
        turns_.push_back(s);
      else
        settings->always_on |= 1u << s;
    }
    if (options_.may_change) settings->always_on = 0;
    settings->work_counter = static_cast<std::uint32_t>(sets.work.value_or(kMostCounters));
  }

  void describe_set(std::size_t s) {
    const EventSet& set = options_.sets.sets[s];
    for (std::size_t i = set.first; i < set.first + set.size; ++i)
      (options_.may_change ? skeleton_->bss->added_set_of[i] : skeleton_->rodata->set_of[i]) =
          static_cast<std::uint8_t>(s);
  }

  // Where it cannot be opened on every CPU it is none, and its slots are free again.
  Result<std::size_t> find_or_add(const std::vector<event::Event>& events) {
    EventSets& sets = options_.sets;
    if (const auto known = sets.find_set(events)) return *known;
    const auto refuse = [](std::string why) {
      return failure(ErrorKind::limit, "change events", std::move(why),
                     "sets that were counted before may come again");
    };
    if (sets.sets.size() >= kMostSets)
      return refuse(fmt::format("a recording has at most {} sets of events", kMostSets - 1));
    if (sets.events.size() + events.size() > kMostCounters)
      return refuse(fmt::format("its sets have at most {} events together", kMostCounters));
    const std::size_t counters = counters_.size();
    sets.add_set(events, true);
    const std::size_t added = sets.sets.size() - 1;
    for (const int cpu : cpus_)
      if (auto opened = open_set(added, cpu); !opened) {
        counters_.resize(counters);
        std::erase_if(switches_, [&](const auto& entry) { return entry.first.first == added; });
        sets.drop_last_set();
        return Failure(std::move(opened).error());
      }
    describe_set(added);
    turns_.push_back(added);
    return added;
  }

  // For everybody on this CPU: the probe takes differences. Events of a set are one group, so that
  // they run at the same time or not at all.
  Result<void> open_set(std::size_t s, int cpu) {
    const EventSet& set = options_.sets.sets[s];
    const bool waits = set.takes_turns && s != turns_.front();
    int leader = -1;
    for (std::size_t i = set.first; i < set.first + set.size; ++i) {
      LOFT_TRY(const int raw, open_counter(i, cpu, s == 0 ? -1 : leader, waits));
      if (leader < 0) leader = raw;
    }
    return {};
  }

  // Where a group has no place for it, it is opened alone.
  Result<int> open_counter(std::size_t i, int cpu, int leader, bool waits) {
    const event::Event& event = options_.sets.events[i];
    perf_event_attr attr = make_attr(event, {.group_read = false, .disabled = waits && leader < 0});
    int raw = perf_events::open_raw(attr, {-1, cpu}, leader);
    const bool is_alone = leader < 0 || raw < 0;
    if (raw < 0 && leader >= 0) {
      attr.disabled = waits;
      raw = perf_events::open_raw(attr, {-1, cpu}, -1);
    }
    if (raw < 0) return Failure(perf_events::explain_open_failure(-raw, event, {-1, cpu}, false));
    counters_.emplace_back(raw);
    if (is_alone) switches_[{options_.sets.set_of(i), cpu}].push_back(raw);
    const auto key = static_cast<std::uint32_t>(static_cast<std::size_t>(cpu) * slots_per_cpu_ + i);
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.counters), &key, &raw, 0) != 0)
      return refused(errno, "give counter '" + event.name + "' to the scheduler probe");
    return raw;
  }

  // What was counted until now is settled on the CPU itself.
  Result<void> begin_turn(int cpu, std::size_t set) {
    std::uint64_t argument = set;
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.ctx_in = &argument;
    options.ctx_size_in = sizeof argument;
    options.flags = BPF_F_TEST_RUN_ON_CPU;
    options.cpu = static_cast<std::uint32_t>(cpu);
    constexpr int kMostTries = 100;
    for (int i = 0; i < kMostTries; ++i) {
      const int result =
          bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.on_turn), &options);
      if (result != 0) return refused(-result, fmt::format("switch event sets on CPU {}", cpu));
      if (options.retval == 0) return {};
    }
    return failure(ErrorKind::internal, fmt::format("switch event sets on CPU {}", cpu),
                   "it is always busy");
  }

  void switch_set(int cpu, std::size_t set, unsigned long request) {
    for (const int fd : switches_[{set, cpu}]) ::ioctl(fd, request, 0);
  }

  // on_slice is attached to events, the walks over tasks are run when they are needed.
  Result<void> attach() {
    bpf_program__set_autoattach(skeleton_->progs.on_slice, false);
    bpf_program__set_autoattach(skeleton_->progs.on_turn, false);
    bpf_program__set_autoattach(skeleton_->progs.adopt_threads, false);
    bpf_program__set_autoattach(skeleton_->progs.write_rest, false);
    if (const int result = scheduler_bpf__attach(skeleton_.get()); result != 0)
      return refused(-result, "attach the scheduler probe");
    LOFT_TRY(write_rest_, prepare_walk(skeleton_->progs.write_rest));
    return {};
  }

  // Marks a process by a descriptor: its number would mean something else in another namespace.
  Result<void> adopt_threads() const {
    LOFT_TRY(const Fd walk, prepare_walk(skeleton_->progs.adopt_threads));
    walk_tasks(walk);
    return {};
  }

  Result<void> mark(pid_t pid, std::uint32_t phase, std::uint64_t flags = BPF_ANY) const {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process.is_open()) return failure_of_errno(errno, fmt::format("watch process {}", pid));
    loft_task task{};
    task.phase = phase;
    task.pid = task.tid = static_cast<std::uint32_t>(pid);
    const int key = has_task_storage_ ? process.get() : pid;
    const bpf_map* map =
        has_task_storage_ ? skeleton_->maps.tasks : skeleton_->maps.tasks_by_number;
    if (bpf_map_update_elem(bpf_map__fd(map), &key, &task, flags) != 0)
      return refused(errno, fmt::format("mark process {}", pid));
    return {};
  }

  // Made ready while we may, run by reading.
  static Result<Fd> prepare_walk(bpf_program* program) {
    const std::unique_ptr<bpf_link, CloseLink> link(bpf_program__attach_iter(program, nullptr));
    if (!link) return refused(errno, "walk over all tasks");
    Fd walk(bpf_iter_create(bpf_link__fd(link.get())));
    if (!walk.is_open()) return refused(errno, "walk over all tasks");
    return walk;
  }

  static void walk_tasks(const Fd& walk) {
    char nothing[64];
    while (::read(walk.get(), nothing, sizeof nothing) > 0) {
    }
  }

  // A clock that ticks once in a slice's length. It belongs to the CPU: one that follows each task
  // would cost as much at every switch as all else that the probe does.
  Result<void> drive_slices(int cpu) {
    if (!options_.slices) return {};
    event::Event event;
    event.name = "cpu-clock";
    event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK};
    perf_event_attr attr = make_attr(event, {.group_read = false, .disabled = false});
    attr.sample_period = options_.slice_ns;
    attr.exclude_idle = 1;
    LOFT_TRY(Fd driver, open_event(attr, event, {-1, cpu}));
    if (::ioctl(driver.get(), PERF_EVENT_IOC_SET_BPF, bpf_program__fd(skeleton_->progs.on_slice)) !=
        0)
      return refused(errno, "end slices by run time");
    drivers_.push_back(std::move(driver));
    return {};
  }

  static int take_record(void* self, void* data, std::size_t size) {
    const auto* probe = static_cast<LoadedProbe*>(self);
    take_probe_record({static_cast<const std::byte*>(data), size}, probe->options_.sets,
                      *probe->sink_);
    return 0;
  }

  ProbeOptions options_;
  bool tells_interrupts_ = false;
  bool has_task_storage_ = true;
  CpuList cpus_;
  std::size_t slots_per_cpu_ = 0;
  std::vector<Fd> counters_;
  std::map<std::pair<std::size_t, int>, std::vector<int>> switches_;  // by set and CPU: its leaders
  std::vector<std::size_t> turns_;                                    // the sets that take turns
  std::size_t turn_ = 0;                                              // which of them has its own
  std::vector<Fd> drivers_;
  Fd write_rest_;
  std::unique_ptr<scheduler_bpf, CloseSkeleton> skeleton_;
  std::unique_ptr<ring_buffer, CloseRing> ring_;
  TaskEvents* sink_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Probe>> Probe::load(const ProbeOptions& options) {
  const auto limit = [](const char* what, std::size_t has, std::size_t most) {
    return failure(ErrorKind::limit, fmt::format("count so many {}", what),
                   fmt::format("{} are more than {}", has, most), "ask for fewer with -e");
  };
  if (options.sets.events.size() > kMostCounters)
    return limit("events", options.sets.events.size(), kMostCounters);
  if (options.sets.sets.size() > kMostSets)
    return limit("sets of events", options.sets.sets.size() - 1, kMostSets - 1);
  auto probe = std::make_unique<LoadedProbe>();
  LOFT_CHECK(probe->load(options));
  return probe;
}

}  // namespace loft::source::scheduler

#else

namespace loft::source::scheduler {

Result<std::unique_ptr<Probe>> Probe::load(const ProbeOptions&) {
  return failure(ErrorKind::unsupported, "load the scheduler probe",
                 "this loft was built without BPF");
}

}  // namespace loft::source::scheduler

#endif
