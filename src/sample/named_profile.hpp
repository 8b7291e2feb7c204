// A profile together with what gives its numbers names: what every view of stacks starts from.
#pragma once

#include <string>
#include <vector>

#include "sample/report.hpp"

namespace loft::sample {

struct NamedProfile {
  const RecordingSummary& summary;
  const ProfileResult& result;
  const Locations& locations;
  const TaskHistory& history;
  std::vector<ReportEvent> events;

  [[nodiscard]] const std::string& function_name(std::uint32_t function) const {
    return locations.function(function).name;
  }
  [[nodiscard]] std::string binary_path(std::uint32_t function) const {
    const auto binary = locations.function(function).binary;
    return binary == Function::kNoBinary ? std::string() : history.binaries()[binary].path;
  }
  // Events that have samples, in the order in which they are shown.
  [[nodiscard]] std::vector<std::uint32_t> used_events() const {
    std::vector<std::uint32_t> used;
    for (const std::uint32_t event : shown_order(events))
      if (events[event].total.samples != 0) used.push_back(event);
    return used;
  }
  // The functions from the event's first frame to `node`, outermost first.
  [[nodiscard]] std::vector<std::uint32_t> path_to(Trie::NodeId node) const {
    std::vector<std::uint32_t> path;
    while (node != Trie::kRoot && result.tree[node].parent != Trie::kRoot) {
      path.push_back(result.tree[node].key);
      node = result.tree[node].parent;
    }
    return {path.rbegin(), path.rend()};
  }
  [[nodiscard]] std::uint32_t event_of(Trie::NodeId node) const {
    while (result.tree[node].parent != Trie::kRoot) node = result.tree[node].parent;
    return result.tree[node].key;
  }
};

}  // namespace loft::sample
