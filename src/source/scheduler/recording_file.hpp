// The writer of every recording: what happened to tasks, as records of perf.data.
//
//   LOFT_TRY(auto file, RecordingFile::create("perf.data", plan));
//   recorder.drain(*file);
//   LOFT_CHECK(file->end_round());     // from here on this much survives whatever happens to loft
//   LOFT_CHECK(file->finish(facts));
//
// A slice is a sample of a group of events that is read as a whole: run time and what needs no
// counter. Before it stands a sample for each set of the other events, with the time for which it
// was wanted and counted. perf takes the difference of a value to the one before with the same id.
// So each CPU has ids of its own, and each value is the sum of all slices that ended there so far.
#pragma once

#include <linux/perf_event.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event/recording_schema.hpp"
#include "format/perf/writer.hpp"
#include "source/perf_events/kernel_event.hpp"
#include "source/scheduler/event_sets.hpp"
#include "source/scheduler/recording_output.hpp"
#include "source/scheduler/slice_sums.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

using event::recording::kSliceEvents;

using perf_events::KernelEvent;

struct RecordingPlan {
  std::size_t basics = kSliceEvents.size();  // the first so many of kSliceEvents are known
  EventSets counters;
  std::size_t spare = 0;  // further counters, each a set of its own, that add_counter() names
  std::uint64_t slice_ns = 0;
  bool migrations = false;
  std::vector<std::string> meters;  // energy, in microjoules
  std::vector<KernelEvent> kernel_events;
  std::uint32_t cpus = 1;  // one more than the highest number
};

// What is known of the recording when it is over. What is empty is left out.
struct RecordingFacts {
  std::string version;  // of loft
  std::vector<std::string> command_line;
  std::vector<std::pair<std::string_view, std::string>> loft;  // by keys of event::recording::fact
};

class RecordingFile final : public TaskEvents {
 public:
  // At `path` from now on; what was there before is kept as PATH.old. "-" is standard output; to it
  // and to a FIFO the recording is written as a stream.
  [[nodiscard]] static Result<std::unique_ptr<RecordingFile>> create(const std::string& path,
                                                                     RecordingPlan plan);
  // Takes the place of `path` with keep() only. Without a path it vanishes with this object.
  [[nodiscard]] static Result<std::unique_ptr<RecordingFile>> create_pending(
      const std::string& path, RecordingPlan plan);

  void take(const Slice& slice) override;
  void take(const Switch& change) override;
  void take(const Fork& fork) override;
  void take(const Exit& exit) override;
  void take(const Migration& migration) override;
  void take(const Name& name) override;
  void take(const CodeMapping& mapping) override;
  void take_raw(std::span<const std::byte> record) override;
  void take_lost(std::uint64_t records) override;

  // The next of the spare counters is this event; returns its place among the counts of slices.
  [[nodiscard]] Result<std::size_t> add_counter(const event::Event& event);

  void take_energy(std::size_t meter, Moment at, std::uint64_t microjoules);

  // Writes what has come together and makes it official. After a failure nothing more is written;
  // what was official stays so.
  [[nodiscard]] Result<void> end_round();
  // One more section of the header, by its number, for finish() to write.
  void add_section(std::uint32_t number, std::vector<std::byte> bytes);
  [[nodiscard]] Result<void> finish(const RecordingFacts& facts);

  // Then puts a pending recording in its place, with more header sections, by their numbers.
  using Sections = std::map<std::uint32_t, std::vector<std::byte>>;
  [[nodiscard]] Result<void> keep(Sections sections);
  // What the descriptor of the recording is called, for readers in this process.
  [[nodiscard]] std::string path_to_read() const;

  // As if it had never been created: for a program that could not be started.
  void discard() { output_.discard(); }

  // How many records were taken; after a failure, how many of them the file holds.
  [[nodiscard]] std::uint64_t taken() const {
    return counts().taken;
  }  // as a recorder tallies them
  [[nodiscard]] std::uint64_t slices() const { return counts().slices; }
  [[nodiscard]] std::uint64_t switches() const { return counts().switches; }
  [[nodiscard]] std::uint64_t forks() const { return counts().forks; }
  [[nodiscard]] std::uint64_t exits() const { return counts().exits; }
  // By whomever: the probe, or the kernel in one of its rings. Readers of the file find this sum.
  [[nodiscard]] std::uint64_t lost() const { return counts().lost; }
  [[nodiscard]] std::uint64_t bytes() const { return writer_->data_size(); }

 private:
  struct Tail {
    TaskId task;
    Moment at;
  };

  struct Counts {
    std::uint64_t taken = 0, slices = 0, switches = 0, forks = 0, exits = 0, lost = 0;
  };
  [[nodiscard]] const Counts& counts() const { return broken_ ? written_ : counts_; }

  RecordingFile(RecordingOutput output, RecordingPlan plan);
  [[nodiscard]] static Result<std::unique_ptr<RecordingFile>> start(Result<RecordingOutput> output,
                                                                    RecordingPlan plan);
  [[nodiscard]] Result<void> write_start();
  [[nodiscard]] std::vector<format::perf::WrittenEvent> describe_events() const;
  [[nodiscard]] format::perf::WrittenEvent describe(std::size_t number, std::string name,
                                                    perf_event_attr attr,
                                                    std::uint64_t sample_type) const;
  [[nodiscard]] format::perf::WrittenEvent describe_counter(std::size_t counter) const;
  void put_update(std::uint64_t kind, std::uint64_t id, const std::string& text);
  [[nodiscard]] std::uint64_t id_of(std::size_t event, std::uint32_t cpu) const;
  // Of records that belong to no event: the first's.
  [[nodiscard]] std::uint64_t tail_id(std::uint32_t cpu) const;
  void name_events();
  void describe_system();
  void put(std::uint32_t type, std::uint16_t misc, std::span<const std::byte> body,
           const Tail& tail);
  void put_group(const Slice& slice, std::size_t set);
  void put_plain_sample(std::size_t event, const Tail& tail, std::uint64_t period);
  void make_room(std::size_t bytes);
  [[nodiscard]] Result<void> write_out();

  RecordingOutput output_;
  RecordingPlan plan_;
  std::unique_ptr<format::perf::RecordingWriter> writer_;
  std::vector<std::byte> buffer_;
  SliceSums sums_;
  std::vector<std::uint64_t> newest_;  // by CPU: the time of its last slice
  std::size_t migration_event_ = 0;
  std::size_t first_meter_ = 0;
  std::optional<Error> broken_;
  Counts counts_;
  Counts written_;  // of them, what has left the buffer
};

}  // namespace loft::source::scheduler
