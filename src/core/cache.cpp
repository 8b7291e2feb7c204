#include "core/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loft::core {
namespace {

constexpr std::uint32_t kMaxWays = 1024;
constexpr std::uint64_t kMaxLines = std::uint64_t{1} << 26;  // 4 GiB of 64-byte lines

std::uint32_t most_ways(Replacement replacement) {
  if (replacement == Replacement::tree_plru) return 64;
  if (replacement == Replacement::quasi_lru) return 32;
  return kMaxWays;
}

// Words of a set at a time; LRU sets of a multiple of them have no loops that end by chance.
constexpr std::uint32_t kAtOnce = 8;

#if defined(__x86_64__)
// Whether this processor has the wide instructions.
const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;

[[gnu::target("avx2")]] inline __m256i load_four(const std::uint64_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

// Bit i says whether words[i] has the wanted bits where the mask has some.
[[gnu::target("avx2")]] inline unsigned match_eight_wide(const std::uint64_t* words,
                                                         std::uint64_t wanted, std::uint64_t mask) {
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(wanted));
  const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(mask));
  const auto compare_four = [&](int at) __attribute__((always_inline, target("avx2"))) {
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_and_si256(load_four(words + at), bits), all);
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  };
  return compare_four(0) | compare_four(4) << 4;
}

// Moves words[way] to the front, as `word`, and the seven that may be before it one further.
[[gnu::target("avx2")]] inline void to_front_of_eight(std::uint64_t* words, std::uint32_t way,
                                                      std::uint64_t word) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  alignas(32) static constexpr std::uint64_t kMoved[16] = {kAll, kAll, kAll, kAll,
                                                           kAll, kAll, kAll, kAll};
  const std::uint64_t* const moved = kMoved + 7 - way;
  const __m256i lower = load_four(words);
  const __m256i upper = load_four(words + 4);
  const __m256i below_upper = load_four(words + 3);
  const __m256i new_lower =
      _mm256_blendv_epi8(lower, _mm256_permute4x64_epi64(lower, 0x90), load_four(moved));
  const __m256i new_upper = _mm256_blendv_epi8(upper, below_upper, load_four(moved + 4));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), new_lower);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + 4), new_upper);
  words[0] = word;
}
#endif

// Bit i says whether words[i] has the wanted bits where the mask has some.
unsigned match_eight(const std::uint64_t* words, std::uint64_t wanted, std::uint64_t mask) {
#if defined(__x86_64__)
  if (kHasAvx2) [[likely]]
    return match_eight_wide(words, wanted, mask);
#endif
  unsigned match = 0;
  for (std::uint32_t i = 0; i < kAtOnce; ++i) match |= unsigned{(words[i] & mask) == wanted} << i;
  return match;
}

// Moves words[way] to the front, as `word`.
void to_front(std::uint64_t* words, std::uint32_t way, std::uint64_t word,
              [[maybe_unused]] std::uint32_t ways) {
#if defined(__x86_64__)
  if (kHasAvx2 && ways >= kAtOnce && way < kAtOnce) [[likely]]
    return to_front_of_eight(words, way, word);
#endif
  std::uint32_t i = way;
  for (; i >= 2; i -= 2) {  // in pairs: quicker than one by one, and than a call of memmove()
    const std::uint64_t first = words[i - 2], second = words[i - 1];
    words[i - 1] = first;
    words[i] = second;
  }
  if (i == 1) words[1] = words[0];
  words[0] = word;
}

}  // namespace

Result<void> check(const CacheGeometry& g, std::string_view name) {
  const auto refuse = [&](std::string why, std::string hint) {
    return failure(ErrorKind::invalid_input, fmt::format("model cache {}", name), std::move(why),
                   std::move(hint));
  };
  if (g.line < 32 || g.line > 4096 || !std::has_single_bit(g.line))
    return refuse(fmt::format("a line of {} bytes", g.line), "use a power of two from 32 to 4096");
  if (g.ways == 0 || g.ways > most_ways(g.replacement))
    return refuse(fmt::format("{} ways", g.ways),
                  fmt::format("{} replacement takes 1 to {} ways", to_string(g.replacement),
                              most_ways(g.replacement)));
  if (g.replacement == Replacement::tree_plru && !std::has_single_bit(g.ways))
    return refuse(fmt::format("{} ways with plru", g.ways), "use a power of two, or lru");
  const std::uint64_t set_bytes = std::uint64_t{g.ways} * g.line;
  if (g.bytes == 0 || g.bytes % set_bytes != 0)
    return refuse(
        fmt::format("{} bytes are no whole number of sets of {} bytes", g.bytes, set_bytes),
        "size = sets * ways * line");
  if (g.bytes / g.line > kMaxLines)
    return refuse(fmt::format("{} bytes are more lines than can be modelled", g.bytes),
                  fmt::format("at most {} lines", kMaxLines));
  return {};
}

