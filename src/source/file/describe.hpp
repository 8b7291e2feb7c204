// Records in words: every field of every record, given to a sample::FieldSink.
//
//   RecordDescriber describer(recording, locations);     // one per thread
//   describer.describe(placed, sink);
#pragma once

#include "sample/fields.hpp"
#include "sample/locations.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

class RecordDescriber {
 public:
  RecordDescriber(const Recording& recording, sample::Locations& locations);

  void describe(const PlacedRecord& placed, sample::FieldSink& sink);

 private:
  void describe_sample(const PlacedRecord& placed, sample::FieldSink& sink);
  void describe_body(const PlacedRecord& placed, sample::FieldSink& sink);
  bool describe_task(const RawRecord& record, sample::FieldSink& sink);
  bool describe_kernel(const RawRecord& record, const format::perf::SampleLayout* layout,
                       sample::FieldSink& sink);
  bool describe_tool(const RawRecord& record, sample::FieldSink& sink);
  void describe_raw(const perf_data::Sample& sample, sample::FieldSink& sink);
  void describe_chain(const perf_data::Sample& sample, sample::FieldSink& sink);
  [[nodiscard]] sample::FrameText frame_of(perf_data::CpuMode mode, std::uint64_t ip,
                                           std::uint64_t shown, const perf_data::Sample& sample);
  [[nodiscard]] std::string_view comm_of(std::optional<std::uint32_t> tid,
                                         std::optional<std::uint64_t> time);

  const Recording& recording_;
  sample::Locations& locations_;
  sample::FrameResolver resolver_;
  std::vector<const sample::Function*> functions_;  // by location; looked up once
};

}  // namespace loft::source
