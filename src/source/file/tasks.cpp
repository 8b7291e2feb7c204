#include "source/file/tasks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "event/meaning.hpp"
#include "event/recording_ids.hpp"
#include "event/recording_schema.hpp"
#include "event/virtual_names.hpp"
#include "format/perf/records.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/schedule.hpp"

namespace loft::source {
namespace {

namespace schema = event::recording;
using sample::TaskRow;
using sample::TaskTable;

// What a member of the group that slices read stands for.
enum class Role { run, wait, switches, migrations, counter, work, nothing };

Role role_of(std::string_view name) {
  if (name == schema::kRunTime || name == schema::kRunTimeInUserMode) return Role::run;
  if (name == schema::kWaitTime) return Role::wait;
  if (name == schema::kSwitches) return Role::switches;
  if (name == schema::kMigrations) return Role::migrations;
  if (name.starts_with(schema::kSetWorkPrefix)) return Role::work;
  return Role::counter;
}

void add(std::optional<std::uint64_t>& to, std::uint64_t more) { to = to.value_or(0) + more; }

class TaskReader {
 public:
  // Without slices, switches tell what they can.
  TaskReader(const Recording& recording, bool has_slices)
      : recording_(recording),
        has_slices_(has_slices),
        schedule_(recording, [this](const RunSlice& run) { add_run(run); }) {
    table_.path = recording.summary().path;
    table_.lost = recording.summary().lost;
    table_.watched_by = recorder_of(recording.metadata());
    find_events();
  }

  [[nodiscard]] bool expects_slices() const { return has(Role::run); }

  TaskTable read() {
    recording_.in_order([this](const PlacedRecord& placed) {
      take(placed);
      return true;
    });
    close();
    return std::move(table_);
  }

 private:
  struct Life {
    std::size_t row = 0;
    std::optional<std::uint64_t> pushed_off;  // since when it waits for a CPU
    std::optional<std::uint32_t> last_cpu;
    sample::Counted counted;  // since the slice before, in samples of their own
  };

  void find_events() {
    const auto& events = recording_.metadata().events;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool is_read = has_slices_ && (events[i].attr.sample_type & format::perf::kRead) != 0;
      // The virtual PMU's counts are samples, one for each function of a slice.
      const bool is_counted = !is_read && events[i].name.starts_with(event::kVirtualPrefix);
      is_counted_.push_back(is_counted);
      roles_.push_back(is_counted ? Role::counter
                       : is_read  ? role_of(events[i].name)
                                  : Role::nothing);
      places_.push_back(0);
      if (roles_[i] == Role::wait) table_.waiting_is_whole = true;
      if (roles_[i] == Role::counter) {
        places_[i] = table_.counters.size();
        if (event::meaning_of(events[i].name) == event::Meaning::instructions)
          table_.instructions = table_.counters.size();
        table_.counters.push_back(events[i].name);
      }
      if (events[i].name.starts_with(schema::kMeterPrefix)) {
        meters_[static_cast<std::uint32_t>(i)] = table_.meters.size();
        sample::MeterSum meter{.name = events[i].name.substr(schema::kMeterPrefix.size())};
        if (meter.name.starts_with(schema::kFromWattsPrefix)) {
          meter.name.erase(0, schema::kFromWattsPrefix.size());
          meter.origin = sample::Origin::modelled;
        }
        table_.meters.push_back(std::move(meter));
      }
    }
    table_.set_of.resize(table_.counters.size());
    work_since_.resize(table_.meters.size());
    table_.energy_goes_by_instructions = table_.instructions.has_value();
  }

  Life& born(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    Life life;
    life.row = table_.tasks.size();
    TaskRow row;
    row.pid = pid;
    row.tid = tid;
    row.first_time = row.last_time = time;
    table_.tasks.push_back(std::move(row));
    if (const auto before = lives_.find(tid); before != lives_.end()) finish_counts(before->second);
    return lives_[tid] = life;
  }

