#include "source/calls/room.hpp"

#include <algorithm>

namespace loft::source::calls {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - (1u << 20);
constexpr std::uint64_t kLowest = 1u << 20;  // what is below belongs to nobody
constexpr std::uint64_t kHighest = std::uint64_t{1} << 47;
constexpr std::uint64_t kRoomOfHeap = 1u << 30;

}  // namespace

std::optional<std::uint64_t> find_room(const std::vector<MemoryRange>& mappings,
                                       std::uint64_t first, std::uint64_t last,
                                       std::uint64_t size) {
  size = (size + kPage - 1) / kPage * kPage;
  const std::uint64_t lowest = std::max(kLowest, last > kReach ? last - kReach : 0);
  const std::uint64_t highest = std::min(kHighest, first + kReach);
  std::optional<std::uint64_t> below;  // the nearest
  std::optional<std::uint64_t> above;
  std::uint64_t gap = lowest;
  const auto consider = [&](std::uint64_t start, std::uint64_t end) {
    start = std::max(start, lowest);
    end = std::min(end, highest);
    if (end <= start || end - start < size) return;
    if (end <= first) below = (end - size) / kPage * kPage;
    const std::uint64_t behind_heap = std::max(start, last + kRoomOfHeap);
    if (start >= first && !above && behind_heap < end && end - behind_heap >= size)
      above = (behind_heap + kPage - 1) / kPage * kPage;
    if (start >= first && !above) above = start;
  };
  for (const MemoryRange& mapping : mappings) {
    consider(gap, mapping.start);
    gap = std::max(gap, mapping.end);
  }
  consider(gap, kHighest);
  return below ? below : above;
}

}  // namespace loft::source::calls
