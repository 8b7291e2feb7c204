#ifdef LOFT_HAS_ENGINE
#include "source/virtual/marked_regions.hpp"

#include <algorithm>
#include <functional>

namespace loft::source::virtual_pmu {
namespace {

struct Tree {
  std::string name;
  std::vector<std::uint32_t> paths;  // that are the same region
  std::vector<std::size_t> children;
};

}  // namespace

// The program can write the table, so a parent is taken only where it stands before its child.
MarkedRegions::MarkedRegions(const std::vector<engine::PathEntry>& paths) : of_path_(paths.size()) {
  std::vector<Tree> trees(1);  // the first is what is outside
  std::vector<std::size_t> tree_of(paths.size());
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    const std::string name(paths[i].name, paths[i].length);
    const bool has_parent = paths[i].parent != 0 && paths[i].parent <= i;
    const std::size_t parent = has_parent ? tree_of[paths[i].parent - 1] : 0;
    auto& children = trees[parent].children;
    const auto known = std::ranges::find_if(
        children, [&](std::size_t child) { return trees[child].name == name; });
    tree_of[i] = known != children.end() ? *known : trees.size();
    if (known == children.end()) {
      children.push_back(trees.size());
      trees.push_back({name, {}, {}});
    }
    trees[tree_of[i]].paths.push_back(i);
  }
  const std::function<void(std::size_t, std::optional<std::size_t>, unsigned)> add =
      [&](std::size_t tree, std::optional<std::size_t> parent, unsigned depth) {
        for (const std::size_t child : trees[tree].children) {
          const std::size_t node = nodes_.size();
          nodes_.push_back({trees[child].name, parent, depth});
          for (const std::uint32_t path : trees[child].paths) of_path_[path] = node;
          add(child, node, depth + 1);
        }
      };
  add(0, std::nullopt, 0);
}

std::optional<std::size_t> MarkedRegions::find(std::uint32_t path) const {
  return path != 0 && path <= of_path_.size() ? of_path_[path - 1] : std::nullopt;
}

std::vector<std::string> MarkedRegions::names_of(std::size_t node) const {
  std::vector<std::string> names;
  for (std::optional<std::size_t> at = node; at; at = nodes_[*at].parent)
    names.push_back(nodes_[*at].name);
  std::ranges::reverse(names);
  return names;
}

void RegionSums::add(const engine::SlotEntry& slot, const std::vector<std::uint64_t>& counts) {
  const auto add_to = [&](std::vector<std::uint64_t>& sum, bool is_counted) {
    sum.resize(width_);
    for (std::size_t i = 0; is_counted && i < width_; ++i) sum[i] += counts[i];
  };
  const auto own = regions_.find(slot.path);
  if (!own) return;
  rows_[*own].visits += slot.visits;
  for (auto node = own; node; node = regions_.nodes()[*node].parent) {
    rows_[*node].was_met = true;
    add_to(rows_[*node].whole, true);
    add_to(rows_[*node].self, node == own);
  }
}

}  // namespace loft::source::virtual_pmu
#endif
