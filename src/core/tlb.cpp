#include "core/tlb.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loft::core {
namespace {

Result<void> check_level(const TlbLevel& level, std::string_view name) {
  constexpr std::uint32_t kMostEntries = 1 << 20;
  constexpr std::uint32_t kMostWays = 1024;
  if (level.ways == 0 || level.ways > kMostWays || level.entries > kMostEntries ||
      level.entries % level.ways != 0)
    return failure(ErrorKind::invalid_input, fmt::format("model {}", name),
                   fmt::format("{} entries of {} ways", level.entries, level.ways),
                   "entries are a multiple of ways, ways at most 1024");
  return {};
}

Cache table(const TlbLevel& level) {
  return {level.entries / level.ways, level.ways, level.replacement};
}

// Pages of different sizes have different keys, whose low bits choose the set.
std::uint64_t key_of(std::uint64_t address, int shift) {
  return address >> shift | static_cast<std::uint64_t>(shift - PageMap::kSmall) << 53;
}

}  // namespace

Result<void> check(const TlbGeometry& geometry) {
  LOFT_CHECK(check_level(geometry.itlb, "ITLB"));
  LOFT_CHECK(check_level(geometry.dtlb, "DTLB"));
  if (geometry.second.exists()) LOFT_CHECK(check_level(geometry.second, "STLB"));
  return {};
}

void PageMap::add(std::uint64_t begin, std::uint64_t end, int shift) {
  if (begin >= end || shift < kSmall || shift > kMost) return;
  std::vector<Range> kept;
  for (const Range& old : ranges_) {
    if (old.begin < begin) kept.push_back({old.begin, std::min(old.end, begin), old.shift});
    if (old.end > end) kept.push_back({std::max(old.begin, end), old.end, old.shift});
  }
  kept.push_back({begin, end, shift});
  std::sort(kept.begin(), kept.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  ranges_ = std::move(kept);
}

int PageMap::shift_of(std::uint64_t address) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uint64_t value, const Range& range) { return value < range.begin; });
  if (after == ranges_.begin()) return kSmall;
  const Range& range = *std::prev(after);
  return address < range.end ? range.shift : kSmall;
}

Tlb::Tlb(const TlbGeometry& geometry)
    : itlb_(table(geometry.itlb)),
      dtlb_(table(geometry.dtlb)),
      second_(geometry.second.exists() ? std::make_unique<Cache>(table(geometry.second))
                                       : nullptr) {}

Translated Tlb::pages_one_by_one(Cache& first, std::uint64_t address, std::uint64_t last) {
  Translated all;
  for (;;) {
    const int shift = map_.shift_of(address);
    const Translated one = page(first, key_of(address, shift));
    all.served = std::max(all.served, one.served);
    all.nearest = std::max(all.nearest, one.nearest);
    const std::uint64_t next = ((address >> shift) + 1) << shift;
    if (next > last || next == 0) return all;
    address = next;
  }
}

Translated Tlb::page(Cache& first, std::uint64_t key) {
  if (first.touch_recent(key, false)) return {};
  const Lookup above = first.look_up(key, false);
  if (above.is_hit) {
    unknown_walks_ += !above.is_known;
    return {};
  }
  first.fill(key);
  Translated out{Translation::walk, Translation::walk};
  if (second_) {
    const Lookup below = second_->look_up(key, false);
    if (!below.is_hit) second_->fill(key);
    out.served = below.is_hit ? Translation::second : Translation::walk;
    out.nearest = below.is_known ? out.served : Translation::second;
    unknown_walks_ += below.is_hit && !below.is_known;
  }
  if (!above.is_known) out.nearest = Translation::first;
  if (out.served == Translation::walk) ++(out.is_unknown() ? unknown_walks_ : walks_);
  return out;
}

void Tlb::start_warm_up(Cache::Keep keep) {
  itlb_.start_warm_up(keep);
  dtlb_.start_warm_up(keep);
  if (second_) second_->start_warm_up(keep);
}

TlbCounts Tlb::counts() const {
  return {.itlb = itlb_.counts(),
          .dtlb = dtlb_.counts(),
          .second = second_ ? second_->counts() : CacheCounts{},
          .walks = walks_,
          .unknown_walks = unknown_walks_};
}

void Tlb::reset_counts() {
  itlb_.reset_counts();
  dtlb_.reset_counts();
  if (second_) second_->reset_counts();
  walks_ = unknown_walks_ = 0;
}

}  // namespace loft::core
