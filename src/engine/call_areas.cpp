#include "engine/call_areas.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <numeric>

namespace loft::engine {
namespace {

using Quantities = std::array<std::uint64_t, kCallQuantities>;

class Reader {
 public:
  Reader(const Shared& shared, std::uint32_t slot, std::uint32_t functions)
      : memory_(shared.descriptor()),
        base_(kCallsOffset + std::uint64_t{slot} * kCallBytes),
        slot_(slot),
        functions_(std::min(functions, kMaxCallFunctions)) {}

  Result<CallArea> read(std::uint64_t now) {
    header_ = std::make_unique<CallThreadArea>();
    LOFT_CHECK(read_at(0, header_.get(), sizeof *header_));
    LOFT_CHECK(read_functions());
    LOFT_CHECK(read_nodes());
    LOFT_CHECK(read_records());
    LOFT_CHECK(read_open(now));
    area_.lost = header_->lost;
    area_.lost_nodes = header_->lost_nodes;
    return std::move(area_);
  }

 private:
  Result<void> read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
    return read_memory(base_ + offset, to, bytes);
  }

  // Through read and not through a mapping: looking at a hole in a mapping would fill it.
  Result<void> read_memory(std::uint64_t at, void* to, std::size_t bytes) const {
    auto* out = static_cast<std::uint8_t*>(to);
    while (bytes != 0) {
      const ssize_t got = ::pread(memory_, out, bytes, static_cast<off_t>(at));
      if (got <= 0) return failure_of_errno(got < 0 ? errno : EIO, "read the calls of a thread");
      out += got;
      at += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
    return {};
  }

  Result<void> read_functions() {
    const std::uint64_t first = base_ + kCallFunctionsOffset;
    const std::uint64_t end = first + std::uint64_t{functions_} * sizeof(CallFunctionEntry);
    auto entry = std::make_unique<CallFunctionEntry>();
    for (std::uint64_t at = first; at < end;) {
      const off_t data = ::lseek(memory_, static_cast<off_t>(at), SEEK_DATA);
      if (data < 0 && errno == ENXIO) break;
      if (data < 0) return failure_of_errno(errno, "find the calls of a thread");
      const auto number = static_cast<std::uint32_t>((static_cast<std::uint64_t>(data) - first) /
                                                     sizeof(CallFunctionEntry));
      if (number >= functions_) break;
      LOFT_CHECK(read_memory(first + number * sizeof *entry, entry.get(), sizeof *entry));
      if (entry->calls != 0 || entry->active != 0 || entry->unmeasured != 0)
        area_.functions.emplace_back(number, *entry);
      at = first + (number + 1) * sizeof *entry;
    }
    for (auto& [number, function] : area_.functions) {
      function.slowest_count = std::min(function.slowest_count, kSlowestCalls);
      for (std::uint32_t i = 0; i < function.slowest_count; ++i) bound(function.slowest[i]);
    }
    return {};
  }

  Result<void> read_nodes() {
    const std::uint32_t count = std::min(header_->nodes, kMaxCallNodes - 1);
    area_.nodes.resize(count);
    LOFT_CHECK(read_at(kCallNodesOffset + sizeof(CallNodeEntry), area_.nodes.data(),
                       count * sizeof(CallNodeEntry)));
    for (std::uint32_t i = 0; i < count; ++i) {
      CallNodeEntry& node = area_.nodes[i];
      if (node.parent > i) node.parent = 0;
      if (node.function >= functions_) node = CallNodeEntry{};
    }
    return {};
  }

  Result<void> read_records() {
    area_.records.resize(std::min<std::uint64_t>(header_->kept, kMaxCallRecords));
    LOFT_CHECK(read_at(kCallRecordsOffset, area_.records.data(),
                       area_.records.size() * sizeof(CallRecord)));
    for (CallRecord& record : area_.records) bound(record);
    return {};
  }

  void bound(CallRecord& record) const {
    if (record.function >= functions_) record.function = 0;
    if (record.caller > functions_) record.caller = 0;
  }

  Result<void> read_open(std::uint64_t now) {
    Quantities totals{};
    LOFT_CHECK(read_totals(totals));
    totals[kTicks] = now;
    LOFT_CHECK(read_stack(header_->now, totals));
    for (std::uint32_t i = 0; i < std::min(header_->stacks, kMaxCallStacks); ++i) {
      const CallStack& stack = header_->parked[i];
      Quantities left{};
      std::copy(std::begin(stack.left_at), std::end(stack.left_at), left.begin());
      LOFT_CHECK(read_stack(stack, left));
    }
    return {};
  }

  Result<void> read_totals(Quantities& totals) const {
    std::array<std::uint64_t, kMaxCallEvents * kTotalLanes> lanes{};
    LOFT_CHECK(read_memory(kCountersOffset + slot_ * kCountersPerSlot + kFirstTotal * 8,
                           lanes.data(), sizeof lanes));
    for (std::uint32_t event = 0; event < kMaxCallEvents; ++event)
      totals[event] = std::accumulate(lanes.begin() + event * kTotalLanes,
                                      lanes.begin() + (event + 1) * kTotalLanes, std::uint64_t{0});
    return {};
  }

  // From the innermost call outwards: what one has used is no longer its caller's own.
  Result<void> read_stack(const CallStack& stack, const Quantities& totals) {
    Quantities inner{};
    std::uint32_t number = stack.top;
    for (std::uint32_t i = 0; number != 0 && number < kMaxCallFrames && i < kMaxCallFrames; ++i) {
      CallFrame frame{};
      LOFT_CHECK(read_at(kCallFramesOffset + number * sizeof frame, &frame, sizeof frame));
      if (frame.function >= functions_) return {};
      OpenCall open{.record = {frame.begin, frame.function, 0, frame.depth, frame.flags, {}, {}},
                    .node = frame.node <= area_.nodes.size() ? frame.node : 0};
      for (std::uint32_t q = 0; q < kCallQuantities; ++q) {
        open.record.value[q] = totals[q] - stack.away[q] - frame.start[q];
        open.record.self[q] = open.record.value[q] - frame.child[q] - inner[q];
        inner[q] = open.record.value[q];
      }
      if (i != 0) area_.open.back().record.caller = frame.function + 1;
      area_.open.push_back(open);
      number = frame.below;
    }
    return {};
  }

  int memory_;
  std::uint64_t base_;
  std::uint64_t slot_;
  std::uint32_t functions_;
  std::unique_ptr<CallThreadArea> header_;
  CallArea area_;
};

}  // namespace

Result<CallArea> read_calls(const Shared& shared, std::uint32_t slot, std::uint32_t functions,
                            std::uint64_t now) {
  return Reader(shared, slot, functions).read(now);
}

}  // namespace loft::engine
