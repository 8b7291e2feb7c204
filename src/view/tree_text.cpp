#include <fmt/format.h>

#include "base/text.hpp"
#include "view/report.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

constexpr int kDeepest = 256;

class TreePrinter {
 public:
  TreePrinter(const sample::NamedProfile& profile, const sample::CallTree& tree, double least)
      : profile_(profile), tree_(tree), least_(least) {}

  std::string print() {
    for (const auto root : tree_.events) {
      const auto& node = tree_.nodes[root];
      event_ = node.function;
      whole_ = value(node.total);
      out_ +=
          fmt::format("\n{}: {}\n{:>8}  {:>8}  function\n", printable(profile_.events[event_].name),
                      samples_text(node.total.samples), "total", "self");
      print_children(node, 0);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] double value(const sample::Weight& weight) const {
    return static_cast<double>(profile_.events[event_].period_is_known ? weight.period
                                                                       : weight.samples);
  }
  [[nodiscard]] double share(const sample::Weight& weight) const {
    return whole_ == 0 ? 0 : value(weight) / whole_;
  }

  void print_children(const sample::CallTree::Node& node, int depth) {
    std::size_t hidden = 0;
    sample::Weight hidden_weight;
    for (const auto child : tree_.children_of(node)) {
      const auto& below = tree_.nodes[child];
      if (share(below.total) < least_ || depth == kDeepest) {
        ++hidden;
        hidden_weight += below.total;
        continue;
      }
      line(share(below.total), share(below.self), depth,
           printable(profile_.function_name(below.function)));
      print_children(below, depth + 1);
    }
    if (hidden != 0) line(share(hidden_weight), 0, depth, fmt::format("({} more)", hidden));
  }

  void line(double total, double self, int depth, const std::string& text) {
    out_ += fmt::format("{:>6.2f} %  {:>8}  {:{}}{}\n", 100 * total,
                        self == 0 ? "" : fmt::format("{:.2f} %", 100 * self), "", 2 * depth, text);
  }

  const sample::NamedProfile& profile_;
  const sample::CallTree& tree_;
  double least_;
  std::uint32_t event_ = 0;
  double whole_ = 0;
  std::string out_;
};

}  // namespace

std::string tree_text(const sample::NamedProfile& profile, const sample::CallTree& tree,
                      double least_share) {
  return TreePrinter(profile, tree, least_share).print();
}

}  // namespace loft::view
