// From a record to its event: by the id at the place where all events agree to keep it, or by
// trying.
#include <algorithm>

#include "format/perf/sample.hpp"

namespace loft::format::perf {
namespace {

constexpr std::uint64_t kTailBits = kTid | kTime | kId | kStreamId | kCpu | kIdentifier;

SampleLayout::Places places_of(std::uint64_t type) {
  SampleLayout::Places places;
  const auto place = [&](std::uint64_t bit, std::uint16_t& field) {
    if ((type & bit) == 0) return;
    field = places.size;
    places.size = static_cast<std::uint16_t>(places.size + 8);
  };
  place(kIdentifier, places.identifier);
  place(kIp, places.ip);
  place(kTid, places.tid);
  place(kTime, places.time);
  place(kAddr, places.addr);
  place(kId, places.id);
  place(kStreamId, places.stream);
  place(kCpu, places.cpu);
  place(kPeriod, places.period);
  return places;
}

std::uint16_t times8(int count) { return static_cast<std::uint16_t>(count * 8); }

}  // namespace

SampleLayout::SampleLayout(const EventAttr& attr)
    : attr_(attr), in_sample_(places_of(attr.sample_type)) {
  if (!attr.sample_id_all) return;
  tail_size_ = times8(std::popcount(attr.sample_type & kTailBits));
  if (has(kTime)) {
    const auto behind = attr.sample_type & (kId | kStreamId | kCpu | kIdentifier);
    time_from_end_ = times8(std::popcount(behind) + 1);
  }
}

std::uint16_t SampleLayout::id_place_from_end() const {
  if (tail_size_ == 0) return kAbsent;
  if (has(kIdentifier)) return 8;
  if (!has(kId)) return kAbsent;
  return times8(std::popcount(attr_.sample_type & (kStreamId | kCpu)) + 1);
}

pd::RecordId SampleLayout::read_tail(const RawRecord& record) const {
  pd::RecordId id;
  if (tail_size_ == 0 || record.body.size() < tail_size_) return id;
  ByteReader in(record.body.last(tail_size_), record.order);
  if (has(kTid)) {
    id.pid = in.u32();
    id.tid = in.u32();
  }
  if (has(kTime)) id.time = in.u64();
  if (has(kId)) id.id = in.u64();
  if (has(kStreamId)) id.stream_id = in.u64();
  if (has(kCpu)) {
    id.cpu = in.u32();
    in.skip(4);
  }
  if (has(kIdentifier)) id.id = in.u64();
  return id;
}

pd::RecordId SampleLayout::read_head(const RawRecord& sample) const {
  pd::RecordId id;
  if (sample.body.size() < in_sample_.size) return id;
  const std::byte* body = sample.body.data();
  const auto u32_at = [&](std::size_t at) { return load<std::uint32_t>(body + at, sample.order); };
  const auto u64_at = [&](std::size_t at) { return load<std::uint64_t>(body + at, sample.order); };
  if (in_sample_.tid != kAbsent) {
    id.pid = u32_at(in_sample_.tid);
    id.tid = u32_at(in_sample_.tid + 4u);
  }
  if (in_sample_.time != kAbsent) id.time = u64_at(in_sample_.time);
  if (id_place() != kAbsent) id.id = u64_at(id_place());
  if (in_sample_.stream != kAbsent) id.stream_id = u64_at(in_sample_.stream);
  if (in_sample_.cpu != kAbsent) id.cpu = u32_at(in_sample_.cpu);
  return id;
}

EventTable::EventTable(const std::vector<pd::EventDescription>& events) {
  for (const auto& event : events) {
    for (const auto id : event.ids)
      ids_.push_back({id, static_cast<std::uint32_t>(layouts_.size())});
    layouts_.emplace_back(event.attr);
  }
  std::stable_sort(ids_.begin(), ids_.end(),
                   [](const IdEntry& a, const IdEntry& b) { return a.id < b.id; });
  if (layouts_.empty()) return;
  common_place_ = layouts_.front().id_place();
  common_from_end_ = layouts_.front().id_place_from_end();
  same_time_place_ = true;
  for (const auto& layout : layouts_) {
    if (layout.id_place() != common_place_) common_place_ = SampleLayout::kAbsent;
    if (layout.id_place_from_end() != common_from_end_) common_from_end_ = SampleLayout::kAbsent;
    same_time_place_ &= layout.places().time == layouts_.front().places().time &&
                        layout.time_place_from_end() == layouts_.front().time_place_from_end();
  }
}

std::optional<std::uint32_t> EventTable::event_of_id(std::uint64_t id) const {
  const auto found =
      std::lower_bound(ids_.begin(), ids_.end(), id,
                       [](const IdEntry& entry, std::uint64_t i) { return entry.id < i; });
  if (found == ids_.end() || found->id != id) return std::nullopt;
  return found->event;
}

std::optional<std::uint32_t> EventTable::search(const RawRecord& record, bool from_end) const {
  const auto common = from_end ? common_from_end_ : common_place_;
  const auto id_at = [&](std::uint16_t place) -> std::optional<std::uint64_t> {
    const std::size_t at = from_end ? record.body.size() - place : place;
    if (place == SampleLayout::kAbsent || place > record.body.size() || record.body.size() - at < 8)
      return std::nullopt;
    return load<std::uint64_t>(record.body.data() + at, record.order);
  };
  if (common != SampleLayout::kAbsent) {
    const auto id = id_at(common);
    if (!id) return std::nullopt;
    if (*id == 0) return 0;  // records that perf itself made up have no id
    return event_of_id(*id);
  }
  // No common place: an event whose own place holds one of its own ids is the right one.
  for (std::uint32_t event = 0; event < layouts_.size(); ++event) {
    const auto& layout = layouts_[event];
    const auto id = id_at(from_end ? layout.id_place_from_end() : layout.id_place());
    if (id && event_of_id(*id) == event) return event;
  }
  // Events without any id cannot be told apart; when their layouts agree the first will do.
  const bool same_type = std::all_of(layouts_.begin(), layouts_.end(), [&](const auto& layout) {
    return layout.attr().sample_type == layouts_.front().attr().sample_type;
  });
  if (same_type && layouts_.front().id_place() == SampleLayout::kAbsent) return 0;
  return std::nullopt;
}

std::optional<std::uint32_t> EventTable::event_of_sample(const RawRecord& record) const {
  if (layouts_.size() == 1) return 0;
  if (layouts_.empty()) return std::nullopt;
  return search(record, false);
}

std::optional<std::uint32_t> EventTable::event_of_record(const RawRecord& record) const {
  if (layouts_.empty() || !is_kernel_record(record.type)) return std::nullopt;
  if (record.type == RecordType::sample) return event_of_sample(record);
  if (layouts_.size() == 1) return 0;
  const auto event = search(record, true);
  return event ? event : 0;  // the first event's layout is the one perf writes its own records in
}

std::optional<std::uint64_t> EventTable::time_of(const RawRecord& record) const {
  if (layouts_.empty() || !is_kernel_record(record.type)) return std::nullopt;
  std::uint32_t event = 0;
  if (!same_time_place_) {
    const auto found = event_of_record(record);
    if (!found) return std::nullopt;
    event = *found;
  }
  const SampleLayout& layout = layouts_[event];
  const bool is_sample = record.type == RecordType::sample;
  const auto place = is_sample ? layout.places().time : layout.time_place_from_end();
  if (place == SampleLayout::kAbsent || place > record.body.size()) return std::nullopt;
  const std::size_t at = is_sample ? place : record.body.size() - place;
  if (record.body.size() - at < 8) return std::nullopt;
  return load<std::uint64_t>(record.body.data() + at, record.order);
}

}  // namespace loft::format::perf
