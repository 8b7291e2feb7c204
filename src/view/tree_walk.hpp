// What all forms of a call tree have in common: which functions are shown, and with what share.
#pragma once

#include "view/stacks.hpp"

namespace loft::view {

class TreeWalk {
 public:
  static constexpr int kDeepest = 256;

  TreeWalk(const ShownTree& shown, std::uint32_t event_node)
      : shown_(shown), event_(shown.tree.nodes[event_node].function) {
    whole_ = value(shown.tree.nodes[event_node].total);
  }

  [[nodiscard]] const sample::ReportEvent& event() const { return shown_.profile.events[event_]; }

  [[nodiscard]] double share(const sample::Weight& weight) const {
    return whole_ == 0 ? 0 : value(weight) / whole_;
  }

  // Calls show(child) for each that is large enough, heaviest first; gives what the others are.
  struct LeftOut {
    std::size_t count = 0;
    sample::Weight weight;
  };
  template <class Show>
  LeftOut each_child(const sample::CallTree::Node& node, int depth, const Show& show) const {
    LeftOut left_out;
    for (const auto number : shown_.tree.children_of(node)) {
      const auto& child = shown_.tree.nodes[number];
      if (share(child.total) >= shown_.least_share && depth < kDeepest) {
        show(child);
        continue;
      }
      ++left_out.count;
      left_out.weight += child.total;
    }
    return left_out;
  }

 private:
  [[nodiscard]] double value(const sample::Weight& weight) const {
    return static_cast<double>(event().period_is_known ? weight.period : weight.samples);
  }

  const ShownTree& shown_;
  std::uint32_t event_;
  double whole_ = 0;
};

}  // namespace loft::view
