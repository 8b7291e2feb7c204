#ifdef LOFT_HAS_ENGINE
#include "source/virtual/marked_regions.hpp"

#include <fmt/format.h>

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

std::string wrong_ends_note(std::uint32_t ends) {
  return fmt::format(
      "{} ends of regions were ignored: each named another region than the innermost that was open",
      ends);
}

void RegionRows::add(const engine::SlotEntry& slot, const std::vector<std::uint64_t>& counts) {
  all_.add(slot, counts);
  if (!by_thread_) return;
  const auto [known, is_new] =
      index_.try_emplace({slot.process, slot.thread, slot.image}, threads_.size());
  if (is_new)
    threads_.push_back({slot, std::vector<std::uint64_t>(width_), RegionSums(regions_, width_)});
  Thread& thread = threads_[known->second];
  for (std::size_t i = 0; i < width_; ++i) thread.total[i] += counts[i];
  thread.regions.add(slot, counts);
}

void RegionRows::put_into(std::vector<sample::ThreadCounts>& threads,
                          std::vector<sample::RegionCounts>& regions, const Placed& placed) const {
  const auto put = [&](const RegionSums& sums, std::optional<std::size_t> thread) {
    for (std::size_t node = 0; node < sums.rows().size(); ++node) {
      const RegionSums::Row& row = sums.rows()[node];
      if (!row.was_met) continue;
      regions.push_back({.path = regions_.names_of(node),
                         .thread = thread,
                         .visits = row.visits,
                         .time = {},
                         .elapsed = {},
                         .counts = placed(row.whole),
                         .self = placed(row.self)});
    }
  };
  put(all_, std::nullopt);
  for (const Thread& thread : threads_) {
    threads.push_back({static_cast<pid_t>(thread.slot.process),
                       static_cast<pid_t>(thread.slot.thread), thread.slot.name,
                       placed(thread.total)});
    put(thread.regions, threads.size() - 1);
  }
}

}  // namespace loft::source::virtual_pmu
#endif
