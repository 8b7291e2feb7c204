// Paths of small numbers with a weight each: call chains, or the keys of a table's rows. Every path
// is kept once; a node knows its parent, so that a path needs no memory of its own.
//
//   Trie trie;
//   auto node = Trie::kRoot;
//   for (const auto key : path) node = trie.child(node, key);
//   trie.add(node, {1, period});
#pragma once

#include <cstdint>
#include <vector>

namespace loft::sample {

struct Weight {
  std::uint64_t samples = 0;
  std::uint64_t period = 0;

  Weight& operator+=(const Weight& other) {
    samples += other.samples;
    period += other.period;
    return *this;
  }
  Weight& operator-=(const Weight& other) {
    samples -= other.samples;
    period -= other.period;
    return *this;
  }
};

class Trie {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId kRoot = 0;

  struct Node {
    NodeId parent = 0;
    std::uint32_t key = 0;
    Weight self;
  };

  Trie() : nodes_(1), table_(kFirstTable) {}

  // The node below `parent` with this key; made when it is not there. Parents come before children.
  NodeId child(NodeId parent, std::uint32_t key) {
    std::size_t slot = slot_of(parent, key);
    while (table_[slot].node != kRoot) {
      if (table_[slot].parent == parent && table_[slot].key == key) return table_[slot].node;
      slot = (slot + 1) & (table_.size() - 1);
    }
    return insert(slot, parent, key);
  }

  void add(NodeId node, const Weight& weight) { nodes_[node].self += weight; }
  void take(NodeId node, const Weight& weight) { nodes_[node].self -= weight; }

  // Bring what child() and add() will look at into the cache.
  void prefetch_child(NodeId parent, std::uint32_t key) const {
    __builtin_prefetch(&table_[slot_of(parent, key)]);
  }
  void prefetch(NodeId node) const { __builtin_prefetch(&nodes_[node]); }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const Node& operator[](NodeId node) const { return nodes_[node]; }

  // Adds all of `other`; gives the node that each of its nodes became.
  std::vector<NodeId> merge(const Trie& other);

  // The weight of each node with all that is below it.
  [[nodiscard]] std::vector<Weight> totals() const;

 private:
  // Says itself what it is about, so that a lookup touches one place in memory.
  struct Slot {
    NodeId parent = 0;
    std::uint32_t key = 0;
    NodeId node = kRoot;  // the root marks a free slot
  };
  static constexpr std::size_t kFirstTable = 1024;

  [[nodiscard]] std::size_t slot_of(NodeId parent, std::uint32_t key) const {
    const std::uint64_t both = (std::uint64_t{parent} << 32 | key) * 0x9E3779B97F4A7C15u;
    return (both >> 32 ^ both) & (table_.size() - 1);
  }
  NodeId insert(std::size_t slot, NodeId parent, std::uint32_t key);
  void grow();

  std::vector<Node> nodes_;  // [0] is the root
  std::vector<Slot> table_;  // open addressing
};

}  // namespace loft::sample
