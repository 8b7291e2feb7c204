#include "source/scheduler/recording_file.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.hpp"
#include "event/recording_ids.hpp"

namespace loft::source::scheduler {
namespace {

namespace schema = event::recording;
using format::ByteBuilder;
using format::perf::Feature;
using format::perf::RecordType;

constexpr std::uint64_t kIdsPerEvent = 1u << 16;
constexpr std::size_t kWriteAt = 1u << 20;
template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), first, first + sizeof value);
}

// A sample up to its period, as every event of ours has it.
struct SampleStart {
  perf_event_header header;
  std::uint64_t identifier;
  std::uint64_t ip;
  std::uint32_t pid, tid;
  std::uint64_t time;
  std::uint32_t cpu, reserved;
  std::uint64_t period;
};

struct RecordTail {
  std::uint32_t pid, tid;
  std::uint64_t time;
  std::uint32_t cpu, reserved;
  std::uint64_t identifier;
};

struct SwitchRecord {
  perf_event_header header;
  std::uint32_t other_pid, other_tid;
  RecordTail tail;
};

struct TaskRecord {
  perf_event_header header;
  std::uint32_t pid, parent_pid, tid, parent_tid;
  std::uint64_t time;
  RecordTail tail;
};

RecordingPlan with_spare(RecordingPlan plan) {
  for (std::size_t i = 0; i < plan.spare; ++i) plan.counters.add_set({event::Event()}, true);
  return plan;
}

// How many records the kernel says that it had no room for.
std::uint64_t lost_in(std::span<const std::byte> record) {
  std::array<std::uint64_t, 2> id_and_count{};
  if (record.size() < sizeof(perf_event_header) + sizeof id_and_count) return 0;
  std::memcpy(&id_and_count, record.data() + sizeof(perf_event_header), sizeof id_and_count);
  return id_and_count[1];
}

}  // namespace

Result<std::unique_ptr<RecordingFile>> RecordingFile::create(const std::string& path,
                                                             RecordingPlan plan) {
  LOFT_TRY(auto recording, start(RecordingOutput::file(path), std::move(plan)));
  LOFT_CHECK(recording->output_.take_place_keeping_old());
  return recording;
}

Result<std::unique_ptr<RecordingFile>> RecordingFile::create_pending(const std::string& path,
                                                                     RecordingPlan plan) {
  return start(path.empty() ? RecordingOutput::temporary() : RecordingOutput::file(path),
               std::move(plan));
}

Result<std::unique_ptr<RecordingFile>> RecordingFile::start(Result<RecordingOutput> output,
                                                            RecordingPlan plan) {
  if (!output) return Failure(std::move(output).error());
  std::unique_ptr<RecordingFile> recording(new RecordingFile(*std::move(output), std::move(plan)));
  LOFT_CHECK(recording->write_start());
  return recording;
}

RecordingFile::RecordingFile(RecordingOutput output, RecordingPlan plan)
    : output_(std::move(output)),
      plan_(with_spare(std::move(plan))),
      sums_(plan_.basics, plan_.counters, plan_.cpus),
      newest_(plan_.cpus),
      migration_event_(sums_.events()),
      first_meter_(sums_.events() + (plan_.migrations ? 1 : 0)) {}

std::uint64_t RecordingFile::id_of(std::size_t event, std::uint32_t cpu) const {
  return schema::kFirstOwnId + event * kIdsPerEvent + std::min<std::uint32_t>(cpu, plan_.cpus - 1);
}

std::uint64_t RecordingFile::tail_id(std::uint32_t cpu) const {
  const bool has_own = first_meter_ + plan_.meters.size() > 0;
  if (has_own || plan_.kernel_events.empty()) return id_of(0, cpu);
  return plan_.kernel_events.front().ids.front();
}

Result<void> RecordingFile::write_start() {
  using format::perf::Medium;
  writer_ = std::make_unique<format::perf::RecordingWriter>(
      [this](std::uint64_t offset, std::span<const std::byte> bytes) {
        return output_.write_at(offset, bytes);
      },
      describe_events(), output_.is_stream() ? Medium::stream : Medium::file);
  LOFT_CHECK(writer_->start());
  name_events();
  return end_round();
}

void RecordingFile::make_room(std::size_t bytes) {
  if (buffer_.size() + bytes <= kWriteAt) return;
  if (const auto done = write_out(); !done && !broken_) broken_ = done.error();
}

