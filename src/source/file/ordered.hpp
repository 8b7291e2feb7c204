// The records of one region in order of time, within bounded memory.
//
// A recorder drains the buffers of all CPUs in rounds. Within a round each buffer is a run that is
// in order; after a round has finished, nothing older than the newest record of the round before
// can come. So the runs of two rounds are merged, and only where each run stands is kept, not its
// records. Files without round marks are one big round: many runs, still no records.
#pragma once

#include <optional>
#include <vector>

#include "source/file/recording.hpp"

namespace loft::source {

class OrderedRegion {
 public:
  // `first_number` is the index of its first record in the recording.
  OrderedRegion(const Region& region, const format::perf::EventTable& events,
                std::uint64_t first_number);

  // The record that next() will give, and its place in time; nothing at the end.
  [[nodiscard]] std::optional<std::uint64_t> next_time();
  void next(PlacedRecord& placed);

 private:
  struct Run {
    std::uint64_t at = 0;    // offset of its next record
    std::uint64_t end = 0;   // behind its last
    std::uint64_t time = 0;  // of its next record
    std::uint64_t number = 0;
  };
  struct Later {
    bool operator()(const Run& a, const Run& b) const {
      return a.time != b.time ? a.time > b.time : a.at > b.at;
    }
  };

  void read_round();
  void add_to_run(const RawRecord& record, std::uint64_t end);
  void close_run();
  void release_behind();
  [[nodiscard]] const Run* earliest();
  [[nodiscard]] std::uint64_t place_in_time(const RawRecord& record, std::uint64_t before) const;

  const Region& region_;
  const format::perf::EventTable& events_;
  format::perf::RecordWalker walker_;
  std::vector<Run> heap_;
  std::optional<Run> current_;   // in no heap while its next record is the earliest
  std::optional<Run> open_;      // the run that the walk is in
  std::uint64_t open_time_ = 0;  // of its last record
  std::uint64_t newest_ = 0;     // of all rounds so far
  std::uint64_t bound_ = 0;      // nothing older than this will come
  std::uint64_t next_bound_ = 0;
  std::uint64_t number_;  // of the record that the walk is at
  std::uint64_t released_ = 0;
  bool at_end_ = false;
};

// The records of all regions of a recording in order of time, one at a time.
class OrderedRecords {
 public:
  explicit OrderedRecords(const Recording& recording);
  // False at the end.
  bool next(PlacedRecord& placed);

 private:
  std::vector<OrderedRegion> regions_;
};

}  // namespace loft::source
