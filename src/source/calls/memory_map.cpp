#include "source/calls/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::source::calls {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - (1u << 20);
constexpr std::uint64_t kLowest = 1u << 20;  // what is below belongs to nobody
constexpr std::uint64_t kHighest = std::uint64_t{1} << 47;
constexpr std::uint64_t kRoomOfHeap = 1u << 30;

// START-END PERMISSIONS OFFSET DEVICE INODE PATH
std::optional<MemoryRange> parse_line(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() < 5 || words[1].size() < 3) return std::nullopt;
  const auto range = split(words[0], '-');
  const auto start = parse_hex(range.front());
  const auto end = parse_hex(range.back());
  const auto offset = parse_hex(words[2]);
  if (!start || !end || !offset || *end < *start) return std::nullopt;
  MemoryRange result{*start, *end, *offset, words[1][2] == 'x', {}};
  if (words.size() > 5)
    result.path = line.substr(static_cast<std::size_t>(words[5].data() - line.data()));
  return result;
}

}  // namespace

std::vector<MemoryRange> parse_mappings(std::string_view text) {
  std::vector<MemoryRange> mappings;
  for (const std::string_view line : split(text, '\n'))
    if (auto mapping = parse_line(line)) mappings.push_back(std::move(*mapping));
  return mappings;
}

Result<std::vector<MemoryRange>> mappings_of(pid_t pid) {
  LOFT_TRY(const std::string text, read_file(fmt::format("/proc/{}/maps", pid)));
  return parse_mappings(text);
}

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
