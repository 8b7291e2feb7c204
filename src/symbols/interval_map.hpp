// Nested address ranges, flattened once so that a lookup finds the innermost by one search.
//
//   IntervalMap map(std::move(spans));         // spans in any order; an inner one after its outer
//   if (const auto value = map.find(address)) use(*value);
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace loft::symbols {

struct Span {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t value;
};

class IntervalMap {
 public:
  IntervalMap() = default;

  // Spans that cross instead of nesting are cut where the one around them ends.
  explicit IntervalMap(std::vector<Span> spans) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<Span> open;  // outermost first
    for (Span span : spans) {
      close_until(span.start, open);
      if (!open.empty()) span.end = std::min(span.end, open.back().end);
      if (span.start >= span.end) continue;
      mark(span.start, span.value);
      open.push_back(span);
    }
    close_until(std::numeric_limits<std::uint64_t>::max(), open);
    boundaries_.shrink_to_fit();
  }

  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t address) const {
    const auto above = std::upper_bound(
        boundaries_.begin(), boundaries_.end(), address,
        [](std::uint64_t wanted, const Boundary& boundary) { return wanted < boundary.address; });
    if (above == boundaries_.begin() || std::prev(above)->value == kNothing) return std::nullopt;
    return std::prev(above)->value;
  }

 private:
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
  struct Boundary {
    std::uint64_t address;  // from here to the next boundary
    std::uint32_t value;
  };

  void close_until(std::uint64_t address, std::vector<Span>& open) {
    while (!open.empty() && open.back().end <= address) {
      const std::uint64_t end = open.back().end;
      open.pop_back();
      mark(end, open.empty() ? kNothing : open.back().value);
    }
  }

  void mark(std::uint64_t address, std::uint32_t value) {
    if (!boundaries_.empty() && boundaries_.back().address == address)
      boundaries_.back().value = value;
    else
      boundaries_.push_back({address, value});
  }

  std::vector<Boundary> boundaries_;
};

}  // namespace loft::symbols
