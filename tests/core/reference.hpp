// A cache and a hierarchy written down as plainly as possible, to compare the quick ones with:
// lists, searched from end to end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "core/hierarchy.hpp"

namespace loft::core::reference {

struct Line {
  std::uint64_t number = 0;
  bool is_dirty = false;
};

// One set. Ways keep their places; `order` lists them by use, the most recent one first.
class Set {
 public:
  Set(std::uint32_t ways, Replacement replacement)
      : replacement_(replacement), ways_(ways), ages_(ways, 0), right_is_older_(ways, false) {}

  Line* find(std::uint64_t number) {
    for (auto& way : ways_)
      if (way && way->number == number) return &*way;
    return nullptr;
  }
  void use(std::uint64_t number, bool is_fill = false) {
    for (std::size_t i = 0; i < ways_.size(); ++i)
      if (ways_[i] && ways_[i]->number == number) used(i, is_fill);
  }
  std::optional<Line> remove(std::uint64_t number) {
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!ways_[i] || ways_[i]->number != number) continue;
      const Line line = *ways_[i];
      ways_[i].reset();
      order_.remove(i);
      return line;
    }
    return {};
  }
  std::optional<Line> fill(Line line, std::uint64_t& random) {
    const std::size_t place = choose(random);
    const std::optional<Line> out = ways_[place];
    order_.remove(place);
    ways_[place] = line;
    used(place, true);
    return out;
  }

 private:
  void used(std::size_t place, bool is_fill) {
    order_.remove(place);
    order_.push_front(place);
    ages_[place] = is_fill ? 1 : 0;
    point_away(0, ways_.size(), 1, place);
  }
  // Each half of a range of ways that was not used becomes the older one.
  void point_away(std::size_t begin, std::size_t end, std::size_t node, std::size_t used) {
    if (end - begin < 2) return;
    const std::size_t middle = (begin + end) / 2;
    right_is_older_[node] = used < middle;
    if (used < middle)
      point_away(begin, middle, 2 * node, used);
    else
      point_away(middle, end, 2 * node + 1, used);
  }
  std::size_t choose(std::uint64_t& random) {
    for (std::size_t i = 0; i < ways_.size(); ++i)
      if (!ways_[i]) return i;
    if (replacement_ == Replacement::lru) return order_.back();
    if (replacement_ == Replacement::quasi_lru) {
      while (std::find(ages_.begin(), ages_.end(), 3) == ages_.end())
        for (int& age : ages_) ++age;
      return static_cast<std::size_t>(std::find(ages_.begin(), ages_.end(), 3) - ages_.begin());
    }
    if (replacement_ == Replacement::tree_plru) {
      std::size_t begin = 0, end = ways_.size(), node = 1;
      while (end - begin > 1) {
        const std::size_t middle = (begin + end) / 2;
        const bool right = right_is_older_[node];
        (right ? begin : end) = middle;
        node = 2 * node + right;
      }
      return begin;
    }
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return (random >> 16) % ways_.size();
  }

  Replacement replacement_;
  std::vector<std::optional<Line>> ways_;
  std::list<std::size_t> order_;
  std::vector<int> ages_;
  std::vector<bool> right_is_older_;
};

class Cache {
 public:
  explicit Cache(const CacheGeometry& g)
      : sets_(g.exists() ? g.sets() : 0, Set(g.ways, g.replacement)), random_(g.seed * 2 + 1) {}

  bool exists() const { return !sets_.empty(); }
  bool use(std::uint64_t line, bool is_store) {
    Line* found = set(line).find(line);
    if (found == nullptr) return false;
    found->is_dirty |= is_store;
    set(line).use(line);
    return true;
  }
  bool has(std::uint64_t line) { return set(line).find(line) != nullptr; }
  bool dirty(std::uint64_t line) {
    Line* found = set(line).find(line);
    if (found != nullptr) found->is_dirty = true;
    return found != nullptr;
  }
  std::optional<Line> fill(std::uint64_t line, bool is_dirty) {
    return set(line).fill({line, is_dirty}, random_);
  }
  std::optional<Line> remove(std::uint64_t line) { return set(line).remove(line); }

 private:
  Set& set(std::uint64_t line) { return sets_[line % sets_.size()]; }

  std::vector<Set> sets_;
  std::uint64_t random_;
};

// One thread, no prefetchers.
class Hierarchy {
 public:
  explicit Hierarchy(const HierarchyGeometry& g)
      : geometry_(g), l1i_(g.l1i), l1d_(g.l1d), l2_(g.l2), l3_(g.l3) {}

  Level data(std::uint64_t line, bool is_store) { return access(l1d_, line, is_store); }
  Level fetch(std::uint64_t line) { return access(l1i_, line, false); }

  std::uint64_t memory_reads = 0, memory_writes = 0;

 private:
  Level access(Cache& l1, std::uint64_t line, bool is_store) {
    if (l1.use(line, is_store)) return Level::l1;
    bool is_dirty = is_store;
    const Level level = below_l1(line, is_dirty);
    if (const auto out = l1.fill(line, is_dirty); out && out->is_dirty) {
      if (!l2_.exists())
        into_l3(out->number, true);
      else if (!l2_.dirty(out->number))
        into_l2(out->number, true);
    }
    return level;
  }
  Level below_l1(std::uint64_t line, bool& is_dirty) {
    if (!l2_.exists()) return below_l2(line, is_dirty);
    if (l2_.use(line, false)) return Level::l2;
    bool was_dirty = false;
    const Level level = below_l2(line, was_dirty);
    into_l2(line, was_dirty);
    return level;
  }
  Level below_l2(std::uint64_t line, bool& is_dirty) {
    const bool is_exclusive = geometry_.l3_inclusion == Inclusion::exclusive;
    if (l3_.exists() && l3_.use(line, false)) {
      if (is_exclusive) is_dirty |= l3_.remove(line)->is_dirty;
      return Level::l3;
    }
    ++memory_reads;
    if (l3_.exists() && !is_exclusive) into_l3(line, false);
    return Level::memory;
  }
  void into_l2(std::uint64_t line, bool is_dirty) {
    auto out = l2_.fill(line, is_dirty);
    if (!out) return;
    if (geometry_.l2_inclusion == Inclusion::inclusive) {
      l1i_.remove(out->number);
      if (const auto above = l1d_.remove(out->number)) out->is_dirty |= above->is_dirty;
    }
    if (out->is_dirty || geometry_.l3_inclusion == Inclusion::exclusive)
      into_l3(out->number, out->is_dirty);
  }
  void into_l3(std::uint64_t line, bool is_dirty) {
    if (!l3_.exists()) {
      memory_writes += is_dirty;
      return;
    }
    if (is_dirty ? l3_.dirty(line) : l3_.has(line)) return;
    auto out = l3_.fill(line, is_dirty);
    if (!out) return;
    if (geometry_.l3_inclusion == Inclusion::inclusive) {
      l1i_.remove(out->number);
      if (const auto above = l1d_.remove(out->number)) out->is_dirty |= above->is_dirty;
      if (l2_.exists())
        if (const auto above = l2_.remove(out->number)) out->is_dirty |= above->is_dirty;
    }
    memory_writes += out->is_dirty;
  }

  HierarchyGeometry geometry_;
  Cache l1i_, l1d_, l2_, l3_;
};

}  // namespace loft::core::reference
