#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/comparison.hpp"

namespace loft::view {
namespace {

using sample::CallTree;
using sample::Change;
using sample::NamedProfile;
using sample::Weight;

constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

// The call tree of one event of a profile, with plain names.
class PlainTree {
 public:
  PlainTree(const NamedProfile& profile, const std::string& event)
      : profile_(profile),
        tree_(sample::make_call_tree(profile.result.tree, profile.locations,
                                     sample::TreeOrder::from_callers)) {
    for (const std::uint32_t node : tree_.events)
      if (profile.events[tree_.nodes[node].function].name == event) root_ = node;
    if (root_ != kNoNode) event_ = &profile.events[tree_.nodes[root_].function];
  }

  [[nodiscard]] bool is_there() const { return root_ != kNoNode && total(root_) > 0; }
  [[nodiscard]] std::uint32_t root() const { return root_; }
  [[nodiscard]] std::span<const std::uint32_t> children(std::uint32_t node) const {
    return node == kNoNode ? std::span<const std::uint32_t>()
                           : tree_.children_of(tree_.nodes[node]);
  }
  [[nodiscard]] std::string name(std::uint32_t node) const {
    return sample::plain_function_name(profile_.function_name(tree_.nodes[node].function));
  }
  [[nodiscard]] double self(std::uint32_t node) const { return value(weight(node, false)); }
  [[nodiscard]] double total(std::uint32_t node) const { return value(weight(node, true)); }
  // Half of the interval; of what is not there, that of something never seen.
  [[nodiscard]] double error(std::uint32_t node) const {
    const Weight all = tree_.nodes[root_].total;
    const double mean = static_cast<double>(by_period() ? all.period : all.samples) /
                        static_cast<double>(std::max<std::uint64_t>(1, all.samples));
    return scale() * sample::sampling_error(weight(node, true), mean);
  }
  [[nodiscard]] std::string unit() const {
    return !by_period() ? "samples" : event_->is_time ? "s" : "";
  }

 private:
  [[nodiscard]] Weight weight(std::uint32_t node, bool with_all_below) const {
    if (node == kNoNode) return {};
    return with_all_below ? tree_.nodes[node].total : tree_.nodes[node].self;
  }
  [[nodiscard]] bool by_period() const { return event_->period_is_known; }
  [[nodiscard]] double scale() const { return by_period() && event_->is_time ? 1e-9 : 1; }
  [[nodiscard]] double value(const Weight& weight) const {
    return scale() * static_cast<double>(by_period() ? weight.period : weight.samples);
  }

  const NamedProfile& profile_;
  CallTree tree_;
  const sample::ReportEvent* event_ = nullptr;
  std::uint32_t root_ = kNoNode;
};

// As wide as `shown`; `sign` is 1 where that is the second run.
class Differential {
 public:
  Differential(const PlainTree& shown, const PlainTree& other, double sign)
      : shown_(shown), other_(other), sign_(sign) {}

  PageFlame make(const std::string& title) {
    flame_.title = title;
    flame_.unit = shown_.unit();
    std::vector<Open> open = {
        {{shown_.root()}, {other_.root()}, add(0, "all", {shown_.root()}, {other_.root()})}};
    while (!open.empty()) {
      const Open at = std::move(open.back());
      open.pop_back();
      for (auto& [name, nodes] : children_of(at))
        if (!nodes.first.empty())
          open.push_back(
              {nodes.first, nodes.second, add(at.number, name, nodes.first, nodes.second)});
    }
    return std::move(flame_);
  }

 private:
  using Nodes = std::vector<std::uint32_t>;  // clones of a function under one caller
  struct Open {
    Nodes shown, other;
    std::uint32_t number = 0;
  };

  [[nodiscard]] std::map<std::string, std::pair<Nodes, Nodes>> children_of(const Open& at) const {
    std::map<std::string, std::pair<Nodes, Nodes>> children;
    for (const std::uint32_t node : at.shown)
      for (const std::uint32_t child : shown_.children(node))
        children[shown_.name(child)].first.push_back(child);
    for (const std::uint32_t node : at.other)
      for (const std::uint32_t child : other_.children(node))
        children[other_.name(child)].second.push_back(child);
    return children;
  }

  template <class Value>
  static double sum(const Nodes& nodes, const Value& value) {
    double all = 0;
    for (const std::uint32_t node : nodes) all += value(node);
    return all;
  }

