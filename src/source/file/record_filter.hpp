// Which records of a recording are wanted: the filters of a profile, asked of any record.
//
//   RecordFilter filter(recording, locations, options.filter);   // one per thread
//   if (filter.passes(placed)) ...
//
// A record that does not carry what a filter asks for (a mark without thread, a mapping without
// event) does not pass that filter.
#pragma once

#include "sample/locations.hpp"
#include "sample/profile.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

class RecordFilter {
 public:
  RecordFilter(const Recording& recording, sample::Locations& locations,
               const sample::ProfileFilter& filter);

  [[nodiscard]] bool passes(const PlacedRecord& placed);

 private:
  [[nodiscard]] bool passes_thread(const perf_data::RecordId& who);
  [[nodiscard]] bool passes_code(const RawRecord& record, std::uint32_t event);

  const Recording& recording_;
  sample::Locations& locations_;
  sample::FrameResolver resolver_;
  const sample::ProfileFilter& filter_;
  bool lets_all_;
  std::vector<bool> comm_passes_;    // by name; empty: all
  std::vector<bool> binary_passes_;  // by binary, where the filter asks
};

}  // namespace loft::source