  Life& life_of(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    const auto found = lives_.find(tid);
    Life& life = found != lives_.end() ? found->second : born(pid, tid, time);
    TaskRow& row = table_.tasks[life.row];
    if (row.pid == 0) row.pid = pid;
    if (row.first_time == 0) row.first_time = time;  // what was there before has no time
    row.last_time = std::max(row.last_time, time);
    return life;
  }

  void take(const PlacedRecord& placed) {
    const std::uint64_t time = placed.time.value_or(0);
    const auto change = schedule_.take(placed);  // first: a fork may end the run of another thread
    if (time != 0) {
      if (table_.first_time == 0) table_.first_time = time;
      table_.last_time = std::max(table_.last_time, time);
    }
    switch (placed.record.type) {
      case RecordType::comm:
        return take_comm(placed.record, time);
      case RecordType::fork:
        return take_fork(placed.record, time);
      case RecordType::exit:
        return take_exit(placed.record, time);
      case RecordType::switch_:
      case RecordType::switch_cpu_wide:
        if (change) take_switch(*change);
        return;
      case RecordType::sample:
        return take_sample(placed.record);
      default:
        return;
    }
  }

  void take_comm(const RawRecord& record, std::uint64_t time) {
    const auto comm = format::perf::read_comm(record);
    if (!comm) return;
    table_.tasks[life_of(comm->pid, comm->tid, time).row].comm = std::string(comm->name);
  }

  void take_fork(const RawRecord& record, std::uint64_t time) {
    const auto task = format::perf::read_task(record);
    if (!task) return;
    const std::size_t parent = life_of(task->parent_pid, task->parent_tid, time).row;
    Life& life = born(task->pid, task->tid, time);
    table_.tasks[life.row].parent = parent;
    table_.tasks[life.row].comm = table_.tasks[parent].comm;
  }

  void take_exit(const RawRecord& record, std::uint64_t time) {
    const auto task = format::perf::read_task(record);
    if (!task) return;
    const auto found = lives_.find(task->tid);
    if (found == lives_.end()) return;
    TaskRow& row = table_.tasks[found->second.row];
    row.has_ended = true;
    row.last_time = std::max(row.last_time, time);
  }

  void take_switch(const TaskSwitch& change) {
    if (!change.cpu) return;
    table_.has_switches = true;
    Life& life = life_of(change.pid, change.tid, change.time);
    TaskRow& row = table_.tasks[life.row];
    if (change.is_out) {
      life.last_cpu = *change.cpu;
      if (change.is_preempted) life.pushed_off = change.time;
      if (!has(Role::switches)) add(row.switches, 1);
      return;
    }
    if (life.pushed_off && !table_.waiting_is_whole)
      add(row.wait_ns, change.time - *life.pushed_off);
    if (!has(Role::migrations))
      add(row.migrations, life.last_cpu && *life.last_cpu != *change.cpu ? 1 : 0);
    life.pushed_off.reset();
  }

  void add_run(const RunSlice& run) {
    if (!run.cpu) return;
    const Life& life = life_of(0, run.tid, run.start);
    table_.runs.push_back({life.row, *run.cpu, run.start, run.end});
  }

  [[nodiscard]] bool has(Role role) const {
    return std::find(roles_.begin(), roles_.end(), role) != roles_.end();
  }

  void take_sample(const RawRecord& record) {
    const auto event = recording_.events().event_of_sample(record);
    if (!event) return;
    const auto meter = meters_.find(*event);
    if (roles_[*event] == Role::nothing && meter == meters_.end()) return;
    const auto sample = format::perf::read_sample(record, recording_.events().layout(*event));
    if (!sample) return;
    if (meter != meters_.end()) {
      share_energy(meter->second, sample->period.value_or(0));
    } else if (is_counted_[*event] && sample->who.tid) {
      take_count(*sample, places_[*event]);
    } else if (sample->reading && sample->who.tid) {
      take_slice(*sample, recording_.metadata().events[*event].attr.inherit);
    }
  }

