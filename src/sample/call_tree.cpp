#include "sample/call_tree.hpp"

#include <algorithm>

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

CallTree sorted_tree(const Trie& tree, bool by_period) {
  CallTree result;
  const auto totals = tree.totals();
  result.nodes.resize(tree.nodes().size());
  for (Trie::NodeId node = 0; node < result.nodes.size(); ++node) {
    result.nodes[node].function = tree[node].key;
    result.nodes[node].self = tree[node].self;
    result.nodes[node].total = totals[node];
    if (node != Trie::kRoot) result.nodes[tree[node].parent].children.push_back(node);
  }
  const auto weight = [&](std::uint32_t node) {
    const Weight& total = result.nodes[node].total;
    return by_period ? total.period : total.samples;
  };
  for (auto& node : result.nodes)
    std::stable_sort(node.children.begin(), node.children.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); });
  result.events = result.nodes[Trie::kRoot].children;
  std::sort(result.events.begin(), result.events.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result.nodes[a].function < result.nodes[b].function;
  });
  return result;
}

}  // namespace

CallTree make_call_tree(const Trie& tree, TreeOrder order, bool by_period) {
  if (order == TreeOrder::from_callers) return sorted_tree(tree, by_period);
  CallTree turned = sorted_tree(turned_around(tree), by_period);
  // Paths end at the outermost caller here, which did none of the work: it is the first one's own.
  for (auto& node : turned.nodes) node.self = {};
  for (const auto event : turned.events)
    for (const auto callee : turned.nodes[event].children)
      turned.nodes[callee].self = turned.nodes[callee].total;
  return turned;
}

}  // namespace loft::sample
