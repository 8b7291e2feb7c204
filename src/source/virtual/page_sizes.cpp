#include "source/virtual/page_sizes.hpp"

#include <bit>
#include <charconv>
#include <optional>

#include "base/text.hpp"

namespace loft::source::virtual_pmu {
namespace {

constexpr int kSmall = 12;
constexpr int kTransparent = 21;  // 2 MiB
constexpr int kLargest = 40;

struct Mapping {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t resident_kib = 0, huge_kib = 0, page_kib = 4;
};

// "7f12a0000000-7f12b0000000 rw-p ..."
std::optional<Mapping> begin_of(std::string_view line) {
  Mapping mapping;
  const char* const last = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), last, mapping.begin, 16);
  if (begin.ec != std::errc() || begin.ptr == last || *begin.ptr != '-') return std::nullopt;
  const auto end = std::from_chars(begin.ptr + 1, last, mapping.end, 16);
  if (end.ec != std::errc() || end.ptr == last || *end.ptr != ' ') return std::nullopt;
  return mapping.begin < mapping.end ? std::optional(mapping) : std::nullopt;
}

// "Rss:     1234 kB"
std::optional<std::uint64_t> kib_of(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const std::string_view value = trim(line.substr(name.size()));
  return parse_u64(value.substr(0, value.find(' ')));
}

void add(const std::optional<Mapping>& mapping, std::vector<PageRange>& ranges) {
  if (!mapping) return;
  int shift = kSmall;
  if (2 * mapping->huge_kib > mapping->resident_kib) shift = kTransparent;
  if (mapping->page_kib > 4 && std::has_single_bit(mapping->page_kib))
    shift = std::countr_zero(mapping->page_kib) + 10;
  if (shift == kSmall || shift > kLargest) return;
  const std::uint64_t page = std::uint64_t{1} << shift;
  const std::uint64_t begin = (mapping->begin + page - 1) & ~(page - 1);
  const std::uint64_t end = mapping->end & ~(page - 1);
  if (begin >= mapping->begin && begin < end) ranges.push_back({begin, end, shift});
}

}  // namespace

std::vector<PageRange> large_pages(std::string_view smaps) {
  std::vector<PageRange> ranges;
  std::optional<Mapping> mapping;
  while (!smaps.empty()) {
    const std::string_view line = smaps.substr(0, smaps.find('\n'));
    smaps.remove_prefix(std::min(smaps.size(), line.size() + 1));
    if (const auto next = begin_of(line)) {
      add(mapping, ranges);
      mapping = next;
    } else if (mapping) {
      if (const auto kib = kib_of(line, "Rss:")) mapping->resident_kib = *kib;
      if (const auto kib = kib_of(line, "AnonHugePages:")) mapping->huge_kib += *kib;
      if (const auto kib = kib_of(line, "FilePmdMapped:")) mapping->huge_kib += *kib;
      if (const auto kib = kib_of(line, "KernelPageSize:")) mapping->page_kib = *kib;
    }
  }
  add(mapping, ranges);
  return ranges;
}

}  // namespace loft::source::virtual_pmu
