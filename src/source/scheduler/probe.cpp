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
#include <cstdarg>
#include <cstring>

#include <probes/scheduler/wire.h>
#include <scheduler_skeleton.h>
#include "base/fd.hpp"
#include "base/text.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::scheduler {
namespace {

using perf_events::make_attr;
using perf_events::open_event;

static_assert(kMostCounters == LOFT_MAX_COUNTERS);

struct CloseSkeleton {
  void operator()(scheduler_bpf* skeleton) const { scheduler_bpf__destroy(skeleton); }
};
struct CloseRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
struct CloseLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

// What libbpf knows of why a program was refused: the verifier's last word, else its own.
std::string& last_warning() {
  static std::string text;
  return text;
}

// The verifier tells every step; behind the last one stand only its statistics.
std::string_view last_word(std::string_view log) {
  std::string_view word;
  for (const std::string_view line : split(log, '\n')) {
    if (line.starts_with("verification time") || line.starts_with("processed ") ||
        line.starts_with("stack depth"))
      break;
    if (!trim(line).empty()) word = trim(line);
  }
  return word;
}

int keep_warning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  constexpr std::string_view kVerifier = "the verifier says: ";
  if (text.find("-- BEGIN PROG LOAD LOG --") != std::string::npos)
    last_warning() = std::string(kVerifier) + printable(last_word(text));
  else if (!last_warning().starts_with(kVerifier))  // what comes after it tells less
    last_warning() = printable(trim(text));
  return size;
}

Failure refused(int number, std::string what) {
  // Who may load programs gets EACCES from the verifier alone.
  if (number == EPERM || (number == EACCES && ::geteuid() != 0))
    return failure(ErrorKind::permission, std::move(what), describe_errno(number),
                   "grant the capabilities: sudo setcap cap_bpf,cap_perfmon+ep "
                   "\"$(command -v loft)\"");
  std::string why = describe_errno(number);
  if (!last_warning().empty()) why += ", " + last_warning();
  return failure(number == ENOMEM ? ErrorKind::limit : ErrorKind::unsupported, std::move(what),
                 std::move(why), "'loft doctor' tells what this kernel allows");
}

// The namespace in which loft's own pids are, where it is not the machine's first.
std::uint32_t own_namespace() {
  constexpr ino_t kFirst = 0xEFFFFFFC;  // PROC_PID_INIT_INO
  struct stat status {};
  if (::stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kFirst) return 0;
  return static_cast<std::uint32_t>(status.st_ino);
}

bool is_hardware(const event::Event& event) {
  return event.encoding.type == PERF_TYPE_HARDWARE || event.encoding.type == PERF_TYPE_HW_CACHE ||
         event.encoding.type == PERF_TYPE_RAW || event.encoding.type > PERF_TYPE_BREAKPOINT;
}

class LoadedProbe final : public Probe {
 public:
  Result<void> load(const ProbeOptions& options) {
    libbpf_set_print(keep_warning);
    last_warning().clear();
    options_ = options;
    skeleton_.reset(scheduler_bpf__open());
    if (!skeleton_) return refused(errno, "open the scheduler probe");
    LOFT_TRY(const CpuList online, online_cpus());
    const int possible = libbpf_num_possible_cpus();
    if (possible <= 0) return refused(-possible, "count the CPUs");
    auto* settings = skeleton_->rodata;
    settings->counters_used = static_cast<std::uint32_t>(options.events.size());
    settings->slice_ns = options.slice_ns;
    settings->wake_bytes = options.ring_bytes / 4;
    settings->namespace_inode = own_namespace();
    settings->wants_switches = options.switches;
    settings->wants_slices = options.slices;
    settings->wants_migrations = options.migrations;
    settings->shares_counters = !options.events.empty() && is_hardware(options.events.back());
    const auto slots =
        static_cast<std::uint32_t>(possible) * std::max<std::uint32_t>(1, settings->counters_used);
    LOFT_CHECK(choose_storage());
    bpf_map__set_max_entries(skeleton_->maps.counters, slots);
    bpf_map__set_max_entries(skeleton_->maps.ring, static_cast<std::uint32_t>(options.ring_bytes));
    if (const int result = scheduler_bpf__load(skeleton_.get()); result != 0)
      return refused(-result, "load the scheduler probe");
    for (const int cpu : online) {
      LOFT_CHECK(open_counters(cpu));
      LOFT_CHECK(drive_slices(cpu));
    }
    ring_.reset(ring_buffer__new(bpf_map__fd(skeleton_->maps.ring), take_record, this, nullptr));
    if (!ring_) return refused(errno, "map the ring of the scheduler probe");
    return attach();
  }

  Result<void> follow_program(pid_t pid) override { return mark(pid, LOFT_PENDING); }