  // Tasks share the energy since the sample before by what their slices of that time did.
  void share_energy(std::size_t meter, std::uint64_t microjoules) {
    table_.meters[meter].microjoules += microjoules;
    auto& work = work_since_[meter];
    double all = 0;
    for (const auto& [row, done] : work) all += done;
    const double joules = static_cast<double>(microjoules) * 1e-6;
    if (all <= 0) table_.meters[meter].joules_of_nobody += joules;
    for (const auto& [row, done] : work) {
      auto& shares = table_.tasks[row].joules;
      shares.resize(table_.meters.size());
      if (all > 0) shares[meter] += joules * done / all;
    }
    work.clear();
  }

  void note_work(const sample::TaskSlice& slice) {
    const double done = table_.instructions
                            ? sample::estimate(table_, slice.counted, *table_.instructions).value
                            : static_cast<double>(slice.run_ns);
    for (auto& work : work_since_) work[slice.task] += done;
  }

  // Values go on from sample to sample: of the same thread where threads inherit the event, else of
  // the same id.
  std::uint64_t advance(std::uint64_t id, std::uint32_t tid, std::uint64_t value) {
    std::uint64_t& last = last_[{id, tid}];
    const std::uint64_t more = value - std::min(value, last);
    last = value;
    return more;
  }

  // What is counted before a slice belongs to it.
  void take_count(const perf_data::Sample& sample, std::size_t place) {
    Life& life = life_of(sample.who.pid.value_or(0), *sample.who.tid, sample.who.time.value_or(0));
    life.counted.counts.resize(table_.counters.size());
    life.counted.counts[place] += sample.period.value_or(0);
  }

  // A group without run time, where another one has it, is a set of events: a part of the slice
  // that follows it.
  void take_slice(const perf_data::Sample& sample, bool by_thread) {
    Life& life = life_of(sample.who.pid.value_or(0), *sample.who.tid, sample.who.time.value_or(0));
    TaskRow& row = table_.tasks[life.row];
    sample::TaskSlice slice;
    slice.task = life.row;
    slice.cpu = sample.who.cpu.value_or(0);
    slice.end = sample.who.time.value_or(0);
    slice.counted = std::exchange(life.counted, {});
    slice.counted.counts.resize(table_.counters.size());
    const bool has_run = take_values(sample, by_thread ? *sample.who.tid : 0, row, slice);
    if (!has_run && has(Role::run)) {
      life.counted = std::move(slice.counted);
      return;
    }
    row.counted += slice.counted;
    note_turns(slice, row);
    ++row.slices;
    note_work(slice);
    table_.slices.push_back(std::move(slice));
  }

  // How much the counts of its sets differ from turn to turn.
  void note_turns(const sample::TaskSlice& slice, TaskRow& row) const {
    row.errors.resize(table_.counters.size());
    for (std::size_t i = 0; i < table_.counters.size(); ++i) {
      const auto set = table_.set_of[i];
      if (!set || *set >= slice.counted.sets.size()) continue;
      const sample::SetPart& part = slice.counted.sets[*set];
      const std::uint64_t work = table_.instructions ? part.instructions : part.running_ns;
      if (work > 0 && part.running_ns > 0)
        row.errors[i].add(static_cast<double>(slice.counted.counts[i]), static_cast<double>(work),
                          part.running_ns);
    }
  }

  // Whether run time was among the values.
  bool take_values(const perf_data::Sample& sample, std::uint32_t key, TaskRow& row,
                   sample::TaskSlice& slice) {
    std::optional<std::uint64_t> leader;
    bool has_run = false;
    sample::SetPart part{.readings = 1};
    std::vector<std::size_t> counters;
    for (const auto& value : sample.reading->values) {
      const auto event = value.id ? recording_.events().event_of_id(*value.id) : std::nullopt;
      if (!event) continue;
      if (!leader) leader = *value.id;
      const std::uint64_t more = advance(*value.id, key, value.value);
      has_run |= roles_[*event] == Role::run;
      if (roles_[*event] == Role::work) part.instructions += more;
      if (roles_[*event] == Role::counter) counters.push_back(places_[*event]);
      add_value(*event, more, row, slice);
    }
    if (!leader) return has_run;
    // Ids count from 1, so that their neighbours are free for the two times.
    part.enabled_ns = advance(~*leader, key, sample.reading->time_enabled.value_or(0));
    part.running_ns =
        advance(~*leader - (std::uint64_t{1} << 62), key, sample.reading->time_running.value_or(0));
    add_part(part, counters, !has_run && *leader >= schema::kFirstOwnId, slice);
    return has_run;
  }

