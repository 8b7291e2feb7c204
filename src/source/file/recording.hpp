// A recording as a source: perf.data of any kind, opened, surveyed once, then read in any way.
//
//   LOFT_TRY(const auto recording, Recording::open("perf.data"));
//   show(recording->summary());
//   recording->for_each_sample(2, [&](unsigned worker) { return sinks[worker].get(); });
//   recording->in_order([&](const PlacedRecord& placed) { ...; return true; });
//
// Opening maps the file, unpacks what is compressed, and walks the headers once: that gives the
// events, the counts and the history of tasks, so that samples can then be decoded in any order.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "format/perf/header.hpp"
#include "format/perf/sample.hpp"
#include "format/perf/tracing_data.hpp"
#include "sample/recording_summary.hpp"
#include "sample/sample.hpp"
#include "sample/task_history.hpp"

namespace loft::source {

using format::perf::RawRecord;
using format::perf::RecordType;

// Bytes that hold nothing but records.
struct Region {
  std::span<const std::byte> bytes;
  ByteOrder order = kHostOrder;
  std::uint64_t file_offset = 0;  // of its first byte, for messages
  bool is_mapped = false;         // a mapped file: what was read can be had again

  // A fault maps what lies around it as well, up to so many bytes, also what a neighbour has long
  // given back.
  static constexpr std::uint64_t kAround = 2u << 20;
  // Gives the memory of a part back that will not be needed soon, in whole stretches of kAround:
  // from the one that `from` is in to the one before that of `to`. Who still looks at it gets it
  // again.
  void release(std::uint64_t from, std::uint64_t to) const;
};

// A record with its place among the others.
struct PlacedRecord {
  RawRecord record;
  std::optional<std::uint64_t> time;
  std::uint64_t number = 0;  // its index in the recording
};

// How far a long pass has come; written by the workers, read by whoever shows it.
struct Progress {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> total{0};
};

// How the first walk is shared out.
struct WalkOptions {
  unsigned workers = 1;
  std::uint64_t part = 32u << 20;  // bytes that one of them takes at a time
};

class GroupTable;
class DeferredChains;

class Recording {
 public:
  // A file, a directory of `perf record --threads` or --kcore, a pipe, or "-" for standard input.
  [[nodiscard]] static Result<std::unique_ptr<Recording>> open(const std::string& path,
                                                               Progress* progress = nullptr,
                                                               const WalkOptions& walk = {});
  // Bytes that are in memory already; they must outlive the recording.
  [[nodiscard]] static Result<std::unique_ptr<Recording>> of_bytes(std::span<const std::byte> bytes,
                                                                   const WalkOptions& walk = {});

  [[nodiscard]] const sample::RecordingSummary& summary() const { return summary_; }
  [[nodiscard]] const perf_data::Metadata& metadata() const { return summary_.metadata; }
  [[nodiscard]] const format::perf::EventTable& events() const { return events_; }
  [[nodiscard]] const sample::TaskHistory& history() const { return history_; }
  [[nodiscard]] const format::perf::TracingData& tracing() const { return tracing_; }
  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }
  // By region: the index of its first record in the recording.
  [[nodiscard]] const std::vector<std::uint64_t>& first_numbers() const { return first_numbers_; }
  [[nodiscard]] const std::string& kallsyms() const { return kallsyms_; }

  // Every sample, in no order, decoded by `workers` threads; each gets its sink by its number.
  void for_each_sample(unsigned workers,
                       const std::function<sample::SampleSink*(unsigned)>& sink_of,
                       Progress* progress = nullptr) const;

  // Every record in order of time, records without a time behind the one before them. Memory
  // follows the size of two rounds. A visitor that gives false ends it.
  using Visitor = std::function<bool(const PlacedRecord&)>;
  void in_order(const Visitor& visit) const;

  // Every record as it stands in the file.
  void in_file_order(const Visitor& visit) const;

  // An error when the file shrank since it was opened: what was read of it then is not what it
  // said.
  [[nodiscard]] Result<void> check_unchanged() const;

  // First and last time of any sample: one pass when the recording does not say it itself.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> time_range() const;

 private:
  struct Chunk {
    std::uint32_t region;
    std::uint64_t start;
    std::uint64_t end;
  };
  struct Survey;

  [[nodiscard]] Result<void> load(std::span<const std::byte> file);
  [[nodiscard]] Result<void> load_directory(const std::string& path);
  [[nodiscard]] Result<Mapping> unpack(const Region& region);
  void read_features(std::span<const std::byte> file, const format::perf::FileHeader& header);
  [[nodiscard]] Result<void> survey_all(const WalkOptions& options, Progress* progress);
  [[nodiscard]] Result<void> survey(std::uint32_t index, const WalkOptions& options, Survey& survey,
                                    Progress* progress);
  void note_damages(const Region& region, const std::vector<format::perf::Damage>& damages);
  void take_side_record(const RawRecord& record, std::uint32_t region, Survey& survey);
  void take_reading(const RawRecord& record, Survey& survey);
  void take_joined_record(std::uint32_t region, Survey& survey);
  void take_id_record(const RawRecord& record);
  void take_attr_record(const RawRecord& record);
  void take_update_record(const RawRecord& record);
  void take_feature_record(const RawRecord& record);
  void name_events();
  void note_other_contents();
  [[nodiscard]] bool reads_groups() const;
  [[nodiscard]] std::optional<DeferredChains> deferred_around(std::size_t index) const;
  void decode_chunk(std::size_t index, sample::SampleSink& sink, GroupTable& groups,
                    std::uint64_t& unreadable) const;

  std::vector<Mapping> mappings_;
  std::vector<Region> regions_;
  std::vector<std::uint64_t> first_numbers_;
  std::vector<Chunk> chunks_;
  sample::RecordingSummary summary_;
  format::perf::EventTable events_;
  format::perf::TracingData tracing_;
  sample::TaskHistory history_;
  std::string kallsyms_;
};

}  // namespace loft::source