  std::uint32_t add(std::uint32_t above, const std::string& name, const Nodes& shown,
                    const Nodes& other) {
    const double total = sum(shown, [&](auto node) { return shown_.total(node); });
    const double others = sum(other, [&](auto node) { return other_.total(node); });
    const double squares =
        sum(shown, [&](auto node) { return std::pow(shown_.error(node), 2); }) +
        (other.empty() ? std::pow(other_.error(kNoNode), 2)
                       : sum(other, [&](auto node) { return std::pow(other_.error(node), 2); }));
    flame_.more.push_back(sign_ * (total - others));
    flame_.noise.push_back(std::sqrt(squares));
    return flame_.add(above, name, sum(shown, [&](auto node) { return shown_.self(node); }), total);
  }

  const PlainTree& shown_;
  const PlainTree& other_;
  double sign_;
  PageFlame flame_;
};

void add_changes(PageTable& table, const sample::ComparedTable& compared,
                 const std::string& event) {
  const auto form = compared.unit == "s" ? CellForm::seconds : CellForm::number;
  PageColumn name{.name = compared.by == "function" ? "function" : "event", .form = CellForm::text};
  PageColumn binary{.name = "binary", .form = CellForm::text};
  PageColumn more{.name = "B - A", .form = form, .unit = compared.unit};
  PageColumn error{
      .name = "by chance",
      .form = form,
      .unit = compared.unit,
      .help = "differences up to this come about by sampling alone, in 99 of 100 cases"};
  PageColumn before{.name = "A", .form = form, .unit = compared.unit};
  PageColumn after{.name = "B", .form = form, .unit = compared.unit};
  PageColumn ratio{.name = "B / A", .form = CellForm::number};
  PageColumn change{.name = "change", .form = CellForm::text};
  for (const sample::ComparedRow& row : compared.rows) {
    name.texts.push_back(row.name);
    binary.texts.push_back(row.binary);
    more.numbers.push_back(or_unknown(row.difference()));
    error.numbers.push_back(or_unknown(row.error()));
    before.numbers.push_back(row.before ? row.before->value : kNotKnown);
    after.numbers.push_back(row.after ? row.after->value : kNotKnown);
    ratio.numbers.push_back(or_unknown(row.ratio()));
    change.texts.push_back(row.change() == Change::none ? "may be chance"
                                                        : to_string(row.change()));
  }
  table.title = compared.by == "function" ? fmt::format("What changed: {}", event) : "Counts";
  table.columns = {name, binary, more, error, before, after, ratio, change};
  if (compared.by != "function") table.columns.erase(table.columns.begin() + 1);
}

void add_totals(PageData& page, const sample::ComparedTable& table) {
  const sample::ComparedRow& whole = table.whole;
  if (!whole.before || !whole.after || page.figures.size() > 5) return;
  const auto text = [&](double value) {
    return table.unit == "s" ? format_seconds(value) : with_si_prefix(value, table.unit);
  };
  const auto ratio = whole.ratio();
  page.figures.push_back(
      {table.metric, fmt::format("{} → {}", text(whole.before->value), text(whole.after->value)),
       ratio ? fmt::format(
                   "B / A {:.3f}, {}", *ratio,
                   whole.change() == Change::none ? "may be chance" : to_string(whole.change()))
             : "",
       sample::Origin::counted});
}

}  // namespace

std::vector<PageFlame> differential_flames(const NamedProfile& before, const NamedProfile& after) {
  std::vector<PageFlame> flames;
  for (const std::uint32_t event : after.used_events()) {
    const std::string& name = after.events[event].name;
    const PlainTree a(before, name);
    const PlainTree b(after, name);
    if (!a.is_there() || !b.is_there() || a.unit() != b.unit()) continue;
    flames.push_back(Differential(b, a, 1).make(name + ", as wide as B"));
    flames.push_back(Differential(a, b, -1).make(name + ", as wide as A"));
  }
  return flames;
}

PageData comparison_page(const ComparedRuns& runs) {
  const sample::Comparison& comparison = runs.comparison;
  PageData page;
  page.title = "A and B";
  page.source = fmt::format("A: {}; B: {}", comparison.before_path, comparison.after_path);
  page.flames = runs.flames;
  for (const sample::ComparedTable& table : comparison.tables) {
    add_totals(page, table);
    add_changes(page.tables.emplace_back(), table, table.metric);
  }
  page.warnings.push_back(
      {WarningKind::note,
       "a difference is called a change where it is larger than what sampling does by chance in 99 "
       "of 100 cases; how much runs differ from each other is not in it"});
  for (const std::string& note : comparison.notes)
    page.warnings.push_back({WarningKind::note, note});
  return page;
}

}  // namespace loft::view
