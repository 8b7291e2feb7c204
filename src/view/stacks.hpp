// Views of call stacks: for people, and for other tools that show them.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "sample/call_tree.hpp"
#include "sample/named_profile.hpp"

namespace loft::view {

// The nodes of the events in `tree`, in the order in which events are shown.
[[nodiscard]] inline std::vector<std::uint32_t> shown_roots(const sample::NamedProfile& profile,
                                                            const sample::CallTree& tree) {
  std::vector<std::uint32_t> roots;
  for (const std::uint32_t event : sample::shown_order(profile.events))
    for (const std::uint32_t root : tree.events)
      if (tree.nodes[root].function == event) roots.push_back(root);
  return roots;
}

// A call tree as it is shown: branches below `least_share` of their event are left out.
struct ShownTree {
  const sample::NamedProfile& profile;
  sample::CallTree tree;
  double least_share = 0;
};
// Indented; what is left out is counted.
std::string tree_text(const ShownTree& shown);
// A line per function with its depth, callers before what they called.
std::string tree_csv(const ShownTree& shown);

// "main;compute;sqrt 42" per line, for flame graph tools. With several events, the event comes
// first.
std::string folded_stacks(const sample::NamedProfile& profile);

// A flame graph that stands alone: no other file, nothing from the network.
std::string flame_graph(const sample::NamedProfile& profile, const sample::CallTree& tree);

// profile.proto, gzipped: for pprof.
[[nodiscard]] Result<std::string> pprof_profile(const sample::NamedProfile& profile);

// These three keep the moment of each sample, so they are long and written piece by piece; the
// profile must have its timeline. A sink that gives false ends them.
using TextSink = std::function<bool(std::string_view)>;
void speedscope_json(const sample::NamedProfile& profile, const TextSink& write);
void firefox_json(const sample::NamedProfile& profile, const TextSink& write);
void perfetto_trace(const sample::NamedProfile& profile, const TextSink& write);

// "perf.data (1 of 4 samples)": what a view over time says that it shows.
std::string shown_part(const sample::NamedProfile& profile);

}  // namespace loft::view
