// The survey: after one walk over all headers, which counts and notes where samples can be cut into
// chunks, it reads the few records that tell about events, tasks and mappings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "format/perf/event_name.hpp"
#include "format/perf/features.hpp"
#include "format/perf/simpleperf.hpp"
#include "source/file/history.hpp"
#include "source/file/record_contents.hpp"
#include "source/file/recording.hpp"
#include "source/file/survey_walk.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

constexpr std::size_t kMostNotes = 20;

constexpr std::size_t kMostJoined = 256u << 20;  // bytes of a record that came in pieces

std::string type_name(RecordType type) {
  const auto name = perf_data::name_of(type);
  return name.empty() ? fmt::format("type {}", static_cast<std::uint32_t>(type))
                      : std::string(name);
}

}  // namespace

struct Recording::Survey {
  TypeCounts counts{};
  std::vector<SideRecord> side;
  std::vector<std::byte> pieces;              // of a record that is not yet whole
  std::map<std::uint64_t, std::size_t> dsos;  // by id: the index of the recorded binary
  // The same loss is told up to three times: by the ring (LOST), by a recorder that asks its
  // counters at the end (LOST_SAMPLES), and in the readings themselves.
  std::uint64_t lost_by_ring = 0;
  std::uint64_t lost_by_recorder = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> lost_by_counter;  // id and tid
  std::optional<perf::EventTable> events;  // made when a reading asks for it

  [[nodiscard]] std::uint64_t lost() const {
    std::uint64_t counters = 0;
    for (const auto& [counter, lost] : lost_by_counter) counters += lost;
    return std::max({lost_by_ring, lost_by_recorder, counters});
  }
};

Result<void> Recording::survey_all(const WalkOptions& options, Progress* progress) {
  if (progress != nullptr) progress->total = summary_.bytes;
  Survey survey;
  for (std::uint32_t index = 0; index < regions_.size(); ++index) {
    first_numbers_.push_back(
        std::accumulate(survey.counts.begin(), survey.counts.end(), std::uint64_t{0}));
    LOFT_CHECK(this->survey(index, options, survey, progress));
  }
  for (std::uint32_t slot = 0; slot < survey.counts.size(); ++slot)
    if (survey.counts[slot] != 0)
      summary_.records[type_name(perf::type_of_slot(slot))] += survey.counts[slot];
  summary_.samples = survey.counts[static_cast<std::uint32_t>(RecordType::sample)];
  summary_.lost = survey.lost();
  name_events();
  events_ = perf::EventTable(metadata().events);
  history_ = build_history(*this, std::move(survey.side));
  if (events_.size() == 0) summary_.notes.push_back("it names no event: samples cannot be read");
  note_other_contents();
  if (kallsyms_.empty()) kallsyms_ = tracing_.kallsyms;
  return {};
}

// What a recording may hold in place of samples.
void Recording::note_other_contents() {
  if (metadata().has_counts_only)
    summary_.notes.push_back(
        "it was made by 'perf stat record' and has counts in place of samples: --records shows "
        "them, 'loft metric eval --counts' takes them");
  if (summary_.samples == 0 && summary_.records.contains("AUXTRACE"))
    summary_.notes.push_back(
        "it holds a trace of the processor (AUX data), which loft does not decode: 'perf inject "
        "--itrace' makes samples of it");
}