  Result<void> follow_process(pid_t pid) override {
    LOFT_CHECK(mark(pid, LOFT_LIVE));
    LOFT_TRY(const Fd adopt_threads, prepare_walk(skeleton_->progs.adopt_threads));
    walk_tasks(adopt_threads);
    return {};
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

  // Always on, for everybody: the probe takes differences. Hardware events are one group, so that
  // they run at the same time or not at all.
  Result<void> open_counters(int cpu) {
    const int map = bpf_map__fd(skeleton_->maps.counters);
    int leader = -1;
    for (std::size_t i = 0; i < options_.events.size(); ++i) {
      const event::Event& event = options_.events[i];
      perf_event_attr attr = make_attr(event, {.group_read = false, .disabled = false});
      const bool in_group = leader >= 0 && is_hardware(event);
      int raw = perf_events::open_raw(attr, {-1, cpu}, in_group ? leader : -1);
      if (raw < 0 && in_group) raw = perf_events::open_raw(attr, {-1, cpu}, -1);
      if (raw < 0)
        return Failure(perf_events::explain_open_failure(-raw, event, {-1, cpu}, in_group));
      counters_.emplace_back(raw);
      if (leader < 0 && is_hardware(event)) leader = raw;
      const auto key =
          static_cast<std::uint32_t>(static_cast<std::size_t>(cpu) * options_.events.size() + i);
      if (bpf_map_update_elem(map, &key, &raw, 0) != 0)
        return refused(errno, "give counter '" + event.name + "' to the scheduler probe");
    }
    return {};
  }

  // on_slice is attached to events, the walks over tasks are run when they are needed.
  Result<void> attach() {
    bpf_program__set_autoattach(skeleton_->progs.on_slice, false);
    bpf_program__set_autoattach(skeleton_->progs.adopt_threads, false);
    bpf_program__set_autoattach(skeleton_->progs.write_rest, false);
    if (const int result = scheduler_bpf__attach(skeleton_.get()); result != 0)
      return refused(-result, "attach the scheduler probe");
    LOFT_TRY(write_rest_, prepare_walk(skeleton_->progs.write_rest));
    return {};
  }

  // Marks a process by a descriptor: its number would mean something else in another namespace.
  Result<void> mark(pid_t pid, std::uint32_t phase) const {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process.is_open()) return failure_of_errno(errno, fmt::format("watch process {}", pid));
    loft_task task{};
    task.phase = phase;
    task.pid = task.tid = static_cast<std::uint32_t>(pid);
    const int key = has_task_storage_ ? process.get() : pid;
    const bpf_map* map =
        has_task_storage_ ? skeleton_->maps.tasks : skeleton_->maps.tasks_by_number;
    if (bpf_map_update_elem(bpf_map__fd(map), &key, &task, 0) != 0)
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
    static_cast<LoadedProbe*>(self)->dispatch(static_cast<const std::byte*>(data), size);
    return 0;
  }

  template <class Record>
  static Record copy(const std::byte* data) {
    Record record;
    std::memcpy(&record, data, sizeof record);
    return record;
  }

  void dispatch(const std::byte* data, std::size_t size) {
    if (size < sizeof(loft_head)) return;
    const auto head = copy<loft_head>(data);
    const Moment moment{head.time, head.cpu};
    const TaskId task{head.pid, head.tid};
    switch (head.kind) {
      case LOFT_SWITCH: {
        const auto record = copy<loft_switch>(data);
        sink_->take(Switch{moment,
                           task,
                           {record.next_pid, record.next_tid},
                           (record.flags & LOFT_PREV_IS_OURS) != 0,
                           (record.flags & LOFT_NEXT_IS_OURS) != 0,
                           (record.flags & LOFT_PREV_CAN_RUN) != 0});
        break;
      }
      case LOFT_SLICE: {
        const auto record = copy<loft_slice>(data);
        Slice slice{moment,
                    task,
                    record.ip,
                    record.ip_is_kernel != 0,
                    record.run_ns,
                    record.wait_ns,
                    record.switches,
                    record.migrations,
                    record.enabled_ns,
                    record.running_ns};
        std::uint64_t counts[LOFT_MAX_COUNTERS];
        std::memcpy(counts, record.counts, sizeof counts);
        slice.counts = std::span<const std::uint64_t>(counts).first(options_.events.size());
        sink_->take(slice);
        break;
      }
      case LOFT_FORK: {
        const auto record = copy<loft_fork>(data);
        sink_->take(Fork{moment, task, {record.parent_pid, record.parent_tid}});
        break;
      }
      case LOFT_EXIT:
        sink_->take(Exit{moment, task});
        break;
      case LOFT_MIGRATE:
        sink_->take(Migration{moment, task, copy<loft_migrate>(data).from});
        break;
      default:
        break;
    }
  }

  ProbeOptions options_;
  bool has_task_storage_ = true;
  std::vector<Fd> counters_;
  std::vector<Fd> drivers_;
  Fd write_rest_;
  std::unique_ptr<scheduler_bpf, CloseSkeleton> skeleton_;
  std::unique_ptr<ring_buffer, CloseRing> ring_;
  TaskEvents* sink_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Probe>> Probe::load(const ProbeOptions& options) {
  if (options.events.size() > kMostCounters)
    return failure(ErrorKind::limit, "count so many events at once",
                   fmt::format("{} are more than {}", options.events.size(), kMostCounters),
                   "ask for fewer with -e");
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
