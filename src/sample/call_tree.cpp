#include "sample/call_tree.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace loft::sample {
namespace {

// Every path with weight, inserted from its innermost function outwards.
Trie turned_around(const Trie& tree) {
  Trie turned;
  for (Trie::NodeId node = 1; node < tree.nodes().size(); ++node) {
    if (tree[node].self.samples == 0) continue;
    Trie::NodeId top = node;
    while (tree[top].parent != Trie::kRoot) top = tree[top].parent;
    auto at = turned.child(Trie::kRoot, tree[top].key);
    for (Trie::NodeId from = node; from != top; from = tree[from].parent)
      at = turned.child(at, tree[from].key);
    turned.add(at, tree[node].self);
  }
  return turned;
}

// Nodes with their weights; the children of each in the order of the trie.
CallTree tree_of(const Trie& trie) {
  CallTree tree;
  const auto totals = trie.totals();
  tree.nodes.resize(trie.nodes().size());
  for (Trie::NodeId node = 0; node < tree.nodes.size(); ++node) {
    tree.nodes[node].function = trie[node].key;
    tree.nodes[node].self = trie[node].self;
    tree.nodes[node].total = totals[node];
    if (node != Trie::kRoot) ++tree.nodes[trie[node].parent].child_count;
  }
  std::uint32_t placed = 0;
  for (auto& node : tree.nodes) {
    node.first_child = placed;
    placed += std::exchange(node.child_count, 0);
  }
  tree.children.resize(placed);
  for (Trie::NodeId node = 1; node < tree.nodes.size(); ++node) {
    auto& parent = tree.nodes[trie[node].parent];
    tree.children[parent.first_child + parent.child_count++] = node;
  }
  return tree;
}

CallTree sorted_tree(const Trie& trie, const Locations& locations) {
  CallTree result = tree_of(trie);
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    const auto& left = result.nodes[a];
    const auto& right = result.nodes[b];
    if (left.total.period != right.total.period) return left.total.period > right.total.period;
    if (left.total.samples != right.total.samples) return left.total.samples > right.total.samples;
    const Function& first = locations.function(left.function);
    const Function& second = locations.function(right.function);
    return std::tie(first.name, first.binary, first.address) <
           std::tie(second.name, second.binary, second.address);
  };
  for (std::size_t i = 1; i < result.nodes.size(); ++i) {
    const auto first = result.children.begin() + result.nodes[i].first_child;
    std::sort(first, first + result.nodes[i].child_count, is_before);
  }
  const auto events = result.children_of(result.nodes[Trie::kRoot]);
  result.events.assign(events.begin(), events.end());
  std::sort(result.events.begin(), result.events.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result.nodes[a].function < result.nodes[b].function;
  });
  return result;
}

}  // namespace

CallTree make_call_tree(const Trie& tree, const Locations& locations, TreeOrder order) {
  if (order == TreeOrder::from_callers) return sorted_tree(tree, locations);
  CallTree turned = sorted_tree(turned_around(tree), locations);
  // Paths end at the outermost caller here, which did none of the work: it is the first one's own.
  for (auto& node : turned.nodes) node.self = {};
  for (const auto event : turned.events)
    for (const auto callee : turned.children_of(turned.nodes[event]))
      turned.nodes[callee].self = turned.nodes[callee].total;
  return turned;
}

}  // namespace loft::sample
