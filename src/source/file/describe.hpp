// Records in words: every field of every record, given to a sample::FieldSink.
//
//   RecordDescriber describer(recording, locations);     // one per thread
//   describer.describe(placed, sink);
#pragma once

#include "sample/caller_memo.hpp"
#include "sample/fields.hpp"
#include "sample/locations.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

class RecordDescriber {
 public:
  RecordDescriber(const Recording& recording, sample::Locations& locations);

  void describe(const PlacedRecord& placed, sample::FieldSink& sink);

  // Ask for memory that describing the record will need.
  static void prefetch_bytes(const PlacedRecord& placed) {
    __builtin_prefetch(placed.record.body.data());
    __builtin_prefetch(placed.record.body.data() + 64);
  }
  void prefetch(const PlacedRecord& placed) const;

 private:
  void describe_sample(const PlacedRecord& placed, sample::FieldSink& sink);
  bool describe_task(const RawRecord& record, sample::FieldSink& sink);
  bool describe_kernel(const RawRecord& record, const format::perf::SampleLayout* layout,
                       sample::FieldSink& sink);
  void describe_user_frames(std::span<const std::uint64_t> addresses,
                            const format::perf::SampleLayout* layout, const RawRecord& record,
                            sample::FieldSink& sink);
  bool describe_tool(const RawRecord& record, sample::FieldSink& sink);
  void describe_raw(const perf_data::Sample& sample, sample::FieldSink& sink);
  void describe_chain(const perf_data::Sample& sample, sample::FieldSink& sink);
  void describe_callers(const perf_data::U64View& chain, std::size_t first, perf_data::CpuMode mode,
                        sample::FieldSink& sink);
  [[nodiscard]] sample::FrameText frame_of(perf_data::CpuMode mode, std::uint64_t ip,
                                           std::uint64_t shown);
  // From here on, addresses are those of this process at this moment.
  void enter(std::uint32_t pid, std::uint64_t time);
  [[nodiscard]] std::string_view comm_of(std::optional<std::uint32_t> tid,
                                         std::optional<std::uint64_t> time);

  const Recording& recording_;
  sample::Locations& locations_;
  sample::FrameResolver resolver_;
  sample::CallerMemo callers_;      // gives each chain of callers a number, for the sink
  std::uint32_t first_number_ = 0;  // since the memo was emptied last
  std::uint32_t next_number_ = 0;
  struct Names {
    std::string_view function;
    std::string_view binary;
  };
  std::vector<Names> names_;  // by location; looked up once
  // What holds for the process and the thread at hand, until it no longer does.
  struct Cached {
    std::uint32_t id = 0;
    sample::TaskHistory::Span span;
    [[nodiscard]] bool holds(std::uint32_t other, std::uint64_t time) const {
      return id == other && time >= span.from && time < span.until;
    }
  };
  Cached user_;
  Cached kernel_;
  Cached comm_;
};

}  // namespace loft::source
