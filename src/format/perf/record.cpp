#include "format/perf/record.hpp"

#include <array>

namespace loft::format::perf {
namespace {

constexpr int kChain = 4;                   // records in a row that make a start believable
constexpr std::size_t kMostDamages = 1024;  // kept one by one; the rest is added to the last

// A start is believed when a chain of known records follows, or reaches the end exactly.
bool chain_starts_at(std::span<const std::byte> bytes, ByteOrder order, std::uint64_t at) {
  for (int link = 0; link < kChain; ++link) {
    if (at == bytes.size()) return link > 0;
    if (bytes.size() - at < kRecordHeader) return link > 1;  // cut off behind good ones
    const auto type = load<std::uint32_t>(bytes.data() + at, order);
    const auto size = load<std::uint16_t>(bytes.data() + at + 6, order);
    const auto slot = slot_of_type(type);
    if (slot == kTypeSlots || kSmallestSizes[slot] == 0) return false;
    if (size > bytes.size() - at) return link > 1 && size % 8 == 0;
    if (!is_plausible(type, size, bytes.size() - at)) return false;
    at += size;
  }
  return true;
}

}  // namespace

bool starts_records(std::span<const std::byte> bytes, ByteOrder order) {
  return chain_starts_at(bytes, order, 0);
}

// The kernel pads to 8 bytes from the first record on; compressed records alone break that, so the
// search for every byte comes second, window by window: its cost follows the size of the damage.
std::uint64_t find_records(std::span<const std::byte> bytes, ByteOrder order, std::uint64_t from,
                           std::uint64_t until) {
  constexpr std::uint64_t kWindow = 1u << 16;
  for (std::uint64_t first = from; first < until; first += kWindow) {
    for (const std::uint64_t step : {8u, 1u}) {
      for (std::uint64_t at = first; at < first + kWindow && at < until; at += step) {
        if (at + kRecordHeader > bytes.size()) break;
        if (chain_starts_at(bytes, order, at)) return at;
      }
    }
  }
  return until;
}

void RecordWalker::note_damage(std::uint64_t from, std::uint64_t to) {
  if (from == to) return;
  const bool is_tail = to == bytes_.size();
  if (damages_.size() >= kMostDamages) {
    damages_.back().size += to - from;
    damages_.back().is_tail |= is_tail;
  } else {
    damages_.push_back({from, to - from, is_tail});
  }
}

bool RecordWalker::find_record() {
  if (at_ >= bytes_.size()) return false;
  if (!header_is_good(at_)) {
    const std::uint64_t found = next_chain(at_);
    note_damage(at_, found);
    at_ = found;
    if (at_ == bytes_.size()) return false;
  }
  at_record_ = true;
  return true;
}

// The record at `at_` is whole, but what follows it is no record: either the following bytes are
// damaged, or this record lies about its size and swallowed good ones.
bool RecordWalker::recover(RawRecord& record, std::uint64_t end) {
  const std::uint64_t found = next_chain(at_ + kRecordHeader);
  if (found >= end) {
    note_damage(end, found);
    at_ = found;
    at_record_ = found < bytes_.size();
    return true;
  }
  note_damage(at_, found);
  at_ = found;
  at_record_ = true;
  return next(record);
}

void RecordWalker::take_payload(RawRecord& record, std::uint64_t end) {
  ByteReader in(record.body, order_);
  const std::uint64_t claimed = record.type == RecordType::auxtrace ? in.u64() : in.u32();
  const std::uint64_t left = bytes_.size() - end;
  // Tracing data is padded to 8 bytes behind its size; AUX data carries its padding in the size.
  const std::uint64_t size = claimed > left ? left : claimed;
  record.payload = bytes_.subspan(end, size);
  const std::uint64_t padded = record.type == RecordType::auxtrace ? size : (size + 7) & ~7ull;
  at_ = end + (padded > left ? left : padded);
  at_record_ = header_is_good(at_);
  if (claimed > left) note_damage(at_, bytes_.size());
}

}  // namespace loft::format::perf

namespace loft::perf_data {

std::string_view name_of(RecordType type) {
  static constexpr std::array<std::string_view, 23> kKernel = {"",
                                                               "MMAP",
                                                               "LOST",
                                                               "COMM",
                                                               "EXIT",
                                                               "THROTTLE",
                                                               "UNTHROTTLE",
                                                               "FORK",
                                                               "READ",
                                                               "SAMPLE",
                                                               "MMAP2",
                                                               "AUX",
                                                               "ITRACE_START",
                                                               "LOST_SAMPLES",
                                                               "SWITCH",
                                                               "SWITCH_CPU_WIDE",
                                                               "NAMESPACES",
                                                               "KSYMBOL",
                                                               "BPF_EVENT",
                                                               "CGROUP",
                                                               "TEXT_POKE",
                                                               "AUX_OUTPUT_HW_ID",
                                                               "CALLCHAIN_DEFERRED"};
  static constexpr std::array<std::string_view, 23> kTool = {"HEADER_ATTR",
                                                             "HEADER_EVENT_TYPE",
                                                             "HEADER_TRACING_DATA",
                                                             "HEADER_BUILD_ID",
                                                             "FINISHED_ROUND",
                                                             "ID_INDEX",
                                                             "AUXTRACE_INFO",
                                                             "AUXTRACE",
                                                             "AUXTRACE_ERROR",
                                                             "THREAD_MAP",
                                                             "CPU_MAP",
                                                             "STAT_CONFIG",
                                                             "STAT",
                                                             "STAT_ROUND",
                                                             "EVENT_UPDATE",
                                                             "TIME_CONV",
                                                             "HEADER_FEATURE",
                                                             "COMPRESSED",
                                                             "FINISHED_INIT",
                                                             "COMPRESSED2",
                                                             "BPF_METADATA",
                                                             "SCHEDSTAT_CPU",
                                                             "SCHEDSTAT_DOMAIN"};
  static constexpr std::array<std::string_view, 10> kSimpleperf = {
      "SIMPLEPERF_KERNEL_SYMBOL", "SIMPLEPERF_DSO",
      "SIMPLEPERF_SYMBOL",        "SIMPLEPERF_SPLIT",
      "SIMPLEPERF_SPLIT_END",     "SIMPLEPERF_EVENT_ID",
      "SIMPLEPERF_CALLCHAIN",     "SIMPLEPERF_UNWINDING_RESULT",
      "SIMPLEPERF_TRACING_DATA",  "SIMPLEPERF_DEBUG"};
  const auto number = static_cast<std::uint32_t>(type);
  if (number < kKernel.size()) return kKernel[number];
  if (number >= 64 && number - 64 < kTool.size()) return kTool[number - 64];
  const auto first = static_cast<std::uint32_t>(RecordType::simpleperf_kernel_symbol);
  if (number >= first && number - first < kSimpleperf.size()) return kSimpleperf[number - first];
  return {};
}

}  // namespace loft::perf_data
