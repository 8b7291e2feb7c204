#include <fmt/format.h>

#include <algorithm>
#include <map>

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
  // Functions of one name at several addresses are one here.
  std::map<std::string, std::uint64_t> stacks;
  for (sample::Trie::NodeId node = 1; node < tree.nodes().size(); ++node) {
    if (tree[node].self.samples == 0) continue;
    std::string line = several ? frame_name(profile.events[profile.event_of(node)].name) : "";
    for (const auto function : profile.path_to(node)) {
      if (!line.empty()) line += ';';
      line += frame_name(profile.function_name(function));
    }
    stacks[line] += tree[node].self.samples;
  }
  std::string text;
  for (const auto& [stack, samples] : stacks) text += fmt::format("{} {}\n", stack, samples);
  return text;
}

}  // namespace loft::view
