#include "sample/address_space.hpp"

namespace loft::sample {

AddressSpaces::Root AddressSpaces::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<Root>(nodes_.size() - 1);
}

std::pair<AddressSpaces::Root, AddressSpaces::Root> AddressSpaces::split(Root root,
                                                                         std::uint64_t address) {
  if (root == kEmpty) return {kEmpty, kEmpty};
  Node node = nodes_[root];
  if (node.range.start < address) {
    const auto [left, right] = split(node.right, address);
    node.right = left;
    return {add(node), right};
  }
  const auto [left, right] = split(node.left, address);
  node.left = right;
  return {left, add(node)};
}

AddressSpaces::Root AddressSpaces::merge(Root left, Root right) {
  if (left == kEmpty) return right;
  if (right == kEmpty) return left;
  if (nodes_[left].priority > nodes_[right].priority) {
    Node node = nodes_[left];
    node.right = merge(node.right, right);
    return add(node);
  }
  Node node = nodes_[right];
  node.left = merge(left, node.left);
  return add(node);
}

AddressSpaces::Range AddressSpaces::cut_last(Root& root, std::uint64_t address) {
  Root last = root;
  while (last != kEmpty && nodes_[last].right != kEmpty) last = nodes_[last].right;
  if (last == kEmpty || nodes_[last].range.end <= address) return {};
  const Range whole = nodes_[last].range;
  const auto [before, alone] = split(root, whole.start);
  Node kept = nodes_[alone];
  kept.range.end = address;
  root = merge(before, add(kept));
  return {address, whole.end, whole.value};
}

AddressSpaces::Root AddressSpaces::map(Root root, Range range) {
  if (range.start >= range.end) return root;
  const auto fresh = [&](const Range& part) {
    // Numbers in a row, scattered: what a file contains cannot shape the tree.
    const std::uint32_t priority = next_priority_++ * 2654435769u;
    return add({part, kEmpty, kEmpty, priority ^ (priority >> 15)});
  };
  auto [before, rest] = split(root, range.start);
  auto [covered, after] = split(rest, range.end);
  // At most one range reaches into the new one from below, and at most one out of it above.
  const Range reaching = cut_last(before, range.start);
  Range beyond = cut_last(covered, range.end);
  if (reaching.end > range.end) beyond = {range.end, reaching.end, reaching.value};
  Root result = merge(before, fresh(range));
  if (beyond.value != kNothing) result = merge(result, fresh(beyond));
  return merge(result, after);
}

}  // namespace loft::sample
