#include <fmt/format.h>

#include "base/text.hpp"
#include "view/csv.hpp"
#include "view/report.hpp"
#include "view/tree_walk.hpp"

namespace loft::view {
namespace {

using Node = sample::CallTree::Node;

class TreePrinter {
 public:
  TreePrinter(const ShownTree& shown, const TreeWalk& walk) : shown_(shown), walk_(walk) {}

  void print_children(const Node& node, int depth) {
    const auto left_out = walk_.each_child(node, depth, [&](const Node& child) {
      line(walk_.share(child.total), walk_.share(child.self), depth,
           printable(shown_.profile.function_name(child.function)));
      print_children(child, depth + 1);
    });
    if (left_out.count != 0)
      line(walk_.share(left_out.weight), 0, depth, fmt::format("({} more)", left_out.count));
  }

  std::string take() { return std::move(out_); }

 private:
  void line(double total, double self, int depth, const std::string& text) {
    out_ += fmt::format("{:>6.2f} %  {:>8}  {:{}}{}\n", 100 * total,
                        self == 0 ? "" : fmt::format("{:.2f} %", 100 * self), "", 2 * depth, text);
  }

  const ShownTree& shown_;
  const TreeWalk& walk_;
  std::string out_;
};

class TreeTable {
 public:
  TreeTable(const ShownTree& shown, const TreeWalk& walk) : shown_(shown), walk_(walk) {}

  void add_children(const Node& node, int depth) {
    (void)walk_.each_child(node, depth, [&](const Node& child) {
      const auto& event = walk_.event();
      const auto period = [&](std::uint64_t value) {
        return event.period_is_known ? std::to_string(value) : std::string();
      };
      out_ += fmt::format("{},{},{},{},{},{},{:.6f},{},{},{:.6f}\n", csv_field(event.name), depth,
                          csv_field(shown_.profile.function_name(child.function)),
                          csv_field(shown_.profile.binary_path(child.function)), child.self.samples,
                          period(child.self.period), walk_.share(child.self), child.total.samples,
                          period(child.total.period), walk_.share(child.total));
      add_children(child, depth + 1);
    });
  }

  std::string take() { return std::move(out_); }

 private:
  const ShownTree& shown_;
  const TreeWalk& walk_;
  std::string out_;
};

}  // namespace

std::string tree_text(const ShownTree& shown) {
  std::string text;
  for (const auto root : shown_roots(shown.profile, shown.tree)) {
    const auto& node = shown.tree.nodes[root];
    const TreeWalk walk(shown, root);
    text += fmt::format("\n{}: {}{}{}\n{:>8}  {:>8}  function\n", printable(walk.event().name),
                        samples_text(node.total.samples), shared_text(walk.event()),
                        shown_share_text(walk.event()), "total", "self");
    TreePrinter printer(shown, walk);
    printer.print_children(node, 0);
    text += printer.take();
  }
  return text;
}

std::string tree_csv(const ShownTree& shown) {
  std::string text =
      "event,depth,function,binary,samples,period,share,inclusive_samples,inclusive_period,"
      "inclusive_share\n";
  for (const auto root : shown_roots(shown.profile, shown.tree)) {
    const TreeWalk walk(shown, root);
    TreeTable table(shown, walk);
    table.add_children(shown.tree.nodes[root], 0);
    text += table.take();
  }
  return text;
}

}  // namespace loft::view
