// A set-associative, write-back, write-allocate cache. It keeps line numbers (address / line size),
// no data.
//
//   Cache l1(CacheGeometry{.bytes = 32 << 10, .ways = 8});
//   if (!l1.touch_recent(line, is_store)) {
//     const Lookup found = l1.look_up(line, is_store);   // counts a hit, a miss, or an unknown
//     if (!found.is_hit) {
//       const Evicted victim = l1.fill(line, {.is_dirty = is_store});
//       if (victim.is_dirty) next_level.mark_dirty(victim.line);
//     }
//   }
//
// Warm-up: a simulation that begins in the middle of a program does not know what the real cache
// holds. After start_warm_up() a miss counts as unknown until its set has been filled with lines
// seen since then; with LRU that is exact, because the contents of a full set no longer depend on
// what was there before. A new cache is known to be empty, so that its first misses are misses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace loft::core {

enum class Level : std::uint8_t { l1, l2, l3, memory };

enum class Replacement : std::uint8_t {
  lru,
  tree_plru,  // one bit per node of a binary tree over the ways
  quasi_lru,  // two-bit ages: a hit sets 0, a fill 1; the first way of age 3 leaves, after ageing
              // all
  random,
};

struct CacheGeometry {
  std::uint64_t bytes = 0;  // 0: there is no such cache
  std::uint32_t ways = 0;
  std::uint32_t line = 64;
  Replacement replacement = Replacement::lru;
  std::uint64_t seed = 1;  // of the random replacement

  [[nodiscard]] bool exists() const { return bytes != 0; }
  [[nodiscard]] std::uint64_t sets() const { return bytes / ways / line; }
  bool operator==(const CacheGeometry&) const = default;
};

// What is wrong with the geometry of a cache that exists; nothing when a Cache can be made of it.
[[nodiscard]] Result<void> check(const CacheGeometry& geometry, std::string_view name);

struct CacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t unknown_hits = 0;    // held since before the warm-up: a guess
  std::uint64_t unknown_misses = 0;  // not seen since the warm-up, and the real cache may hold it
  std::uint64_t evictions = 0;
  std::uint64_t write_backs = 0;

  [[nodiscard]] std::uint64_t unknown() const { return unknown_hits + unknown_misses; }
  [[nodiscard]] std::uint64_t accesses() const { return hits + misses + unknown(); }
  bool operator==(const CacheCounts&) const = default;
};

struct Lookup {
  bool is_hit = false;
  bool is_known = true;               // false: the real cache may do otherwise
  bool is_shared = false;             // marked by mark_shared()
  bool was_dirty = false;             // before this access
  Level prefetched_from = Level::l1;  // l1: not prefetched, or used before
};

struct LineState {
  bool is_dirty = false;
  bool is_shared = false;
  Level prefetched_from = Level::l1;
};

struct Evicted {
  std::uint64_t line = 0;
  bool is_valid = false;  // false: an empty way was filled
  bool is_dirty = false;
  bool was_prefetched = false;  // and never used
};

class Cache {
 public:
  explicit Cache(const CacheGeometry& geometry);
  // For tables whose entries are not lines of memory, such as TLBs.
  Cache(std::uint64_t sets, std::uint32_t ways, Replacement replacement, std::uint64_t seed = 1);

  // The quick way for the commonest case, an ordinary hit of the line used last in its set under
  // LRU. False: nothing was counted, ask look_up().
  bool touch_recent(std::uint64_t line, bool is_store) {
    if (replacement_ != Replacement::lru) return false;
    const Word word = words_[set_of(line) * ways_];
    const bool is_plain =
        is_store ? word == (line | kKnown | kDirty) : (word & ~kDirty) == (line | kKnown);
    counts_.hits += is_plain;
    return is_plain;
  }

  // A hit that changes nothing but the order of the lines: one that is known, of a line that was
  // used since it came, is not shared and, unless `may_modify`, is modified already if this is a
  // store. It is not counted: count_hits() does so for many. False: nothing has changed.
  bool reuse(std::uint64_t line, bool is_store, bool may_modify);
  void count_hits(std::uint64_t hits) { counts_.hits += hits; }