void RecordingFile::take(const Slice& slice) {
  ++counts_.taken;
  ++counts_.slices;
  const std::uint32_t cpu = std::min(slice.end.cpu, plan_.cpus - 1);
  sums_.add(slice, cpu);
  // Readers take differences in order of time: a slice that comes late must not seem early.
  newest_[cpu] = std::max(newest_[cpu], slice.end.time);
  for (std::size_t s = 1; s < sums_.groups().size(); ++s)
    if (const EventSet& set = plan_.counters.sets[s];
        !plan_.counters.events[set.first].name.empty())
      put_group(slice, s);
  put_group(slice, 0);
}

void RecordingFile::put_group(const Slice& slice, std::size_t set) {
  const std::uint32_t cpu = std::min(slice.end.cpu, plan_.cpus - 1);
  const auto& members = sums_.groups()[set];
  const std::size_t size = sizeof(SampleStart) + 3 * 8 + members.size() * 16;
  make_room(size);
  SampleStart start{};
  start.header = {PERF_RECORD_SAMPLE,
                  static_cast<std::uint16_t>(slice.ip_is_kernel ? PERF_RECORD_MISC_KERNEL
                                                                : PERF_RECORD_MISC_USER),
                  static_cast<std::uint16_t>(size)};
  start.identifier = id_of(members.front(), cpu);
  start.ip = slice.ip;
  start.pid = slice.task.pid;
  start.tid = slice.task.tid;
  start.time = newest_[cpu];
  start.cpu = slice.end.cpu;
  start.period = slice.run_ns;
  append(buffer_, start);
  const SliceSums::Times& times = sums_.times(cpu, set);
  append(buffer_, std::array<std::uint64_t, 3>{members.size(), times.enabled, times.running});
  for (const std::size_t member : members)
    append(buffer_, std::array<std::uint64_t, 2>{sums_.value(cpu, member), id_of(member, cpu)});
}

void RecordingFile::take(const Switch& change) {
  ++counts_.taken;
  ++counts_.switches;
  make_room(2 * sizeof(SwitchRecord));
  const auto put_side = [&](const TaskId& task, const TaskId& other, std::uint16_t misc) {
    SwitchRecord record{};
    record.header = {PERF_RECORD_SWITCH_CPU_WIDE, misc, sizeof record};
    record.other_pid = other.pid;
    record.other_tid = other.tid;
    record.tail = {task.pid, task.tid, change.at.time, change.at.cpu, 0, tail_id(change.at.cpu)};
    append(buffer_, record);
  };
  if (change.out_is_ours)
    put_side(
        change.out, change.in,
        static_cast<std::uint16_t>(PERF_RECORD_MISC_SWITCH_OUT |
                                   (change.out_can_run ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)));
  if (change.in_is_ours) put_side(change.in, change.out, 0);
}

void RecordingFile::take(const Fork& fork) {
  ++counts_.taken;
  ++counts_.forks;
  make_room(sizeof(TaskRecord));
  TaskRecord record{};
  record.header = {PERF_RECORD_FORK, 0, sizeof record};
  record.pid = fork.child.pid;
  record.tid = fork.child.tid;
  record.parent_pid = fork.parent.pid;
  record.parent_tid = fork.parent.tid;
  record.time = fork.at.time;
  // The kernel, too, lets the parent say it.
  record.tail = {fork.parent.pid,     fork.parent.tid, fork.at.time, fork.at.cpu, 0,
                 tail_id(fork.at.cpu)};
  append(buffer_, record);
}

void RecordingFile::take(const Exit& exit) {
  ++counts_.taken;
  ++counts_.exits;
  make_room(sizeof(TaskRecord));
  TaskRecord record{};
  record.header = {PERF_RECORD_EXIT, 0, sizeof record};
  record.pid = record.parent_pid = exit.task.pid;
  record.tid = record.parent_tid = exit.task.tid;
  record.time = exit.at.time;
  record.tail = {exit.task.pid, exit.task.tid, exit.at.time, exit.at.cpu, 0, tail_id(exit.at.cpu)};
  append(buffer_, record);
}

void RecordingFile::put_plain_sample(std::size_t event, const Tail& tail, std::uint64_t period) {
  make_room(sizeof(SampleStart));
  SampleStart start{};
  start.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof start};
  start.identifier = id_of(event, tail.at.cpu);
  start.pid = tail.task.pid;
  start.tid = tail.task.tid;
  start.time = tail.at.time;
  start.cpu = tail.at.cpu;
  start.period = period;
  append(buffer_, start);
}

void RecordingFile::take(const Migration& migration) {
  ++counts_.taken;
  if (plan_.migrations) put_plain_sample(migration_event_, {migration.task, migration.to}, 1);
}

void RecordingFile::take_energy(std::size_t meter, Moment at, std::uint64_t microjoules) {
  put_plain_sample(first_meter_ + meter, {{}, at}, microjoules);
}

