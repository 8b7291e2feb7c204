// What is taken when: units by cycle, bandwidths and buffers by small spans of cycles. Instructions
// are looked at in program order but start when they are ready, so that a later one may take a
// place before an earlier one. Nothing starts before the cycle that instructions are issued at,
// which only grows: places before it are dropped, and a ring suffices. What lies beyond the ring's
// end is taken to be free.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace loft::core {

using Cycle = std::int64_t;

// A ring of amounts by place; a place is one cycle, or a span of them.
template <class T, std::size_t N>
class Ring {
 public:
  void clear() {
    places_.fill(T{});
    begin_ = 0;
  }
  // Drops what is before `begin`.
  void advance(Cycle begin) {
    if (begin <= begin_) return;
    if (begin - begin_ >= static_cast<Cycle>(N)) {
      places_.fill(T{});
    } else {
      for (Cycle at = begin_; at < begin; ++at) places_[index(at)] = T{};
    }
    begin_ = begin;
  }
  [[nodiscard]] Cycle begin() const { return begin_; }
  [[nodiscard]] Cycle end() const { return begin_ + static_cast<Cycle>(N); }
  T& operator[](Cycle at) { return places_[index(at)]; }

 private:
  static std::size_t index(Cycle at) { return static_cast<std::size_t>(at) & (N - 1); }

  std::array<T, N> places_{};
  Cycle begin_ = 0;
};

// Cycles of a core in which a sibling, another thread of the same core, has its turn.
class Turns {
 public:
  Turns() = default;
  // The share of the cycles that is left; 1: all.
  explicit Turns(double share) {
    double taken = 0;
    for (int i = 0; i < kPeriod; ++i) {
      taken += 1 - share;
      if (taken < 0.999) continue;
      taken -= 1;
      of_sibling_ |= std::uint32_t{1} << i;
    }
  }
  [[nodiscard]] bool are_siblings(Cycle at) const {
    return (of_sibling_ >> (static_cast<std::uint64_t>(at) % kPeriod) & 1) != 0;
  }

 private:
  static constexpr int kPeriod = 32;
  std::uint32_t of_sibling_ = 0;
};

// Units of a kind: `count` of them can start an operation in each cycle.
class UnitCalendar {
 public:
  void reset(int count, Turns turns = {}) {
    ring_.clear();
    count_ = count;
    turns_ = turns;
    full_until_ = 0;
  }
  // The first cycle from `ready` on in which a unit is free for `cycles` of them.
  [[nodiscard]] Cycle find(Cycle now, Cycle ready, int cycles = 1) {
    ring_.advance(now);
    full_until_ = std::max(full_until_, now);
    Cycle at = std::max(ready, now);
    if (at < full_until_) at = full_until_;
    int free = 0;
    for (; at + cycles < ring_.end(); ++at) {
      if (turns_.are_siblings(at)) continue;
      while (free < cycles && ring_[at + free] < count_) ++free;
      if (free == cycles) return at;
      at += free;
      free = 0;
    }
    return std::max(at, ready);
  }
  void take(Cycle at, int cycles = 1) {
    if (at + cycles >= ring_.end()) return;
    for (Cycle i = at; i < at + cycles; ++i) ++ring_[i];
    skip_full();
  }
  // The next so many free cycles, which need not follow each other. A unit that is busy for long
  // takes what is ready first: what was placed before, and is ready later, only moves.
  void take_parts(Cycle at, int cycles) {
    for (; cycles > 0 && at < ring_.end(); ++at) {
      if (ring_[at] >= count_) continue;
      ++ring_[at];
      --cycles;
    }
    skip_full();
  }

 private:
  void skip_full() {
    while (full_until_ < ring_.end() && ring_[full_until_] >= count_) ++full_until_;
  }

  Ring<std::uint8_t, 4096> ring_;
  Turns turns_;
  int count_ = 1;
  Cycle full_until_ = 0;  // no cycle from now to this one has a free unit
};

