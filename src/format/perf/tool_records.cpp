// Records that the perf tool adds to those of the kernel.
#include <bit>

#include "format/perf/records.hpp"

namespace loft::format::perf {

std::optional<pd::IdIndex> read_id_index(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::IdIndex index;
  const auto count = in.count64(32);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& entry = index.entries.emplace_back();
    entry.id = in.u64();
    entry.index = in.u64();
    entry.cpu = in.u64();
    entry.tid = in.u64();
  }
  if (!in.ok()) return std::nullopt;
  return index;
}

std::optional<pd::ThreadMap> read_thread_map(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::ThreadMap map;
  const auto count = in.count64(24);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& entry = map.entries.emplace_back();
    entry.tid = in.u64();
    entry.comm = in.text_field(16);
  }
  if (!in.ok()) return std::nullopt;
  return map;
}

std::optional<pd::TimeConversion> read_time_conversion(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::TimeConversion conversion;
  conversion.shift = in.u64();
  conversion.multiplier = in.u64();
  conversion.zero = in.u64();
  if (!in.ok()) return std::nullopt;
  return conversion;
}

std::optional<pd::StatValue> read_stat(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::StatValue stat;
  stat.id = in.u64();
  stat.cpu = in.u32();
  stat.thread = in.u32();
  stat.value = in.u64();
  stat.enabled = in.u64();
  stat.running = in.u64();
  if (!in.ok()) return std::nullopt;
  return stat;
}

std::optional<pd::StatRound> read_stat_round(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::StatRound round;
  round.kind = in.u64();
  round.time = in.u64();
  if (!in.ok()) return std::nullopt;
  return round;
}

std::optional<pd::BuildId> read_build_id(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::BuildId id;
  id.pid = in.u32();
  id.bytes = in.take(24);
  id.path = in.text_field(in.remaining());
  if (!in.ok()) return std::nullopt;
  // Byte 20 is the size since perf 5.11; before, a SHA-1 was taken for granted.
  std::size_t size = 20;
  if ((record.misc & kMiscBuildIdSize) != 0) {
    const auto claimed = std::to_integer<std::size_t>(id.bytes[20]);
    if (claimed > 0 && claimed < size) size = claimed;
  }
  id.bytes = id.bytes.first(size);
  id.is_kernel = record.mode() == CpuMode::kernel || record.mode() == CpuMode::guest_kernel;
  return id;
}

std::optional<pd::EventUpdate> read_event_update(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::EventUpdate update;
  const auto kind = in.u64();
  update.id = in.u64();
  if (!in.ok() || kind > 3) return std::nullopt;
  update.kind = static_cast<pd::EventUpdate::Kind>(kind);
  switch (update.kind) {
    case pd::EventUpdate::Kind::unit:
    case pd::EventUpdate::Kind::name:
      update.text = in.text_field(in.remaining());
      break;
    case pd::EventUpdate::Kind::scale:
      update.scale = std::bit_cast<double>(in.u64());
      break;
    case pd::EventUpdate::Kind::cpus: {
      if (in.u16() != 0) break;  // a bit mask: not needed for names and units
      const auto count = in.u16();
      for (unsigned i = 0; i < count && in.remaining() >= 2; ++i) update.cpus.push_back(in.u16());
      break;
    }
  }
  if (!in.ok()) return std::nullopt;
  return update;
}

}  // namespace loft::format::perf
