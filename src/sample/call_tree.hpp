// A call tree to be shown: from callers to callees, or turned around, from each function to those
// that called it. Children come heaviest first.
#pragma once

#include <span>
#include <vector>

#include "sample/profile.hpp"

namespace loft::sample {

struct CallTree {
  struct Node {
    std::uint32_t function = 0;  // at depth 0: the event
    Weight self;                 // of the function itself; turned around, only a callee has it
    Weight total;                // with all below
    std::uint32_t first_child = 0;
    std::uint32_t child_count = 0;
  };
  std::vector<Node> nodes;              // [0] is above all events
  std::vector<std::uint32_t> children;  // of all nodes, those of each beside each other
  std::vector<std::uint32_t> events;    // nodes of the events

  [[nodiscard]] std::span<const std::uint32_t> children_of(const Node& node) const {
    return std::span(children).subspan(node.first_child, node.child_count);
  }
};

enum class TreeOrder { from_callers, from_callees };

// Of equally heavy ones the name decides: `locations` has the names.
[[nodiscard]] CallTree make_call_tree(const Trie& tree, const Locations& locations,
                                      TreeOrder order);

}  // namespace loft::sample