Cache::Cache(const CacheGeometry& geometry)
    : Cache(geometry.sets(), geometry.ways, geometry.replacement, geometry.seed) {}

Cache::Cache(std::uint64_t sets, std::uint32_t ways, Replacement replacement, std::uint64_t seed)
    : sets_(sets),
      mask_(std::has_single_bit(sets) ? sets - 1 : 0),
      ways_(ways),
      replacement_(replacement),
      random_(seed * 2 + 1),
      words_(sets * ways, kEmpty | kKnown),
      order_(replacement == Replacement::lru || replacement == Replacement::random ? 0 : sets,
             replacement == Replacement::quasi_lru ? ~std::uint64_t{0} : 0) {}

int Cache::find(std::uint64_t line) const {
  const Word* set = &words_[set_of(line) * ways_];
  std::uint32_t way = 0;
  for (; way + kAtOnce <= ways_; way += kAtOnce)
    if (const unsigned match = match_eight(set + way, line, kLine); match != 0)
      return static_cast<int>(way) + std::countr_zero(match);
  for (; way < ways_; ++way)
    if ((set[way] & kLine) == line) return static_cast<int>(way);
  return -1;
}

bool Cache::is_primed(const Word* set) const {
  if (!was_warmed_up_) return true;
  Word all = kKnown;
  for (std::uint32_t way = 0; way < ways_; ++way) all &= set[way];
  return all != 0;
}

Lookup Cache::describe(Word word) const {
  return {.is_hit = true,
          .is_known = (word & kKnown) != 0,
          .is_shared = (word & kShared) != 0,
          .was_dirty = (word & kDirty) != 0,
          .prefetched_from = static_cast<Level>((word & kPrefetched) >> kPrefetchShift)};
}

#if defined(__x86_64__)
// reuse() of an LRU set of eight: the commonest kind, and the commonest thing that happens to it.
[[gnu::target("avx2")]] bool Cache::reuse_of_eight(Word* set, std::uint64_t line, bool is_store,
                                                   bool may_modify) {
  const unsigned match = match_eight_wide(set, line | kKnown, ~kDirty);
  if (match == 0) return false;
  const auto way = static_cast<std::uint32_t>(std::countr_zero(match));
  const Word word = set[way];
  if (is_store && !may_modify && (word & kDirty) == 0) return false;
  to_front_of_eight(set, way, word | Word{is_store} << kDirtyBit);
  return true;
}
#endif

bool Cache::reuse(std::uint64_t line, bool is_store, bool may_modify) {
#if defined(__x86_64__)
  if (replacement_ == Replacement::lru && ways_ == kAtOnce && kHasAvx2) [[likely]]
    return reuse_of_eight(&words_[set_of(line) * kAtOnce], line, is_store, may_modify);
#endif
  const int way = find(line);
  if (way < 0) return false;
  const std::uint64_t set = set_of(line);
  Word& word = words_[set * ways_ + static_cast<std::uint32_t>(way)];
  if ((word & (kKnown | kShared | kPrefetched)) != kKnown) return false;
  if (is_store && !may_modify && (word & kDirty) == 0) return false;
  word |= is_store ? kDirty : 0;
  touch(set, static_cast<std::uint32_t>(way), false);
  return true;
}

Lookup Cache::look_up(std::uint64_t line, bool is_store) {
  const int way = find(line);
  const std::uint64_t set = set_of(line);
  if (way < 0) {
    const bool is_known = is_primed(&words_[set * ways_]);
    ++(is_known ? counts_.misses : counts_.unknown_misses);
    return {.is_known = is_known};
  }
  Word& word = words_[set * ways_ + static_cast<std::uint32_t>(way)];
  const Lookup found = describe(word);
  ++(found.is_known ? counts_.hits : counts_.unknown_hits);
  word = (word & ~kPrefetched) | kKnown | (is_store ? kDirty : 0);
  touch(set, static_cast<std::uint32_t>(way), false);
  return found;
}

Lookup Cache::look_up_uncounted(std::uint64_t line) {
  const int way = find(line);
  const std::uint64_t set = set_of(line);
  if (way < 0) return {.is_known = is_primed(&words_[set * ways_])};
  Word& word = words_[set * ways_ + static_cast<std::uint32_t>(way)];
  const Lookup found = describe(word);
  word = (word & ~kPrefetched) | kKnown;
  touch(set, static_cast<std::uint32_t>(way), false);
  return found;
}

