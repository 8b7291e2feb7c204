// Translation buffers of one thread: a first level for code and one for data, and a second level
// for both. What neither holds is a page walk.
//
//   Tlb tlb(geometry);
//   tlb.pages().add(0x7f0000000000, 0x7f0040000000, 21);   // 2 MiB pages there, 4 KiB elsewhere
//   if (tlb.data(address, size).served == Translation::walk) ...
//
// A page of any size takes one entry of either level.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cache.hpp"

namespace loft::core {

struct TlbLevel {
  std::uint32_t entries = 0;  // 0: there is none (second level only)
  std::uint32_t ways = 0;     // as many as entries: fully associative
  Replacement replacement = Replacement::lru;
  [[nodiscard]] bool exists() const { return entries != 0; }
  bool operator==(const TlbLevel&) const = default;
};

struct TlbGeometry {
  TlbLevel itlb, dtlb, second;
  bool operator==(const TlbGeometry&) const = default;
};

[[nodiscard]] Result<void> check(const TlbGeometry& geometry);

// The sizes of pages by address. Later ranges win over earlier ones.
class PageMap {
 public:
  static constexpr int kSmall = 12;
  static constexpr int kMost = 40;

  // Pages of 2^shift bytes in [begin, end); shifts outside 12 to 40 and empty ranges are ignored.
  void add(std::uint64_t begin, std::uint64_t end, int shift);
  [[nodiscard]] int shift_of(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    int shift = kSmall;
  };
  std::vector<Range> ranges_;  // apart from each other, ascending
};

enum class Translation : std::uint8_t { first, second, walk };

struct Translated {
  Translation served = Translation::first;   // of several pages, the slowest
  Translation nearest = Translation::first;  // before warm-up is complete it may have been nearer
  Level walked_from =
      Level::l2;  // of a walk: where the entry of the page table was, at the nearest
  [[nodiscard]] bool is_unknown() const { return served != nearest; }
  bool operator==(const Translated&) const = default;
};

struct TlbCounts {
  CacheCounts itlb, dtlb, second;
  std::uint64_t walks = 0;
  std::uint64_t unknown_walks = 0;  // may have been walks, on top of those
};

class Tlb {
 public:
  explicit Tlb(const TlbGeometry& geometry);  // check() has passed

  Translated data(std::uint64_t address, std::uint64_t size) { return pages(dtlb_, address, size); }
  // True: one page, which the first level has. False: nothing was counted, ask data() or fetch().
  bool data_quickly(std::uint64_t address, std::uint64_t size) {
    return page_quickly(dtlb_, address, size);
  }
  bool fetch_quickly(std::uint64_t address, std::uint64_t size) {
    return page_quickly(itlb_, address, size);
  }
  Translated fetch(std::uint64_t address, std::uint64_t size) {
    return pages(itlb_, address, size);
  }
  [[nodiscard]] PageMap& pages() { return map_; }
  void start_warm_up(Cache::Keep keep);
  [[nodiscard]] TlbCounts counts() const;
  [[nodiscard]] const CacheCounts& itlb() const { return itlb_.counts(); }
  [[nodiscard]] const CacheCounts& dtlb() const { return dtlb_.counts(); }
  [[nodiscard]] std::uint64_t walks() const { return walks_; }
  [[nodiscard]] std::uint64_t unknown_walks() const { return unknown_walks_; }
  void reset_counts();

 private:
  bool page_quickly(Cache& first, std::uint64_t address, std::uint64_t size) {
    const std::uint64_t page = address >> PageMap::kSmall;
    if (!map_.empty() || (address + size - 1) >> PageMap::kSmall != page) return false;
    if (first.touch_recent(page, false)) return true;
    if (!first.reuse(page, false, true)) return false;
    first.count_hits(1);
    return true;
  }
  Translated pages(Cache& first, std::uint64_t address, std::uint64_t size) {
    const std::uint64_t last = address + (size == 0 ? 0 : size - 1);
    if (map_.empty() && address >> PageMap::kSmall == last >> PageMap::kSmall &&
        first.touch_recent(address >> PageMap::kSmall, false))
      return {};
    return pages_one_by_one(first, address, last);
  }
  Translated pages_one_by_one(Cache& first, std::uint64_t address, std::uint64_t last);
  Translated page(Cache& first, std::uint64_t key);

  PageMap map_;
  Cache itlb_, dtlb_;
  std::unique_ptr<Cache> second_;
  std::uint64_t walks_ = 0;
  std::uint64_t unknown_walks_ = 0;
};

}  // namespace loft::core
