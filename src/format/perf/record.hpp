// The stream of records: found one after the other, or again after damage.
//
//   RecordWalker walker(bytes, ByteOrder::little);
//   RawRecord record;
//   while (walker.next(record)) use(record);
//   for (const Damage& damage : walker.damages()) tell(damage);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "loft/perf_data/records.hpp"

namespace loft::format::perf {

using loft::perf_data::CpuMode;
using loft::perf_data::RecordType;

inline constexpr std::size_t kRecordHeader = 8;

// Bits of a record's misc field.
inline constexpr std::uint16_t kMiscCpuMode = 7;
inline constexpr std::uint16_t kMiscMmapData = 1u << 13;
inline constexpr std::uint16_t kMiscCommExec = 1u << 13;
inline constexpr std::uint16_t kMiscSwitchOut = 1u << 13;
inline constexpr std::uint16_t kMiscExactIp = 1u << 14;
inline constexpr std::uint16_t kMiscSwitchOutPreempt = 1u << 14;
inline constexpr std::uint16_t kMiscMmapBuildId = 1u << 14;
inline constexpr std::uint16_t kMiscLostByFilter = 1u << 15;
inline constexpr std::uint16_t kMiscBuildIdSize = 1u << 15;

struct RawRecord {
  RecordType type{};
  std::uint16_t misc = 0;
  ByteOrder order = kHostOrder;
  std::uint64_t offset = 0;            // of its header, within the walked bytes
  std::span<const std::byte> body;     // what follows the header
  std::span<const std::byte> payload;  // bytes behind the record that belong to it (AUXTRACE)

  [[nodiscard]] CpuMode mode() const {
    const unsigned value = misc & kMiscCpuMode;
    return value <= 5 ? static_cast<CpuMode>(value) : CpuMode::unknown;
  }
};

// A stretch of bytes that is no record.
struct Damage {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool is_tail = false;  // nothing good follows: cut off, or foreign text at the end
};

// Types are counted in arrays: those of the kernel and of perf at their own number, those of
// simpleperf behind them.
inline constexpr std::uint32_t kPerfTypes = 256;
inline constexpr std::uint32_t kSimpleperfStart = 32768;
inline constexpr std::uint32_t kSimpleperfTypes = 64;
inline constexpr std::uint32_t kTypeSlots = kPerfTypes + kSimpleperfTypes;
// The place of a type in such an array; kTypeSlots for a number that no recorder uses.
[[nodiscard]] constexpr std::uint32_t slot_of_type(std::uint32_t type) {
  if (type < kPerfTypes) [[likely]]
    return type;
  return type - kSimpleperfStart < kSimpleperfTypes ? type - kSimpleperfStart + kPerfTypes
                                                    : kTypeSlots;
}
[[nodiscard]] constexpr RecordType type_of_slot(std::uint32_t slot) {
  return static_cast<RecordType>(slot < kPerfTypes ? slot : slot - kPerfTypes + kSimpleperfStart);
}

// Sizes of the fixed parts, header included, by slot; 0 for a type that has no name.
inline constexpr std::array<std::uint16_t, kTypeSlots> kSmallestSizes = [] {
  constexpr std::array<std::uint16_t, 23> kKernel = {0,  40, 24, 16, 32, 32, 32, 32, 16, 8,  72,
                                                     32,  // up to AUX
                                                     16, 16, 8,  16, 24, 24, 24, 16, 20, 16, 24};
  constexpr std::array<std::uint16_t, 23> kTool = {72, 24, 12, 36, 8,  16, 16, 48, 32, 16, 10,
                                                   16,  // up to STAT_CONFIG
                                                   48, 24, 24, 32, 16, 8,  8,  16, 8,  8,  8};
  constexpr std::array<std::uint16_t, 11> kSimpleperf = {0,  12, 32, 32, 8, 8,
                                                         16,  // up to EVENT_ID
                                                         40, 16, 12, 16};
  std::array<std::uint16_t, kTypeSlots> sizes{};
  for (std::size_t i = 0; i < kKernel.size(); ++i) sizes[i] = kKernel[i];
  for (std::size_t i = 0; i < kTool.size(); ++i) sizes[64 + i] = kTool[i];
  for (std::size_t i = 0; i < kSimpleperf.size(); ++i) sizes[kPerfTypes + i] = kSimpleperf[i];
  return sizes;
}();

// Whether a header can be the start of a record of this type. `available` counts from the header
// on. Unknown types are skipped where they follow those that are known, others are damage.
[[nodiscard]] inline bool is_plausible(std::uint32_t type, std::uint16_t size,
                                       std::size_t available) {
  const std::uint32_t slot = slot_of_type(type);
  if (size < kRecordHeader || size > available || type == 0 || slot == kTypeSlots) return false;
  const std::uint16_t smallest = kSmallestSizes[slot];
  return smallest == 0 ? size % 8 == 0 : size >= smallest;
}

// Whether a chain of plausible records starts here; what tells records from other bytes.
[[nodiscard]] bool starts_records(std::span<const std::byte> bytes, ByteOrder order);

// The first place from `from` on, and before `until`, where such a chain starts; `until` if none.
[[nodiscard]] std::uint64_t find_records(std::span<const std::byte> bytes, ByteOrder order,
                                         std::uint64_t from, std::uint64_t until);

class RecordWalker {
 public:
  RecordWalker(std::span<const std::byte> bytes, ByteOrder order, std::uint64_t start = 0)
      : bytes_(bytes), order_(order), at_(start) {}

  // False at the end. After damage it goes on with the next good record and keeps note of the gap.
  bool next(RawRecord& record) {
    if (!at_record_) [[unlikely]] {
      if (!find_record()) return false;
    }
    const std::byte* header = bytes_.data() + at_;
    record.type = static_cast<RecordType>(load<std::uint32_t>(header, order_));
    record.misc = load<std::uint16_t>(header + 4, order_);
    const std::size_t size = load<std::uint16_t>(header + 6, order_);
    record.order = order_;
    record.offset = at_;
    record.body = bytes_.subspan(at_ + kRecordHeader, size - kRecordHeader);
    record.payload = {};
    const std::uint64_t end = at_ + size;
    if (record.type == RecordType::auxtrace || record.type == RecordType::header_tracing_data)
        [[unlikely]] {
      take_payload(record, end);
      return true;
    }
    at_record_ = header_is_good(end);
    if (!at_record_ && end != bytes_.size()) [[unlikely]] {
      return recover(record, end);
    }
    at_ = end;
    return true;
  }

  [[nodiscard]] std::uint64_t position() const { return at_; }
  [[nodiscard]] const std::vector<Damage>& damages() const { return damages_; }

 private:
  [[nodiscard]] bool header_is_good(std::uint64_t at) const {
    if (bytes_.size() - at < kRecordHeader) return false;
    const std::byte* header = bytes_.data() + at;
    return is_plausible(load<std::uint32_t>(header, order_),
                        load<std::uint16_t>(header + 6, order_), bytes_.size() - at);
  }
  bool find_record();
  bool recover(RawRecord& record, std::uint64_t end);
  void take_payload(RawRecord& record, std::uint64_t end);
  [[nodiscard]] std::uint64_t next_chain(std::uint64_t from) const {
    return find_records(bytes_, order_, from, bytes_.size());
  }
  void note_damage(std::uint64_t from, std::uint64_t to);

  std::span<const std::byte> bytes_;
  ByteOrder order_;
  std::uint64_t at_;
  bool at_record_ = false;
  std::vector<Damage> damages_;
};

}  // namespace loft::format::perf
