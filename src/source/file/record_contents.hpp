// Which records tell about the others: of these few the first walk keeps the places, and the survey
// reads them. This is the one list of them.
#pragma once

#include "format/perf/record.hpp"

namespace loft::source {

// What a record tells.
enum class Contents {
  nothing,
  tasks_and_mappings,
  loss_in_ring,
  loss_by_recorder,
  reading,
  event,
  name_of_event,
  ids_of_events,
  formats_of_tracepoints,
  kernel_symbols,
  binary,
  function_of_binary,
  feature,
  piece_of_record,
  last_piece,
};

[[nodiscard]] constexpr Contents contents_of(perf_data::RecordType type) {
  using perf_data::RecordType;
  switch (type) {
    case RecordType::mmap:
    case RecordType::mmap2:
    case RecordType::comm:
    case RecordType::fork:
    case RecordType::exit:
    case RecordType::ksymbol:
      return Contents::tasks_and_mappings;
    case RecordType::lost:
      return Contents::loss_in_ring;
    case RecordType::lost_samples:
      return Contents::loss_by_recorder;
    case RecordType::read:
      return Contents::reading;
    case RecordType::header_attr:
      return Contents::event;
    case RecordType::header_event_type:
    case RecordType::event_update:
      return Contents::name_of_event;
    case RecordType::simpleperf_event_id:
      return Contents::ids_of_events;
    case RecordType::header_tracing_data:
    case RecordType::simpleperf_tracing_data:
      return Contents::formats_of_tracepoints;
    case RecordType::simpleperf_kernel_symbol:
      return Contents::kernel_symbols;
    case RecordType::simpleperf_dso:
      return Contents::binary;
    case RecordType::simpleperf_symbol:
      return Contents::function_of_binary;
    case RecordType::header_build_id:
    case RecordType::header_feature:
      return Contents::feature;
    case RecordType::simpleperf_split:
      return Contents::piece_of_record;
    case RecordType::simpleperf_split_end:
      return Contents::last_piece;
    default:
      return Contents::nothing;
  }
}

}  // namespace loft::source
