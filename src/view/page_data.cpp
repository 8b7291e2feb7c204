#include <algorithm>

#include "base/text.hpp"
#include "view/page.hpp"
#include "view/stacks.hpp"

namespace loft::view {

std::uint32_t PageTexts::of(std::string_view text) {
  const auto [entry, is_new] =
      index_.emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return entry->second;
}

void PagePoints::reserve(std::size_t points) {
  for (auto* column : {&scope, &origin}) column->reserve(points);
  for (auto* column : {&run, &name, &tid, &function, &bound_by, &why}) column->reserve(points);
  for (auto* column : {&intensity, &flops_per_second, &seconds, &share, &share_of_roof})
    column->reserve(points);
  for (auto* column : {&start_s, &end_s}) column->reserve(points);
}

void PagePoints::add(const model::RoofPoint& point, std::uint32_t of_run) {
  const model::Subject& subject = point.subject;
  const auto narrow = [](std::optional<double> value) {
    return static_cast<float>(value.value_or(kNotKnown));
  };
  const bool is_slice = subject.scope == model::Scope::slice;
  const bool has_function = is_slice || subject.scope == model::Scope::function ||
                            subject.scope == model::Scope::region || subject.loop;
  const bool is_explained = subject.why && subject.why->outcome != model::Outcome::not_seen;
  // Without a sample in it, how long it took is not known.
  const bool has_time = subject.seconds > 0;
  scope.push_back(static_cast<std::uint8_t>(subject.scope));
  origin.push_back(static_cast<std::uint8_t>(subject.origin));
  run.push_back(of_run);
  name.push_back(texts.of(subject.scope == model::Scope::run ? "whole run"
                          : subject.loop                     ? "loop " + name_of(*subject.loop)
                                                             : subject.name));
  const bool has_thread = subject.tid != 0 || subject.scope == model::Scope::thread;  // or rank 0
  tid.push_back(has_thread               ? static_cast<std::uint32_t>(subject.tid)
                : subject.mostly_in != 0 ? subject.mostly_in
                                         : kNoThread);
  function.push_back(texts.of(has_function ? std::string_view(subject.name) : ""));
  bound_by.push_back(texts.of(point.limit ? std::string_view(point.limit->name) : ""));
  why.push_back(texts.of(is_explained ? words_of(*subject.why) : std::string()));
  intensity.push_back(narrow(point.intensity));
  flops_per_second.push_back(narrow(point.ops_per_second));
  seconds.push_back(narrow(has_time ? std::optional(subject.seconds) : std::nullopt));
  share.push_back(narrow(has_time ? std::optional(subject.share_of_time) : std::nullopt));
  share_of_roof.push_back(narrow(point.limit ? std::optional(point.limit->share) : std::nullopt));
  start_s.push_back(is_slice ? subject.start : kNotKnown);
  end_s.push_back(is_slice ? subject.end : kNotKnown);
  for (const model::LevelPoint& level : point.levels) {
    if (is_slice || !level.intensity || level.level == "L1") continue;  // which the point itself is
    levels.point.push_back(static_cast<std::uint32_t>(size() - 1));
    levels.name.push_back(texts.of(level.level));
    levels.intensity.push_back(narrow(level.intensity));
    levels.share.push_back(narrow(level.share));
  }
}

std::uint32_t PageFlame::add(std::uint32_t above, std::string_view frame, double own,
                             double with_all_below, bool kernel) {
  parent.push_back(above);
  name.push_back(texts.of(frame));
  self.push_back(own);
  total.push_back(with_all_below);
  is_kernel.push_back(kernel ? 1 : 0);
  return static_cast<std::uint32_t>(parent.size() - 1);
}

namespace {

// Periods where they are known, as seconds where they count time; else samples.
struct FlameValue {
  bool by_period = false;
  double scale = 1;

  [[nodiscard]] double operator()(const sample::Weight& weight) const {
    return scale * static_cast<double>(by_period ? weight.period : weight.samples);
  }
};

PageFlame flame_of(const sample::NamedProfile& profile, const sample::CallTree& tree,
                   std::uint32_t root) {
  const auto& event = profile.events[tree.nodes[root].function];
  const bool by_period = event.period_is_known && tree.nodes[root].total.period != 0;
  const FlameValue value{by_period, by_period && event.is_time ? 1e-9 : 1};
  PageFlame flame;
  flame.title = event.name;
  flame.unit = !by_period ? "samples" : event.is_time ? "s" : "";
  flame.add(0, "all", value(tree.nodes[root].self), value(tree.nodes[root].total));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{root, 0}};  // node, its number here
  while (!open.empty()) {
    const auto [above, number] = open.back();
    open.pop_back();
    for (const auto child : tree.children_of(tree.nodes[above])) {
      const auto& node = tree.nodes[child];
      const auto binary = profile.locations.function(node.function).binary;
      const bool kernel =
          binary != sample::Function::kNoBinary && profile.history.binaries()[binary].is_kernel;
      open.emplace_back(child, flame.add(number, profile.function_name(node.function),
                                         value(node.self), value(node.total), kernel));
    }
  }
  return flame;
}

}  // namespace

std::vector<PageFlame> page_flames(const sample::NamedProfile& profile,
                                   const sample::CallTree& tree) {
  std::vector<PageFlame> flames;
  for (const auto root : shown_roots(profile, tree))
    if (tree.nodes[root].total.samples != 0) flames.push_back(flame_of(profile, tree, root));
  // A page opens with the first: rather one that tells who called.
  std::ranges::stable_partition(flames, [](const PageFlame& flame) {
    return std::ranges::any_of(flame.parent, [](std::uint32_t above) { return above != 0; });
  });
  return flames;
}

}  // namespace loft::view
