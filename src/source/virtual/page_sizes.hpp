// Where a process has pages larger than 4 KiB, from /proc/PID/smaps: transparent huge pages and
// those of hugetlbfs.
//
//   LOFT_TRY(const std::string smaps, read_file("/proc/1234/smaps"));
//   for (const PageRange& range : large_pages(smaps)) map.add(range.begin, range.end, range.shift);
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace loft::source::virtual_pmu {

struct PageRange {
  std::uint64_t begin = 0, end = 0;
  int shift = 12;
  bool operator==(const PageRange&) const = default;
};

// Mappings most of whose memory lies in large pages, without the ends that no whole page fits into.
// Lines that are not understood are skipped.
[[nodiscard]] std::vector<PageRange> large_pages(std::string_view smaps);

}  // namespace loft::source::virtual_pmu
