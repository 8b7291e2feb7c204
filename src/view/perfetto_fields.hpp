// Inside view/: the packets of Perfetto's traces, as far as loft writes them.
#pragma once

#include <cstdint>
#include <protozero/pbf_builder.hpp>

namespace loft::view::perfetto {

// Field numbers of trace.proto and trace_packet.proto.
enum class Trace : protozero::pbf_tag_type { packet = 1 };
enum class Packet : protozero::pbf_tag_type {
  process_tree = 2,
  timestamp = 8,
  sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  defaults = 59,
  track_descriptor = 60,
  perf_sample = 66
};

// Flags of a sequence.
inline constexpr std::uint32_t kStateCleared = 1;
inline constexpr std::uint32_t kNeedsState = 2;

}  // namespace loft::view::perfetto
