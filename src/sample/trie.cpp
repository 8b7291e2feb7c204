#include "sample/trie.hpp"

namespace loft::sample {

Trie::NodeId Trie::insert(std::size_t slot, NodeId parent, std::uint32_t key) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({parent, key, {}});
  table_[slot] = {parent, key, id};
  if (nodes_.size() * 2 > table_.size()) grow();
  return id;
}

void Trie::grow() {
  std::vector<Slot>(table_.size() * 2).swap(table_);
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    std::size_t slot = slot_of(nodes_[id].parent, nodes_[id].key);
    while (table_[slot].node != kRoot) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = {nodes_[id].parent, nodes_[id].key, id};
  }
}

std::vector<Trie::NodeId> Trie::merge(const Trie& other) {
  std::vector<NodeId> became(other.nodes_.size(), kRoot);
  for (NodeId id = 1; id < other.nodes_.size(); ++id) {
    const Node& node = other.nodes_[id];
    became[id] = child(became[node.parent], node.key);
    add(became[id], node.self);
  }
  return became;
}

std::vector<Weight> Trie::totals() const {
  std::vector<Weight> totals(nodes_.size());
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    totals[id] += nodes_[id].self;
    if (id != kRoot) totals[nodes_[id].parent] += totals[id];
  }
  return totals;
}

}  // namespace loft::sample