  // The first sample of a group tells which events it has; they stay together.
  void add_part(const sample::SetPart& part, const std::vector<std::size_t>& counters,
                bool may_be_late, sample::TaskSlice& slice) {
    if (counters.empty()) return;
    auto& set = table_.set_of[counters.front()];
    if (!set) {
      set = sets_++;
      if (may_be_late) miss_until_now(*set);
    }
    for (const std::size_t counter : counters)
      if (!table_.set_of[counter]) table_.set_of[counter] = set;
    slice.counted.sets.resize(std::max(slice.counted.sets.size(), sets_));
    slice.counted.sets[*set] += part;
  }

  // loft writes every set with every slice. One that comes later was not counted before: what tasks
  // have done until then is unknown to it, and their sums are estimates.
  void miss_until_now(std::size_t set) {
    for (TaskRow& row : table_.tasks) {
      if (!row.run_ns) continue;
      row.counted.sets.resize(std::max(row.counted.sets.size(), set + 1));
      row.counted.sets[set] += {.readings = 1, .enabled_ns = *row.run_ns};
    }
  }

  void add_value(std::uint32_t event, std::uint64_t more, TaskRow& row, sample::TaskSlice& slice) {
    switch (roles_[event]) {
      case Role::run:
        add(row.run_ns, more);
        slice.run_ns += more;
        break;
      case Role::wait:
        add(row.wait_ns, more);
        add(slice.wait_ns, more);
        break;
      case Role::switches:
        add(row.switches, more);
        break;
      case Role::migrations:
        add(row.migrations, more);
        break;
      case Role::counter:
        slice.counted.counts[places_[event]] += more;
        break;
      case Role::work:
      case Role::nothing:
        break;
    }
  }

  // What was counted for a slice that the recording does not have.
  void finish_counts(const Life& life) { table_.tasks[life.row].counted += life.counted; }

  // Without slices, run time is the sum of the times on a CPU.
  void close() {
    for (const auto& [tid, life] : lives_) finish_counts(life);
    schedule_.finish();
    std::ranges::sort(table_.runs, {}, &sample::TaskRun::start);
    if (!has(Role::run))
      for (const sample::TaskRun& run : table_.runs)
        add(table_.tasks[run.task].run_ns, run.end - run.start);
    drop_still_meters();
  }

  // No machine runs without energy: a meter that never moved tells nothing, not 0 joules.
  void drop_still_meters() {
    for (std::size_t k = table_.meters.size(); k-- > 0;) {
      if (table_.meters[k].microjoules > 0) continue;
      table_.still_meters.push_back(table_.meters[k].name);
      const auto at = static_cast<std::ptrdiff_t>(k);
      table_.meters.erase(table_.meters.begin() + at);
      for (TaskRow& row : table_.tasks)
        if (k < row.joules.size()) row.joules.erase(row.joules.begin() + at);
    }
  }

  const Recording& recording_;
  bool has_slices_;
  ScheduleReader schedule_;
  TaskTable table_;
  std::vector<Role> roles_;          // by event
  std::vector<bool> is_counted_;     // by event
  std::vector<std::size_t> places_;  // by event: of a counter
  std::map<std::uint32_t, std::size_t> meters_;
  std::size_t sets_ = 0;  // of events that were seen in one sample
  // By meter, by row: what a task did since the meter's sample before.
  std::vector<std::map<std::size_t, double>> work_since_;
  std::map<std::uint32_t, Life> lives_;  // by thread: the one that has this number now
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> last_;
};

}  // namespace

TaskTable read_tasks(const Recording& recording) {
  TaskReader reader(recording, true);
  TaskTable table = reader.read();
  // Their events were there, but nobody asked for slices ('--types sched').
  if (!table.slices.empty() || !reader.expects_slices()) return table;
  return TaskReader(recording, false).read();
}

}  // namespace loft::source
