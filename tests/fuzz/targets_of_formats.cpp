// The targets that read the layouts of which a recording is made.
#include "format/perf/features.hpp"
#include "format/perf/header.hpp"
#include "format/perf/sample.hpp"
#include "format/perf/tracing_data.hpp"
#include "fuzz/targets.hpp"

namespace loft::fuzz {

namespace perf = format::perf;

void fuzz_header(Bytes bytes) {
  const auto header = perf::read_header(bytes);
  if (!header) return;
  perf_data::Metadata metadata;
  metadata.events = header->events;
  for (const auto& feature : header->features)
    (void)perf::read_feature(feature.bit, bytes.subspan(feature.where.offset, feature.where.size),
                             header->order, metadata);
  // The features of a pipe are the same bytes: every one of them on the rest of the input.
  for (std::uint32_t bit = 0; bit < 40; ++bit)
    (void)perf::read_feature(bit, bytes.subspan(std::min<std::size_t>(bytes.size(), 104)),
                             header->order, metadata);
}

void fuzz_records(Bytes bytes) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    perf::RecordWalker walker(bytes, order);
    perf::RawRecord record;
    std::size_t covered = 0;
    while (walker.next(record)) {
      covered += perf::kRecordHeader + record.body.size();
      (void)perf::read_mmap(record);
      (void)perf::read_comm(record);
      (void)perf::read_task(record);
      (void)perf::read_namespaces(record);
      (void)perf::read_ksymbol(record);
      (void)perf::read_text_poke(record);
      (void)perf::read_deferred(record);
      (void)perf::read_id_index(record);
      (void)perf::read_thread_map(record);
      (void)perf::read_build_id(record);
      (void)perf::read_event_update(record);
    }
    if (covered > bytes.size()) __builtin_trap();  // records must not overlap
  }
}

void fuzz_samples(Bytes bytes) {
  constexpr std::size_t kLayout = 128;
  if (bytes.size() < kLayout) return;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto attr = perf::read_attr(bytes.first(kLayout), order);
    if (!attr) return;
    const perf::SampleLayout layout(*attr);
    perf::RawRecord record;
    record.type = perf::RecordType::sample;
    record.order = order;
    record.body = bytes.subspan(kLayout);
    const auto whole = perf::read_sample(record, layout);
    perf::BriefSample brief;
    const bool is_brief = perf::read_brief(record, layout, brief);
    if (whole && !is_brief) __builtin_trap();  // the brief one asks for less
    (void)layout.read_tail(record);
    (void)perf::read_read(record, *attr);
  }
}

void fuzz_tracing(Bytes bytes) {
  const auto tracing = perf::read_tracing_data(bytes);
  for (const auto& [id, format] : tracing.formats)
    for (const auto& field : format.fields)
      (void)perf::value_of(field, bytes.first(std::min<std::size_t>(bytes.size(), 64)),
                           ByteOrder::little);
}

}  // namespace loft::fuzz