void RecordingFile::take_raw(std::span<const std::byte> record) {
  perf_event_header header{};
  if (record.size() < sizeof header) return;
  std::memcpy(&header, record.data(), sizeof header);
  if (tells_of_tasks(header.type)) ++counts_.taken;
  if (header.type == PERF_RECORD_FORK) ++counts_.forks;
  if (header.type == PERF_RECORD_EXIT) ++counts_.exits;
  if (header.type == PERF_RECORD_LOST) counts_.lost += lost_in(record);
  if (header.type == PERF_RECORD_SWITCH && (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0)
    ++counts_.switches;
  make_room(record.size());
  buffer_.insert(buffer_.end(), record.begin(), record.end());
}

void RecordingFile::put(std::uint32_t type, std::uint16_t misc, std::span<const std::byte> body,
                        const Tail& tail) {
  const RecordTail end{tail.task.pid,       tail.task.tid, tail.at.time, tail.at.cpu, 0,
                       tail_id(tail.at.cpu)};
  const std::size_t size = sizeof(perf_event_header) + body.size() + sizeof end;
  if (size > 0xFFFF) return;  // no path is so long
  make_room(size);
  append(buffer_, perf_event_header{type, misc, static_cast<std::uint16_t>(size)});
  buffer_.insert(buffer_.end(), body.begin(), body.end());
  append(buffer_, end);
}

void RecordingFile::take_lost(std::uint64_t records) {
  counts_.lost += records;
  ByteBuilder body;
  body.u64(tail_id(0)).u64(records);
  put(PERF_RECORD_LOST, 0, body.view(), {{}, {static_cast<std::uint64_t>(now().count()), 0}});
}

void RecordingFile::take(const Name& name) {
  ByteBuilder body;
  body.u32(name.task.pid).u32(name.task.tid).text_padded(name.name, 8);
  put(PERF_RECORD_COMM, 0, body.view(), {name.task, name.at});
}

void RecordingFile::take(const CodeMapping& mapping) {
  ByteBuilder body;
  body.u32(mapping.task.pid).u32(mapping.task.tid);
  body.u64(mapping.start).u64(mapping.size).u64(mapping.offset).text_padded(mapping.path, 8);
  put(PERF_RECORD_MMAP, mapping.is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
      body.view(), {mapping.task, mapping.at});
}

Result<void> RecordingFile::write_out() {
  if (broken_) return Failure(*broken_);
  if (buffer_.empty()) return {};
  const auto written = writer_->append(buffer_);
  buffer_.clear();
  if (written) written_ = counts_;
  return written;
}

Result<void> RecordingFile::end_round() {
  auto done = broken_ ? Result<void>(Failure(*broken_)) : write_out();
  if (done) done = writer_->finish_round();
  if (done) return {};
  if (!broken_) broken_ = done.error();
  (void)writer_->update_sizes();  // in place: needs no room
  return done;
}

std::string RecordingFile::path_to_read() const {
  return fmt::format("/proc/self/fd/{}", output_.fd().get());
}

void RecordingFile::add_section(std::uint32_t number, std::vector<std::byte> bytes) {
  writer_->add_feature(number, std::move(bytes));
}

Result<void> RecordingFile::keep(Sections sections) {
  for (auto& [number, bytes] : sections) add_section(number, std::move(bytes));
  LOFT_CHECK(writer_->finish());  // the sections stand at the end: they are written again
  return output_.take_place();
}

void RecordingFile::describe_system() {
  utsname names{};
  if (::uname(&names) == 0) {
    writer_->add_text(Feature::hostname, names.nodename);
    writer_->add_text(Feature::os_release, names.release);
    writer_->add_text(Feature::arch, names.machine);
  }
  ByteBuilder cpus;
  cpus.u32(plan_.cpus).u32(static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  writer_->add_feature(static_cast<std::uint32_t>(Feature::cpu_count),
                       {cpus.view().begin(), cpus.view().end()});
  ByteBuilder clock;
  clock.u64(1);  // nanoseconds
  writer_->add_feature(static_cast<std::uint32_t>(Feature::clock_id),
                       {clock.view().begin(), clock.view().end()});
}

Result<void> RecordingFile::finish(const RecordingFacts& facts) {
  LOFT_CHECK(end_round());
  describe_system();
  if (!facts.version.empty()) writer_->add_text(Feature::version, "loft " + facts.version);
  if (!facts.command_line.empty()) writer_->add_texts(Feature::command_line, facts.command_line);
  ByteBuilder own;
  for (const auto& [key, value] : facts.loft) own.text(fmt::format("{}={}\n", key, value));
  if (!facts.loft.empty())
    writer_->add_feature(schema::kFactsSection, {own.view().begin(), own.view().end()});
  return writer_->finish();
}

}  // namespace loft::source::scheduler
