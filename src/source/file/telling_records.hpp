// Which records tell about the others: of these few the first walk keeps the places, and the survey
// reads them. This is the one list of them.
#pragma once

#include "format/perf/record.hpp"

namespace loft::source {

// What a record tells.
enum class Tells {
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

[[nodiscard]] constexpr Tells what_it_tells(perf_data::RecordType type) {
  using perf_data::RecordType;
  switch (type) {
    case RecordType::mmap:
    case RecordType::mmap2:
    case RecordType::comm:
    case RecordType::fork:
    case RecordType::exit:
    case RecordType::ksymbol:
      return Tells::tasks_and_mappings;
    case RecordType::lost:
      return Tells::loss_in_ring;
    case RecordType::lost_samples:
      return Tells::loss_by_recorder;
    case RecordType::read:
      return Tells::reading;
    case RecordType::header_attr:
      return Tells::event;
    case RecordType::header_event_type:
    case RecordType::event_update:
      return Tells::name_of_event;
    case RecordType::simpleperf_event_id:
      return Tells::ids_of_events;
    case RecordType::header_tracing_data:
    case RecordType::simpleperf_tracing_data:
      return Tells::formats_of_tracepoints;
    case RecordType::simpleperf_kernel_symbol:
      return Tells::kernel_symbols;
    case RecordType::simpleperf_dso:
      return Tells::binary;
    case RecordType::simpleperf_symbol:
      return Tells::function_of_binary;
    case RecordType::header_build_id:
    case RecordType::header_feature:
      return Tells::feature;
    case RecordType::simpleperf_split:
      return Tells::piece_of_record;
    case RecordType::simpleperf_split_end:
      return Tells::last_piece;
    default:
      return Tells::nothing;
  }
}

}  // namespace loft::source
