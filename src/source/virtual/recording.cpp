#include "source/virtual/recording.hpp"

#ifdef LOFT_HAS_ENGINE
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "engine/run.hpp"
#include "sample/call_section.hpp"
#include "sample/region_section.hpp"
#include "source/scheduler/recording_file.hpp"
#include "source/supervisor.hpp"
#include "source/virtual/blocks.hpp"
#include "source/virtual/call_counting.hpp"
#include "source/virtual/libraries.hpp"
#include "source/virtual/marked_regions.hpp"
#include "source/virtual/part_table.hpp"
#include "source/virtual/recording_events.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
namespace {

using scheduler::Moment;
using scheduler::RecordingFile;
using scheduler::RecordRequest;
using scheduler::RecordResult;
using scheduler::TaskId;

std::uint64_t nanoseconds(Nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

Result<std::vector<engine::EventIndex>> indices_of(const std::vector<event::Event>& events) {
  std::vector<engine::EventIndex> indices;
  for (const event::Event& event : events) {
    const auto refuse = [&](const char* why) {
      return failure(ErrorKind::invalid_input, "record '" + event.name + "'", why,
                     "'loft list virtual' shows what can be counted");
    };
    if (!event.encoding.is_virtual())
      return refuse("the virtual PMU counts virtual:: events alone");
    indices.push_back(static_cast<engine::EventIndex>(event.encoding.config));
    if (indices.back() >= engine::event_table().size())
      return refuse("a model computes it, which 'loft stat --model full' runs, not a recording");
  }
  return indices;
}

// How long a thread has run, and where it is; nothing when it is gone.
struct ThreadState {
  std::uint64_t run_ns = 0;
  std::uint32_t cpu = 0;
};

std::optional<ThreadState> state_of(TaskId task) {
  const auto times = read_line(fmt::format("/proc/{}/task/{}/schedstat", task.pid, task.tid));
  if (!times) return std::nullopt;
  ThreadState state;
  state.run_ns = parse_u64(split(*times, ' ').front()).value_or(0);
  const auto status = read_line(fmt::format("/proc/{}/task/{}/stat", task.pid, task.tid));
  if (!status) return state;
  // Behind the name, which may hold anything: the state is field 3, the CPU field 39.
  const auto fields = split(std::string_view(*status).substr(status->rfind(')') + 1), ' ');
  constexpr std::size_t kCpu = 39 - 2;
  if (fields.size() > kCpu)
    state.cpu = static_cast<std::uint32_t>(parse_u64(fields[kCpu]).value_or(0));
  return state;
}

class Recorder {
 public:
  Recorder(const RecordRequest& request, const SectionsOfBlocks& sections, engine::Run run,
           std::vector<engine::EventIndex> events)
      : request_(request),
        sections_(sections),
        run_(std::move(run)),
        events_(std::move(events)),
        table_(run_.shared(), events_) {
    run_.shared().ask_for_marks();
  }

  // What could not be counted to its end leaves no file.
  Result<RecordResult> go() {
    if (request_.calls) {
      calls_.emplace(*request_.calls, run_.shared());
      LOFT_CHECK(calls_->start(BlockCounts::beside));
    }
    LOFT_CHECK(create_file());
    auto result = record();
    if (!result) file_->discard();
    return result;
  }

 private:
  // A thread of one program. After an exec the same thread is another one here.
  struct Thread {
    TaskId task;
    std::uint32_t cpu = 0;
    std::string name;
    bool is_over = false;
    // What it did in a region that it marked has a slot of its own.
    std::optional<std::uint32_t> home;  // the thread's first slot
    Moment taken{};                     // of a home: when its counts were last written
  };

  Result<RecordResult> record() {
    LOFT_TRY(Supervisor supervisor,
             Supervisor::create([this](int signal) { run_.signal(signal); }));
    last_poll_ = now();
    LOFT_CHECK(run_.start());
    LOFT_CHECK(follow(supervisor));
    LOFT_TRY(const ProcessEnd end, run_.child().wait());
    result_.exit_status = end.shell_status();
    result_.wall = end.elapsed;
    LOFT_CHECK(run_.check());
    if (!result_.broken) LOFT_CHECK(poll());
    if (sections_) LOFT_CHECK(add_sections());
    if (calls_) {
      LOFT_TRY(sample::CallRun run, calls_->finish());
      run.end = end;
      run.command = request_.command;
      scheduler::note_calls(run, result_);
      file_->add_section(event::recording::kCallsSection, sample::call_section(run));
    }
    return finish();
  }

  Result<void> create_file() {
    scheduler::RecordingPlan plan;
    plan.basics = 1;  // task-clock
    plan.slice_ns = nanoseconds(request_.slice);
    LOFT_TRY(const CpuList cpus, online_cpus());
    plan.cpus = static_cast<std::uint32_t>(cpus.empty() ? 1 : cpus.back() + 1);
    for (std::size_t i = 0; i < request_.events.size(); ++i) {
      result_.events.push_back(full_name(request_.events[i]));
      plan.kernel_events.push_back(describe_event(request_.events[i], i));
    }
    LOFT_TRY(file_, RecordingFile::create(request_.output, std::move(plan)));
    return file_->end_round();
  }

  // Polls once per slice. Where that takes long, it polls less often: it uses at most a fifth of a
  // CPU.
  Result<void> follow(Supervisor& supervisor) {
    LOFT_CHECK(supervisor.follow(run_.pid()));
    Nanoseconds next = now() + request_.slice;
    while (!supervisor.is_over()) {
      LOFT_CHECK(supervisor.wait(next - now()));
      if (now() < next || supervisor.is_over()) continue;
      const Nanoseconds before = now();
      if (!result_.broken) LOFT_CHECK(poll());
      next = std::max(next + request_.slice, now() + 4 * (now() - before));
    }
    return {};
  }

  // Writes everything that happened since the poll before.
  Result<void> poll() {
    LOFT_CHECK(run_.check());
    const Nanoseconds time = now();
    longest_ = std::max(longest_, time - last_poll_);
    last_poll_ = time;
    time_ = nanoseconds(time);
    slots_ = run_.shared().slots();
    while (threads_.size() < slots_.size() && slots_[threads_.size()].thread != 0) add_thread();
    add_mappings();
    for (std::uint32_t slot = 0; slot < threads_.size(); ++slot)
      if (!threads_[slot].is_over) LOFT_CHECK(threads_[slot].home ? take_region(slot) : take(slot));
    if (const auto written = file_->end_round(); !written) {
      result_.broken = written.error();
      if (request_.on_broken) request_.on_broken(written.error());
    }
    return {};
  }

  void add_thread() {
    const auto slot = static_cast<std::uint32_t>(threads_.size());
    const engine::SlotEntry& entry = slots_[slot];
    Thread thread{{entry.process, entry.thread}, 0, entry.name};
    const auto before = newest_.find(entry.thread);
    if (before != newest_.end() && slots_[before->second].process == entry.process &&
        slots_[before->second].image == entry.image) {
      thread.home = before->second;
      threads_.push_back(std::move(thread));
      return;
    }
    const bool is_exec = before != newest_.end() && slots_[before->second].ended == 0 &&
                         !threads_[before->second].is_over;
    const TaskId main{entry.process, entry.process};
    if (slot != 0 && !is_exec) {
      const TaskId parent = thread.task == main ? TaskId{entry.parent, entry.parent} : main;
      file_->take(scheduler::Fork{{entry.started_ns, 0}, thread.task, parent});
    }
    if (is_exec) superseded_[before->second] = entry.started_ns;
    file_->take_raw(comm_record(thread.task, entry.started_ns, thread.name, slot == 0 || is_exec));
    newest_[entry.thread] = slot;
    threads_.push_back(std::move(thread));
  }

  // A mapping was there since its program started, for all that is known.
  void add_mappings() {
    const auto mappings = run_.shared().mappings();
    for (; mappings_ < mappings.size(); ++mappings_) {
      const engine::MappingEntry& mapping = mappings[mappings_];
      if (mapping.end == 0) return;  // still being written
      std::uint64_t start = time_;
      for (const engine::SlotEntry& slot : slots_)
        if (slot.process == mapping.process && slot.image == mapping.image)
          start = std::min(start, slot.started_ns);
      file_->take_raw(map_record(mapping, start));
    }
  }

  Result<void> take(std::uint32_t slot) {
    Thread& thread = threads_[slot];
    const auto replaced = superseded_.find(slot);
    const bool is_replaced = replaced != superseded_.end();
    const auto state = is_replaced ? std::nullopt : state_of(thread.task);
    // Read after that: a thread that is gone has said before how it ended, if it could.
    const engine::SlotEntry entry = run_.shared().slot(slot);
    thread.is_over = entry.ended != 0 || is_replaced || !state;
    std::uint64_t& reported = run_ns_[thread.task.tid];
    std::uint64_t run_ns = reported;
    if (entry.ended != 0) {
      run_ns = entry.cpu_ns;
    } else if (state) {
      run_ns = state->run_ns;
    } else if (!is_replaced) {
      ++ended_by_others_;
    }
    if (state) thread.cpu = state->cpu;
    if (run_ns == reported && !thread.is_over) return {};  // it did not run
    const std::uint64_t end = is_replaced           ? replaced->second - 1
                              : entry.ended_ns != 0 ? entry.ended_ns
                                                    : time_;
    if (thread.name != entry.name) {
      thread.name = entry.name;
      file_->take_raw(comm_record(thread.task, end, thread.name, false));
    }
    LOFT_CHECK(take_counts(slot, {end, thread.cpu}));
    scheduler::Slice slice;
    slice.end = {end, thread.cpu};
    slice.task = thread.task;
    slice.run_ns = run_ns - std::min(run_ns, reported);
    reported = std::max(reported, run_ns);
    file_->take(slice);
    if (thread.is_over) {
      table_.close(slot);
      if (!is_replaced) file_->take(scheduler::Exit{{end, thread.cpu}, thread.task});
    }
    return {};
  }

  // A thread that did not run did nothing in its regions either.
  Result<void> take_region(std::uint32_t slot) {
    const Thread& home = threads_[*threads_[slot].home];
    if (!home.is_over && home.taken.time != time_) return {};
    LOFT_CHECK(take_counts(slot, {home.is_over ? home.taken.time : time_, home.cpu}));
    threads_[slot].is_over = home.is_over;
    if (home.is_over) table_.close(slot);
    return {};
  }

  Result<void> take_counts(std::uint32_t slot, Moment at) {
    threads_[slot].taken = at;
    LOFT_TRY(const auto parts, table_.since_last(slot));
    for (const PartTable::Part& part : parts)
      for (std::size_t i = 0; i < part.counts.size(); ++i)
        if (part.counts[i] != 0)
          file_->take_raw(count_record(i, threads_[slot].task, at, part.address, part.counts[i]));
    return {};
  }

  // Exact counts of the regions that the program marked, of each thread.
  Result<void> keep_regions() {
    const auto paths = run_.shared().paths();
    if (paths.empty()) return {};
    engine::Tally tally(run_.shared());
    engine::PartTally whole(tally, events_, [](const auto&, auto) { return 0; });
    RegionRows rows(paths, events_.size(), true);
    std::vector<std::uint64_t> total(events_.size());
    const auto slots = run_.shared().slots();
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      LOFT_TRY(const auto counted, whole.of_slots({&slot, 1}));
      std::vector<std::uint64_t> sum(events_.size());
      for (const auto& row : counted)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += row.counts[i];
      rows.add(slots[slot], sum);
      for (std::size_t i = 0; i < sum.size(); ++i) total[i] += sum[i];
    }
    sample::RunCounts run;
    for (std::size_t i = 0; i < total.size(); ++i)
      run.events.push_back(
          sample::CountedEvent::of(request_.events[i], sample::Count::exact(total[i])));
    rows.put_into(run.threads, run.regions, [](const auto& counts) {
      std::vector<sample::Count> exact;
      for (const std::uint64_t count : counts) exact.push_back(sample::Count::exact(count));
      return exact;
    });
    result_.regions = scheduler::count_regions(run);
    if (const std::uint32_t wrong = run_.shared().wrong_ends(); wrong != 0)
      result_.notes.push_back(wrong_ends_note(wrong));
    file_->add_section(event::recording::kRegionsSection, sample::region_section(run));
    return {};
  }

  // What is known of code when all of it has run.
  Result<void> add_sections() {
    engine::Tally tally(run_.shared());
    FunctionFinder functions(run_.shared());
    BlockFinder blocks(run_.shared(), functions);
    LOFT_TRY(const auto rows, blocks.counts(tally, events_));
    sample::RunCounts counted;
    for (const std::string& name : result_.events) counted.events.emplace_back().name = name;
    for (const auto& row : rows) {
      const BlockFinder::Block& block = blocks.blocks()[row.part];
      counted.blocks.push_back(describe(block, functions.functions()[block.function]));
      for (const std::uint64_t count : row.counts)
        counted.blocks.back().counts.push_back(sample::Count::exact(count));
    }
    for (auto& [number, bytes] : sections_(counted)) file_->add_section(number, std::move(bytes));
    return {};
  }

  Result<RecordResult> finish() {
    LOFT_CHECK(keep_regions());
    result_.recorder = "virtual";
    result_.description = "the virtual PMU";
    for (const std::string& note : run_.shared().messages()) result_.notes.push_back(note);
    for (const std::string& note : table_.notes()) result_.notes.push_back(note);
    result_.notes.push_back(
        "run times are those under the virtual PMU, which slows the program; counts are exact");
    if (longest_ > 2 * request_.slice)
      result_.notes.push_back(fmt::format(
          "slices took up to {}, {} were requested: loft did not get a CPU in time, or "
          "a poll took long; nothing is missing from them",
          format_seconds(to_seconds(longest_)), format_seconds(to_seconds(request_.slice))));
    if (ended_by_others_ > 0)
      result_.notes.push_back(
          fmt::format("threads that were ended from outside: {}; what they ran since the last poll "
                      "is missing from task-clock",
                      ended_by_others_));
    if (table_.reported_too_much() > 0)
      result_.notes.push_back(
          fmt::format("string instructions were seen before they were done: {} counts too many",
                      table_.reported_too_much()));
    result_.tasks = newest_.size();
    result_.slices = file_->slices();
    for (const Thread& thread : threads_)
      result_.still_running += thread.is_over || thread.home ? 0 : 1;
    namespace fact = event::recording::fact;
    scheduler::RecordingFacts facts;
    facts.version = request_.version;
    facts.command_line = request_.command_line;
    facts.loft = {{fact::kRecorder, result_.recorder},
                  {fact::kSliceNs, std::to_string(request_.slice.count())},
                  {fact::kWallNs, std::to_string(result_.wall.count())},
                  {fact::kExitStatus, std::to_string(result_.exit_status)}};
    if (request_.more_facts)
      for (auto& more : request_.more_facts()) facts.loft.push_back(std::move(more));
    if (!result_.broken)
      if (const auto finished = file_->finish(facts); !finished) {
        result_.broken = finished.error();
        if (request_.on_broken) request_.on_broken(finished.error());
      }
    result_.bytes = file_->bytes();
    return std::move(result_);
  }

  const RecordRequest& request_;
  const SectionsOfBlocks& sections_;
  engine::Run run_;
  std::vector<engine::EventIndex> events_;
  PartTable table_;
  std::optional<CallCounting> calls_;
  std::unique_ptr<RecordingFile> file_;
  std::vector<engine::SlotEntry> slots_;
  std::vector<Thread> threads_;                        // by slot
  std::map<std::uint32_t, std::uint32_t> newest_;      // by tid: its last slot
  std::map<std::uint32_t, std::uint64_t> superseded_;  // slots that an exec ended, and when
  std::map<std::uint32_t, std::uint64_t> run_ns_;      // by tid: what was reported
  std::size_t mappings_ = 0;
  std::uint64_t time_ = 0;
  Nanoseconds last_poll_{};
  Nanoseconds longest_{};  // between two polls
  std::uint64_t ended_by_others_ = 0;
  RecordResult result_;
};

}  // namespace

Result<RecordResult> record(const RecordRequest& request, const SectionsOfBlocks& sections) {
  LOFT_TRY(auto events, indices_of(request.events));
  const Preload libraries =
      Preload::for_program(request.command.empty() ? "" : request.command.front(), true);
  LOFT_TRY(auto run, engine::Run::prepare(request.command, scheduler::streams_of(request)));
  return Recorder(request, sections, std::move(run), std::move(events)).go();
}
#else
Result<scheduler::RecordResult> record(const scheduler::RecordRequest&, const SectionsOfBlocks&) {
  return failure(ErrorKind::unsupported, "record with the virtual PMU",
                 "loft was built without its engine, which exists for x86-64 alone");
}
#endif

}  // namespace loft::source::virtual_pmu