// A scheduler: operations that have not started yet. Where it is full, the next one can start when
// the first of them has.
class WaitingList {
 public:
  void reset(std::size_t entries) {
    entries_ = entries;
    starts_.clear();
  }
  // When an operation that is issued at `now` has an entry.
  [[nodiscard]] Cycle enter(Cycle now) {
    while (!starts_.empty() && starts_.front() <= now) drop_first();
    if (starts_.size() < entries_) return now;
    const Cycle free = starts_.front();
    drop_first();
    return free;
  }
  void add(Cycle start) {
    starts_.push_back(start);
    std::push_heap(starts_.begin(), starts_.end(), std::greater<>());
  }

 private:
  void drop_first() {
    std::pop_heap(starts_.begin(), starts_.end(), std::greater<>());
    starts_.pop_back();
  }

  std::size_t entries_ = 1;
  std::vector<Cycle> starts_;  // a heap, the earliest first
};

// Bytes that fit through in a span of 2^Shift cycles.
template <int Shift>
class ByteCalendar {
 public:
  void reset(double bytes_per_cycle) {
    ring_.clear();
    full_until_ = 0;
    capacity_ = static_cast<float>(bytes_per_cycle * kSpan);
    per_byte_ = static_cast<float>(1 / bytes_per_cycle);
  }
  // The cycle in which `bytes` can begin to pass, from `ready` on; takes their place.
  Cycle take(Cycle now, Cycle ready, std::uint32_t bytes) {
    ring_.advance(now >> Shift);
    full_until_ = std::max(full_until_, now >> Shift);
    Cycle at = std::max(ready, now) >> Shift;
    if (at < full_until_) at = full_until_;
    while (at < ring_.end() && ring_[at] >= capacity_) ++at;
    if (at >= ring_.end()) return std::max(ready, at << Shift);
    const Cycle start = std::max(ready, (at << Shift) + static_cast<Cycle>(ring_[at] * per_byte_));
    float left = static_cast<float>(bytes);
    for (Cycle i = at; left > 0 && i < ring_.end(); ++i) {
      const float fits = std::min(left, capacity_ - ring_[i]);
      if (fits <= 0) continue;
      ring_[i] += fits;
      left -= fits;
    }
    while (full_until_ < ring_.end() && ring_[full_until_] >= capacity_) ++full_until_;
    return start;
  }

 private:
  static constexpr int kSpan = 1 << Shift;
  Ring<float, 4096> ring_;
  float capacity_ = 0;
  float per_byte_ = 0;
  Cycle full_until_ = 0;
};

// Buffers of which `count` can be in use at a time, each for as long as a miss or a walk takes.
class BufferCalendar {
 public:
  void reset(int count) {
    ring_.clear();
    count_ = count;
    full_until_ = 0;
  }
  // The cycle from `ready` on in which a buffer is free.
  Cycle find(Cycle now, Cycle ready) {
    ring_.advance(now >> kShift);
    full_until_ = std::max(full_until_, now >> kShift);
    Cycle at = std::max(std::max(ready, now) >> kShift, full_until_);
    while (at < ring_.end() && ring_[at] >= count_) ++at;
    return std::max(ready, at << kShift);
  }
  // The same; takes it for `cycles`, and until `until` at least.
  Cycle take(Cycle now, Cycle ready, Cycle cycles, Cycle until = 0) {
    const Cycle start = find(now, ready);
    const Cycle at = start >> kShift;
    const Cycle last = std::max(start + cycles, until) >> kShift;
    const Cycle end = std::min(std::max(last, at + 1), ring_.end());
    for (Cycle i = at; i < end; ++i)
      ring_[i] = static_cast<std::uint8_t>(std::min(255, ring_[i] + 1));
    while (full_until_ < ring_.end() && ring_[full_until_] >= count_) ++full_until_;
    return start;
  }

 private:
  static constexpr int kShift = 3;
  Ring<std::uint8_t, 8192> ring_;
  int count_ = 1;
  Cycle full_until_ = 0;
};

}  // namespace loft::core