Result<void> Recording::survey(std::uint32_t index, const WalkOptions& options, Survey& survey,
                               Progress* progress) {
  auto walk = walk_region(regions_[index], options, progress);
  if (walk.found_packed) {  // what counts is what is in them
    // Behind the last packed record of a pipe stands what perf said to the terminal.
    std::erase_if(walk.damages, [](const auto& damage) { return damage.is_tail; });
    note_damages(regions_[index], walk.damages);
    LOFT_TRY(auto unpacked, unpack(regions_[index]));
    mappings_.push_back(std::move(unpacked));
    regions_[index].bytes = mappings_.back().bytes();
    regions_[index].is_mapped = true;
    walk = walk_region(regions_[index], options, progress);
  }
  note_damages(regions_[index], walk.damages);
  const Region& region = regions_[index];
  for (std::size_t slot = 0; slot < walk.counts.size(); ++slot)
    survey.counts[slot] += walk.counts[slot];
  for (std::size_t i = 0; i < walk.cuts.size(); ++i)
    chunks_.push_back(
        {index, walk.cuts[i], i + 1 < walk.cuts.size() ? walk.cuts[i + 1] : region.bytes.size()});
  RawRecord record;
  for (const std::uint64_t offset : walk.told)
    if (perf::RecordWalker(region.bytes, region.order, offset).next(record))
      take_side_record(record, index, survey);
  return {};
}

void Recording::note_damages(const Region& region,
                             const std::vector<format::perf::Damage>& damages) {
  for (const auto& damage : damages) {
    summary_.damaged_bytes += damage.size;
    if (summary_.notes.size() < kMostNotes)
      summary_.notes.push_back(fmt::format("{} bytes at offset {} are no record{}", damage.size,
                                           region.file_offset + damage.offset,
                                           damage.is_tail ? "; nothing good follows" : ""));
  }
}

void Recording::take_side_record(const RawRecord& record, std::uint32_t region, Survey& survey) {
  switch (contents_of(record.type)) {
    case Contents::tasks_and_mappings:
      survey.side.push_back({0, region, record.offset});
      break;
    case Contents::loss_in_ring:
      if (const auto lost = perf::read_lost(record)) survey.lost_by_ring += lost->count;
      break;
    case Contents::loss_by_recorder:
      // Those that a filter of the user's dropped are not lost.
      if ((record.misc & perf::kMiscLostByFilter) != 0) break;
      if (const auto lost = perf::read_lost_samples(record)) survey.lost_by_recorder += lost->count;
      break;
    case Contents::reading:
      take_reading(record, survey);
      break;
    case Contents::event:
      take_attr_record(record);
      break;
    case Contents::name_of_event:
      take_update_record(record);
      break;
    case Contents::ids_of_events:
      take_id_record(record);
      break;
    case Contents::formats_of_tracepoints:
      if (tracing_.formats.empty())
        tracing_ = perf::read_tracing_data(record.type == RecordType::header_tracing_data
                                               ? record.payload
                                               : perf::sized_content(record));
      break;
    case Contents::kernel_symbols:
      if (const auto text = perf::sized_content(record); kallsyms_.empty())
        kallsyms_.assign(reinterpret_cast<const char*>(text.data()), text.size());
      break;
    case Contents::binary:
      if (auto dso = perf::read_simpleperf_dso(record)) {
        survey.dsos.insert_or_assign(dso->id, metadata().recorded_binaries.size());
        summary_.metadata.recorded_binaries.push_back(std::move(dso->binary));
      }
      break;
    case Contents::function_of_binary:
      if (auto found = perf::read_simpleperf_symbol(record))
        if (const auto dso = survey.dsos.find(found->dso); dso != survey.dsos.end())
          summary_.metadata.recorded_binaries[dso->second].symbols.push_back(
              std::move(found->symbol));
      break;
    case Contents::feature:
      take_feature_record(record);
      break;
    case Contents::piece_of_record:
      if (survey.pieces.size() + record.body.size() <= kMostJoined)
        survey.pieces.insert(survey.pieces.end(), record.body.begin(), record.body.end());
      break;
    case Contents::last_piece:
      take_joined_record(region, survey);
      break;
    case Contents::nothing:
      break;
  }
}

// Only what holds no place in the file comes in pieces: a kallsyms, formats of tracepoints.
void Recording::take_joined_record(std::uint32_t region, Survey& survey) {
  const std::vector<std::byte> pieces = std::move(survey.pieces);
  survey.pieces.clear();
  const auto record = perf::joined_record(pieces, regions_[region].order);
  if (!record) {
    summary_.notes.push_back("a record that came in pieces is not whole");
    return;
  }
  const Contents contents = contents_of(record->type);
  if (contents == Contents::kernel_symbols || contents == Contents::formats_of_tracepoints)
    take_side_record(*record, region, survey);
}