  // The commonest case of reuse() in a few instructions, which changes nothing at all: the line
  // used last in its set under LRU. Valid as long as the cache.
  class Recent {
   public:
    Recent() = default;  // has nothing
    explicit Recent(const Cache& cache) {
      if (cache.replacement_ != Replacement::lru || (cache.mask_ == 0 && cache.sets_ != 1)) return;
      words_ = cache.words_.data();
      mask_ = cache.mask_;
      ways_ = cache.ways_;
    }
    // Loads need not find the line modified.
    [[nodiscard]] static constexpr std::uint64_t ignored(bool is_store) {
      return Word{!is_store} << kDirtyBit;
    }
    // 0: it has the line. For many lines at once.
    [[nodiscard, gnu::always_inline]] std::uint64_t difference(std::uint64_t line,
                                                               std::uint64_t ignored) const {
      return (words_[(line & mask_) * ways_] | ignored) ^ (line | kKnown | kDirty);
    }
    [[nodiscard, gnu::always_inline]] bool has(std::uint64_t line, bool is_store) const {
      return difference(line, ignored(is_store)) == 0;
    }

   private:
    static constexpr std::uint64_t kNothing = ~std::uint64_t{0};  // no line
    const std::uint64_t* words_ = &kNothing;
    std::uint64_t mask_ = 0;
    std::uint64_t ways_ = 0;
  };

  // A demand access. Does not fill on a miss.
  Lookup look_up(std::uint64_t line, bool is_store);
  // For a prefetcher that takes the line closer: counts nothing, and takes its prefetch mark along.
  Lookup look_up_uncounted(std::uint64_t line);

  // Puts in a line that is not there, and says what had to leave.
  Evicted fill(std::uint64_t line, LineState state = {});

  [[nodiscard]] bool contains(std::uint64_t line) const { return find(line) >= 0; }
  // Whether the line, if it is not held, is surely not held by the real cache either.
  [[nodiscard]] bool knows(std::uint64_t line) const {
    return is_primed(&words_[set_of(line) * ways_]);
  }
  // Each does nothing and says false where the line is not held. Recency stays as it is.
  bool mark_dirty(std::uint64_t line);
  bool mark_shared(std::uint64_t line);
  bool mark_clean(std::uint64_t line);
  // Removes the line; the result says whether it was there (is_valid) and dirty.
  Evicted invalidate(std::uint64_t line);

  // Calls `visit(line, is_dirty)` for every line that is held.
  template <class F>
  void for_each(F&& visit) const {
    for (const Word word : words_)
      if ((word & kLine) != kEmpty) visit(word & kLine, (word & kDirty) != 0);
  }

  enum class Keep { nothing, as_guess };
  // From here on what was held before is unknown: dropped, or kept as a guess.
  void start_warm_up(Keep keep);

  [[nodiscard]] const CacheCounts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }
  [[nodiscard]] std::uint64_t sets() const { return sets_; }
  [[nodiscard]] std::uint32_t ways() const { return ways_; }

 private:
  // A way: the line's number below, its state in the upper bits.
  using Word = std::uint64_t;
  static constexpr int kStateBits = 5;
  static constexpr int kDirtyBit = 63;
  static constexpr Word kDirty = Word{1} << kDirtyBit;
  static constexpr Word kKnown = Word{1} << 62;  // seen, or known to be empty, since the warm-up
  static constexpr Word kShared = Word{1} << 61;
  static constexpr int kPrefetchShift = 59;
  static constexpr Word kPrefetched = Word{3} << kPrefetchShift;
  static constexpr Word kLine = (Word{1} << (64 - kStateBits)) - 1;
  static constexpr Word kEmpty = kLine;  // no address reaches this line

  [[nodiscard]] std::uint64_t set_of(std::uint64_t line) const {
    return mask_ != 0 || sets_ == 1 ? line & mask_ : line % sets_;
  }
  [[nodiscard]] int find(std::uint64_t line) const;
  static bool reuse_of_eight(Word* set, std::uint64_t line, bool is_store, bool may_modify);
  [[nodiscard]] bool is_primed(const Word* set) const;
  Lookup describe(Word word) const;
  void touch(std::uint64_t set, std::uint32_t way, bool is_fill);
  std::uint32_t victim(std::uint64_t set);
  std::uint32_t oldest_by_age(std::uint64_t set);

  std::uint64_t sets_;
  std::uint64_t mask_;  // sets - 1 where sets are a power of two, else 0
  std::uint32_t ways_;
  Replacement replacement_;
  std::uint64_t random_;
  bool was_warmed_up_ = false;        // until then everything is known
  std::vector<Word> words_;           // `ways` per set; under LRU the most recent one first
  std::vector<std::uint64_t> order_;  // per set: tree bits, or ages of two bits
  CacheCounts counts_;
};

[[nodiscard]] std::string_view to_string(Level level);
[[nodiscard]] std::string_view to_string(Replacement replacement);

}  // namespace loft::core
