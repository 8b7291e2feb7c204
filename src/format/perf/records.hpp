// Typed views of records, parsed on demand. Each gives std::nullopt when the record is too short
// for what it claims. `layout` is needed where the record ends with a RecordId or holds a reading.
#pragma once

#include <optional>
#include <string>

#include "format/perf/attr.hpp"
#include "format/perf/record.hpp"

namespace loft::format::perf {

namespace pd = loft::perf_data;

[[nodiscard]] std::optional<pd::Mmap> read_mmap(const RawRecord& record);  // MMAP and MMAP2
[[nodiscard]] std::optional<pd::Comm> read_comm(const RawRecord& record);
[[nodiscard]] std::optional<pd::Task> read_task(const RawRecord& record);  // FORK and EXIT
[[nodiscard]] std::optional<pd::Lost> read_lost(const RawRecord& record);
[[nodiscard]] std::optional<pd::LostSamples> read_lost_samples(const RawRecord& record);
[[nodiscard]] std::optional<pd::Throttle> read_throttle(const RawRecord& record);
[[nodiscard]] std::optional<pd::Switch> read_switch(const RawRecord& record);
[[nodiscard]] std::optional<pd::Namespaces> read_namespaces(const RawRecord& record);
[[nodiscard]] std::optional<pd::Ksymbol> read_ksymbol(const RawRecord& record);
[[nodiscard]] std::optional<pd::BpfEvent> read_bpf_event(const RawRecord& record);
[[nodiscard]] std::optional<pd::Cgroup> read_cgroup(const RawRecord& record);
[[nodiscard]] std::optional<pd::TextPoke> read_text_poke(const RawRecord& record);
[[nodiscard]] std::optional<pd::Aux> read_aux(const RawRecord& record);
[[nodiscard]] std::optional<pd::ItraceStart> read_itrace_start(const RawRecord& record);
[[nodiscard]] std::optional<pd::AuxOutputHardwareId> read_aux_output(const RawRecord& record);
[[nodiscard]] std::optional<pd::CallchainDeferred> read_deferred(const RawRecord& record);
[[nodiscard]] std::optional<pd::Read> read_read(const RawRecord& record, const EventAttr& attr);
[[nodiscard]] std::optional<pd::IdIndex> read_id_index(const RawRecord& record);
[[nodiscard]] std::optional<pd::ThreadMap> read_thread_map(const RawRecord& record);
[[nodiscard]] std::optional<pd::TimeConversion> read_time_conversion(const RawRecord& record);
[[nodiscard]] std::optional<pd::StatValue> read_stat(const RawRecord& record);
[[nodiscard]] std::optional<pd::StatRound> read_stat_round(const RawRecord& record);
[[nodiscard]] std::optional<pd::BuildId> read_build_id(const RawRecord& record);
[[nodiscard]] std::optional<pd::EventUpdate> read_event_update(const RawRecord& record);

// A counter reading in the layout of `read_format`; nothing when it does not fit.
[[nodiscard]] std::optional<pd::CounterReading> read_counters(ByteReader& in,
                                                              std::uint64_t read_format);

// Bytes as lower-case hexadecimal digits: how build ids are written.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace loft::format::perf
