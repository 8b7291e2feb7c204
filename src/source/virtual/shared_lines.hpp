// Which cache lines several threads use at once. Buffers of threads are read one after the other,
// so that models see a line change hands only where buffers do; what threads did to a line in the
// same window of the stream, they did at the same time.
//
//   SharedLines lines;
//   lines.note(slot, address, is_store);                  // for every access of a window
//   if (lines.is_contended(slot, address, is_store)) ...  // then: another thread takes it away
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace loft::source::virtual_pmu {

class SharedLines {
 public:
  void clear() { std::fill(entries_.begin(), entries_.end(), Entry{}); }

  void note(std::uint32_t slot, std::uint64_t address, bool is_store) {
    Entry& entry = entries_[index(address)];
    if (entry.line != address / kLine) {
      if (entry.line != kNone && entry.touched[1] > 0) return;  // a line that is shared stays
      entry = Entry{};
      entry.line = address / kLine;
      entry.first = slot;
    }
    const std::size_t who = slot == entry.first ? 0 : 1;
    ++entry.touched[who];
    entry.written[who] += is_store;
  }

  // Whether others ask for the line often enough to take it away between two uses by this thread.
  [[nodiscard]] bool is_contended(std::uint32_t slot, std::uint64_t address, bool is_store) const {
    const Entry& entry = entries_[index(address)];
    if (entry.line != address / kLine) return false;
    const std::size_t who = slot == entry.first ? 0 : 1;
    // A load is only disturbed by writers, a store by readers as well.
    const std::uint32_t others = is_store ? entry.touched[1 - who] : entry.written[1 - who];
    return others > 0 && entry.written[0] + entry.written[1] > 0 &&
           std::uint64_t{others} * kRare >= entry.touched[who];
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kRare = 10;  // one use of others in so many of one's own
  static constexpr std::size_t kEntries = 1 << 15;
  struct Entry {
    std::uint64_t line = kNone;
    std::uint32_t first = 0;                 // the first thread that used it
    std::array<std::uint32_t, 2> touched{};  // by the first, by all others
    std::array<std::uint32_t, 2> written{};
  };
  static std::size_t index(std::uint64_t address) {
    const std::uint64_t line = address / kLine;
    return (line ^ line >> 15) % kEntries;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

}  // namespace loft::source::virtual_pmu