void Recording::take_id_record(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  auto& events = summary_.metadata.events;
  const auto count = in.count64(16);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto event = in.u64();
    const auto id = in.u64();
    if (event < events.size()) events[event].ids.push_back(id);
  }
}

void Recording::take_reading(const RawRecord& record, Survey& survey) {
  const auto& events = metadata().events;
  if (events.empty()) return;
  if (!survey.events || survey.events->size() != events.size()) survey.events.emplace(events);
  const auto event = survey.events->event_of_record(record).value_or(0);
  const auto read = perf::read_read(record, events[event].attr);
  if (!read) return;
  for (const auto& value : read->reading.values)
    if (value.id && value.lost) survey.lost_by_counter[{*value.id, read->tid}] = *value.lost;
}

// The attribute says its own size; ids fill the rest of the record.
void Recording::take_attr_record(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  in.skip(4);
  std::size_t size = in.u32();
  if (size == 0) size = perf::kSmallestAttr;
  if (!in.ok() || size < perf::kSmallestAttr || size > record.body.size()) return;
  const auto attr = perf::read_attr(record.body.first(size), record.order);
  if (!attr) return;
  perf_data::EventDescription event;
  event.attr = *attr;
  ByteReader ids(record.body.subspan(size), record.order);
  while (ids.remaining() >= 8) event.ids.push_back(ids.u64());
  summary_.metadata.events.push_back(std::move(event));
}

void Recording::take_update_record(const RawRecord& record) {
  auto& events = summary_.metadata.events;
  if (record.type == RecordType::header_event_type) {
    ByteReader in(record.body, record.order);
    const auto config = in.u64();
    const auto name = in.text_field(std::min<std::size_t>(64, in.remaining()));
    for (auto& event : events)
      if (in.ok() && event.attr.config == config && event.name.empty()) event.name = name;
    return;
  }
  const auto update = perf::read_event_update(record);
  if (!update) return;
  for (auto& event : events) {
    if (std::find(event.ids.begin(), event.ids.end(), update->id) == event.ids.end()) continue;
    if (update->kind == perf_data::EventUpdate::Kind::name) event.name = update->text;
    if (update->kind == perf_data::EventUpdate::Kind::unit) event.unit = update->text;
    if (update->kind == perf_data::EventUpdate::Kind::scale) event.scale = update->scale;
  }
}

void Recording::take_feature_record(const RawRecord& record) {
  auto& metadata = summary_.metadata;
  if (record.type == RecordType::header_build_id) {
    if (const auto id = perf::read_build_id(record))
      metadata.build_ids.push_back(
          {id->pid, id->is_kernel, perf::to_hex(id->bytes), std::string(id->path)});
    return;
  }
  ByteReader in(record.body, record.order);
  const auto bit = in.u64();
  const auto bytes = in.take(in.remaining());
  // The one that ends the list has no content; its number is the last that its writer knew.
  if (!in.ok() || bytes.empty() || bit >= 256) return;
  (void)perf::read_feature(static_cast<std::uint32_t>(bit), bytes, record.order, metadata);
}

void Recording::name_events() {
  perf::name_simpleperf_events(summary_.metadata);
  constexpr std::uint32_t kTracepoint = 2;
  for (auto& event : summary_.metadata.events) {
    const bool is_tracepoint = event.attr.type == kTracepoint;
    const auto* format = is_tracepoint ? tracing_.find(event.attr.config) : nullptr;
    if (!event.name.empty()) continue;
    event.name = format != nullptr ? format->system + ":" + format->name
                                   : perf::name_of_event(event.attr, metadata());
  }
}

}  // namespace loft::source