Evicted Cache::fill(std::uint64_t line, LineState state) {
  const std::uint64_t set = set_of(line);
  const std::uint32_t way = victim(set);
  Word& word = words_[set * ways_ + way];
  Evicted out{.line = word & kLine};
  if (out.line != kEmpty) {
    out.is_valid = true;
    out.is_dirty = (word & kDirty) != 0;
    out.was_prefetched = (word & kPrefetched) != 0;
    ++counts_.evictions;
    counts_.write_backs += out.is_dirty;
  }
  word = line | kKnown | (state.is_dirty ? kDirty : 0) | (state.is_shared ? kShared : 0) |
         static_cast<Word>(state.prefetched_from) << kPrefetchShift;
  touch(set, way, true);
  return out;
}

bool Cache::mark_dirty(std::uint64_t line) {
  const int way = find(line);
  if (way >= 0) words_[set_of(line) * ways_ + static_cast<std::uint32_t>(way)] |= kDirty;
  return way >= 0;
}

bool Cache::mark_shared(std::uint64_t line) {
  const int way = find(line);
  if (way >= 0) words_[set_of(line) * ways_ + static_cast<std::uint32_t>(way)] |= kShared;
  return way >= 0;
}

bool Cache::mark_clean(std::uint64_t line) {
  const int way = find(line);
  if (way >= 0) words_[set_of(line) * ways_ + static_cast<std::uint32_t>(way)] &= ~kDirty;
  return way >= 0;
}

Evicted Cache::invalidate(std::uint64_t line) {
  const int found = find(line);
  if (found < 0) return {};
  const auto way = static_cast<std::uint32_t>(found);
  Word* set = &words_[set_of(line) * ways_];
  const Evicted out{.line = line,
                    .is_valid = true,
                    .is_dirty = (set[way] & kDirty) != 0,
                    .was_prefetched = (set[way] & kPrefetched) != 0};
  // Under LRU the hole goes last, where the next line to be filled in leaves from.
  if (replacement_ == Replacement::lru) {
    std::copy(set + way + 1, set + ways_, set + way);
    set[ways_ - 1] = kEmpty | kKnown;
  } else {
    set[way] = kEmpty | kKnown;
  }
  return out;
}

void Cache::start_warm_up(Keep keep) {
  was_warmed_up_ = true;
  if (keep == Keep::nothing)
    std::fill(words_.begin(), words_.end(), kEmpty);
  else
    for (Word& word : words_) word &= ~kKnown;
}

void Cache::touch(std::uint64_t set, std::uint32_t way, bool is_fill) {
  if (replacement_ == Replacement::lru) {
    Word* words = &words_[set * ways_];
    to_front(words, way, words[way], ways_);
  } else if (replacement_ == Replacement::tree_plru) {
    // Node n has the children 2n and 2n + 1; a bit points to the half that was used less recently.
    std::uint64_t node = 1;
    for (std::uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool is_right = (way & half) != 0;
      const std::uint64_t bit = std::uint64_t{1} << node;
      order_[set] = is_right ? order_[set] & ~bit : order_[set] | bit;
      node = 2 * node + is_right;
    }
  } else if (replacement_ == Replacement::quasi_lru) {
    order_[set] &= ~(std::uint64_t{3} << (2 * way));
    if (is_fill) order_[set] |= std::uint64_t{1} << (2 * way);
  }
}

std::uint32_t Cache::oldest_by_age(std::uint64_t set) {
  const auto age = [&](std::uint32_t way) { return (order_[set] >> (2 * way)) & 3; };
  std::uint64_t oldest = 0;
  for (std::uint32_t way = 0; way < ways_; ++way) oldest = std::max(oldest, age(way));
  for (std::uint32_t way = 0; way < ways_; ++way)
    order_[set] += (std::uint64_t{3} - oldest) << (2 * way);
  std::uint32_t way = 0;
  while (age(way) != 3) ++way;
  return way;
}

std::uint32_t Cache::victim(std::uint64_t set) {
  if (replacement_ == Replacement::lru) return ways_ - 1;
  const Word* words = &words_[set * ways_];
  for (std::uint32_t way = 0; way < ways_; ++way)
    if ((words[way] & kLine) == kEmpty) return way;
  if (replacement_ == Replacement::quasi_lru) return oldest_by_age(set);
  if (replacement_ == Replacement::tree_plru) {
    std::uint64_t node = 1;
    while (node < ways_) node = 2 * node + ((order_[set] >> node) & 1);
    return static_cast<std::uint32_t>(node - ways_);
  }
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<std::uint32_t>((random_ >> 16) % ways_);
}

std::string_view to_string(Level level) {
  constexpr std::string_view kNames[] = {"L1", "L2", "L3", "memory"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view to_string(Replacement replacement) {
  constexpr std::string_view kNames[] = {"lru", "plru", "qlru", "random"};
  return kNames[static_cast<std::size_t>(replacement)];
}

}  // namespace loft::core
