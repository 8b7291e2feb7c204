// Where the fields of a sample are, and the sample itself.
//
// A sample has no layout of its own: the event that it belongs to says which fields it has, and its
// id, which says the event, is one of them. EventTable solves that; SampleLayout knows the places.
//
//   const auto event = table.event_of_sample(record);
//   const SampleLayout& layout = table.layout(*event);
//   const auto time = table.time_of(record);           // one load, for the fast road
//   const auto sample = read_sample(record, layout);   // everything
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "format/perf/records.hpp"
#include "loft/perf_data/metadata.hpp"
#include "loft/perf_data/sample.hpp"

namespace loft::format::perf {

// Offsets within a record's body. Everything up to the period lies at fixed places.
class SampleLayout {
 public:
  SampleLayout() = default;
  explicit SampleLayout(const EventAttr& attr);

  static constexpr std::uint16_t kAbsent = 0xFFFF;
  struct Places {
    std::uint16_t identifier = kAbsent, ip = kAbsent, tid = kAbsent, time = kAbsent, addr = kAbsent,
                  id = kAbsent, stream = kAbsent, cpu = kAbsent, period = kAbsent;
    std::uint16_t size = 0;  // of the fixed part
  };

  [[nodiscard]] const EventAttr& attr() const { return attr_; }
  [[nodiscard]] const Places& places() const { return in_sample_; }
  [[nodiscard]] bool has(SampleBit bit) const { return (attr_.sample_type & bit) != 0; }

  // Where the id is: from the start of a sample's body, from the end of another record's.
  [[nodiscard]] std::uint16_t id_place() const {
    return in_sample_.identifier != kAbsent ? in_sample_.identifier : in_sample_.id;
  }
  [[nodiscard]] std::uint16_t id_place_from_end() const;
  [[nodiscard]] std::uint16_t time_place_from_end() const { return time_from_end_; }

  // The RecordId of a record that is no sample stands behind its own fields; a sample has its parts
  // among its first fields.
  [[nodiscard]] pd::RecordId read_tail(const RawRecord& record) const;
  [[nodiscard]] pd::RecordId read_head(const RawRecord& sample) const;

 private:
  EventAttr attr_;
  Places in_sample_;
  std::uint16_t tail_size_ = 0;  // bytes of the RecordId behind a record; 0 when there is none
  std::uint16_t time_from_end_ = kAbsent;
};

// The events of a recording and the way from an id to them.
class EventTable {
 public:
  EventTable() = default;
  explicit EventTable(const std::vector<pd::EventDescription>& events);

  [[nodiscard]] std::size_t size() const { return layouts_.size(); }
  [[nodiscard]] const SampleLayout& layout(std::uint32_t event) const { return layouts_[event]; }

  // The event that the record belongs to; nothing when its id is of none.
  [[nodiscard]] std::optional<std::uint32_t> event_of_sample(const RawRecord& record) const;
  // A reader of many samples passes a memo: neighbours in a file most often have the same id.
  struct Memo {
    std::uint64_t id = 0;
    std::optional<std::uint32_t> event;
  };
  [[nodiscard]] std::optional<std::uint32_t> event_of_sample(const RawRecord& record,
                                                             Memo& memo) const {
    if (layouts_.size() == 1) return 0;
    if (common_place_ == SampleLayout::kAbsent || record.body.size() < common_place_ + 8u)
      return event_of_sample(record);
    const auto id = load<std::uint64_t>(record.body.data() + common_place_, record.order);
    if (!memo.event || memo.id != id) memo = {id, event_of_sample(record)};
    return memo.event;
  }
  [[nodiscard]] std::optional<std::uint32_t> event_of_record(const RawRecord& record) const;
  [[nodiscard]] std::optional<std::uint32_t> event_of_id(std::uint64_t id) const;

  // The time of any record, without reading the rest of it.
  [[nodiscard]] std::optional<std::uint64_t> time_of(const RawRecord& record) const;

 private:
  struct IdEntry {
    std::uint64_t id;
    std::uint32_t event;
  };
  [[nodiscard]] std::optional<std::uint32_t> search(const RawRecord& record, bool from_end) const;

  std::vector<SampleLayout> layouts_;
  std::vector<IdEntry> ids_;                            // sorted by id
  std::uint16_t common_place_ = SampleLayout::kAbsent;  // of the id in samples of all events
  std::uint16_t common_from_end_ = SampleLayout::kAbsent;
  bool same_time_place_ = false;
};

// Whether ids of the kernel's records end with who, when and where.
[[nodiscard]] inline bool is_kernel_record(RecordType type) {
  return static_cast<std::uint32_t>(type) < 64;
}

// The whole sample. Nothing when a count in it does not fit into the record.
[[nodiscard]] std::optional<pd::Sample> read_sample(const RawRecord& record,
                                                    const SampleLayout& layout);

// The part that a profile needs, read from the fixed places and by skipping the reading: cheap
// enough for every sample. False when the record is too short for its event.
struct BriefSample {
  std::uint64_t ip = 0, time = 0, period = 0;
  std::uint32_t pid = 0, tid = 0, cpu = 0;
  pd::U64View call_chain;
};
// Steps over PERF_SAMPLE_READ without building it.
[[nodiscard]] bool skip_reading(ByteReader& in, std::uint64_t format);

[[nodiscard]] inline bool read_brief(const RawRecord& record, const SampleLayout& layout,
                                     BriefSample& sample) {
  const auto& places = layout.places();
  if (record.body.size() < places.size) return false;
  const std::byte* body = record.body.data();
  constexpr auto kAbsent = SampleLayout::kAbsent;
  const auto u64_at = [&](std::uint16_t place) {
    return place == kAbsent ? 0 : load<std::uint64_t>(body + place, record.order);
  };
  sample.ip = u64_at(places.ip);
  sample.time = u64_at(places.time);
  if (places.tid != kAbsent) {
    sample.pid = load<std::uint32_t>(body + places.tid, record.order);
    sample.tid = load<std::uint32_t>(body + places.tid + 4, record.order);
  }
  if (places.cpu != kAbsent) sample.cpu = load<std::uint32_t>(body + places.cpu, record.order);
  sample.period = places.period == kAbsent ? layout.attr().sample_period : u64_at(places.period);
  if (!layout.has(kCallchain)) return true;
  ByteReader in(record.body.subspan(places.size), record.order);
  if (layout.has(kRead) && !skip_reading(in, layout.attr().read_format)) return false;
  const std::uint64_t count = in.count64(8);
  sample.call_chain = {in.here(), static_cast<std::size_t>(count), record.order != kHostOrder};
  return in.ok();
}

}  // namespace loft::format::perf
