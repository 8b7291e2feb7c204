#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

// The format has no way to quote its own separator.
std::string frame_name(const std::string& name) {
  std::string text = printable(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text.empty() ? "-" : text;
}

}  // namespace

std::string folded_stacks(const sample::NamedProfile& profile) {
  const bool several = profile.used_events().size() > 1;
  const auto& tree = profile.result.tree;
  std::vector<std::string> lines;
  for (sample::Trie::NodeId node = 1; node < tree.nodes().size(); ++node) {
    if (tree[node].self.samples == 0) continue;
    std::string line = several ? frame_name(profile.events[profile.event_of(node)].name) : "";
    for (const auto function : profile.path_to(node)) {
      if (!line.empty()) line += ';';
      line += frame_name(profile.function_name(function));
    }
    lines.push_back(fmt::format("{} {}\n", line, tree[node].self.samples));
  }
  std::sort(lines.begin(), lines.end());
  return join(lines, "");
}

}  // namespace loft::view
