// perf_event_attr as a file has it: any size, either byte order.
#pragma once

#include <cstddef>
#include <span>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::format::perf {

using loft::perf_data::EventAttr;

inline constexpr std::size_t kSmallestAttr = 64;  // PERF_ATTR_SIZE_VER0

// Takes what is there: a shorter attribute leaves the rest 0, the tail of a longer one is skipped.
[[nodiscard]] Result<EventAttr> read_attr(std::span<const std::byte> bytes, ByteOrder order);

// PERF_SAMPLE_* bits of sample_type.
enum SampleBit : std::uint64_t {
  kIp = 1u << 0,
  kTid = 1u << 1,
  kTime = 1u << 2,
  kAddr = 1u << 3,
  kRead = 1u << 4,
  kCallchain = 1u << 5,
  kId = 1u << 6,
  kCpu = 1u << 7,
  kPeriod = 1u << 8,
  kStreamId = 1u << 9,
  kRaw = 1u << 10,
  kBranchStack = 1u << 11,
  kRegsUser = 1u << 12,
  kStackUser = 1u << 13,
  kWeight = 1u << 14,
  kDataSrc = 1u << 15,
  kIdentifier = 1u << 16,
  kTransaction = 1u << 17,
  kRegsIntr = 1u << 18,
  kPhysAddr = 1u << 19,
  kAux = 1u << 20,
  kCgroup = 1u << 21,
  kDataPageSize = 1u << 22,
  kCodePageSize = 1u << 23,
  kWeightStruct = 1u << 24,
  kKnownSampleBits = (1u << 25) - 1,
};

// PERF_FORMAT_* bits of read_format.
enum ReadBit : std::uint64_t {
  kReadTotalTimeEnabled = 1u << 0,
  kReadTotalTimeRunning = 1u << 1,
  kReadId = 1u << 2,
  kReadGroup = 1u << 3,
  kReadLost = 1u << 4,
};

// PERF_SAMPLE_BRANCH_* bits that change the layout.
inline constexpr std::uint64_t kBranchHardwareIndex = 1u << 17;
inline constexpr std::uint64_t kBranchCounters = 1u << 19;

}  // namespace loft::format::perf
