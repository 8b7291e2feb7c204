#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/xml_text.hpp"
#include "view/flame_graph_script.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 10;
constexpr double kRow = 17;
constexpr double kLetter = 6.6;     // width of one in the font below
constexpr double kNarrowest = 0.4;  // narrower frames cannot be seen
constexpr int kDeepest = 400;

// The same name has the same colour in every graph: kernel frames blue, user frames warm.
std::string colour_of(const std::string& name, bool is_kernel) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const unsigned a = hash % 40;
  const unsigned b = (hash >> 8) % 50;
  return is_kernel ? fmt::format("rgb({},{},{})", 120 + a, 165 + b, 225)
                   : fmt::format("rgb({},{},{})", 215 + a, 100 + b * 2, 60 + a / 2);
}

class FlameGraph {
 public:
  FlameGraph(const sample::NamedProfile& profile, const sample::CallTree& tree)
      : profile_(profile), tree_(tree) {}

  std::string draw() {
    double y = kMargin;
    for (const auto root : shown_roots(profile_, tree_)) y = draw_event(root, y);
    const double height = std::max(y, 60.0);
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0} {1:.0f}\" font-family=\"monospace\" font-size=\"11\">\n"
        "<style>text{{pointer-events:none;fill:#111}} .f rect{{stroke:#fff;stroke-width:.5}} "
        ".f:hover rect{{stroke:#000}} .f{{cursor:pointer}} .h{{font-size:14px}}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fcfcfa\"/>\n",
        kWidth, height);
    out += body_;
    if (tree_.events.empty())
      out += fmt::format("<text x=\"{}\" y=\"30\" class=\"h\">no samples</text>\n", kMargin);
    out += fmt::format("<script><![CDATA[{}]]></script>\n</svg>\n", kFlameGraphScript);
    return out;
  }

 private:
  double draw_event(std::uint32_t root, double y) {
    const auto& node = tree_.nodes[root];
    const auto& event = profile_.events[node.function];
    by_period_ = event.period_is_known && node.total.period != 0;
    whole_ = value(node.total);
    deepest_ = 0;
    measure(root, 0, kWidth - 2 * kMargin);
    body_ += fmt::format("<text x=\"{}\" y=\"{:.0f}\" class=\"h\">{}: {} samples</text>\n", kMargin,
                         y + 14, xml_text(event.name), with_separators(node.total.samples));
    const double bottom = y + 28 + kRow * (deepest_ + 1);
    body_ += "<g class=\"graph\">\n";
    draw_node(root, 0, kMargin, kWidth - 2 * kMargin, bottom);
    body_ += "</g>\n";
    return bottom + 2 * kMargin;
  }

  [[nodiscard]] double value(const sample::Weight& weight) const {
    return static_cast<double>(by_period_ ? weight.period : weight.samples);
  }

  // How deep the visible part goes: the graph stands on its floor.
  void measure(std::uint32_t id, int depth, double width) {
    deepest_ = std::max(deepest_, depth);
    const auto& node = tree_.nodes[id];
    for (const auto child : tree_.children_of(node)) {
      const double share = width_of(child);
      if (share >= kNarrowest && depth < kDeepest) measure(child, depth + 1, width);
    }
  }

  [[nodiscard]] double width_of(std::uint32_t id) const {
    return whole_ == 0 ? 0 : (kWidth - 2 * kMargin) * value(tree_.nodes[id].total) / whole_;
  }

  void draw_node(std::uint32_t id, int depth, double x, double width, double bottom) {
    const auto& node = tree_.nodes[id];
    const std::string name = depth == 0 ? "all" : profile_.function_name(node.function);
    const bool is_kernel = depth != 0 && is_kernel_function(node.function);
    const double share = whole_ == 0 ? 0 : 100 * value(node.total) / whole_;
    const double y = bottom - kRow * (depth + 1);
    body_ += fmt::format(
        "<g class=\"f\"><title>{} ({} samples, {:.2f} %)</title>"
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"/>"
        "<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text></g>\n",
        xml_text(name), with_separators(node.total.samples), share, x, y, width, kRow - 1,
        depth == 0 ? "#ddd" : colour_of(name, is_kernel), x + 3, y + 12, label(name, width));
    double left = x;
    for (const auto child : tree_.children_of(node)) {
      const double wide = width_of(child);
      if (wide >= kNarrowest && depth < kDeepest) draw_node(child, depth + 1, left, wide, bottom);
      left += wide;
    }
  }

  [[nodiscard]] bool is_kernel_function(std::uint32_t function) const {
    const auto binary = profile_.locations.function(function).binary;
    return binary != sample::Function::kNoBinary && profile_.history.binaries()[binary].is_kernel;
  }

  static std::string label(const std::string& name, double width) {
    const auto letters = static_cast<std::size_t>(std::max(0.0, (width - 6) / kLetter));
    if (letters < 3) return "";
    const std::string text = printable(name);
    if (text.size() <= letters) return xml_text(text);
    return xml_text(text.substr(0, letters - 2)) + "..";
  }

  const sample::NamedProfile& profile_;
  const sample::CallTree& tree_;
  std::string body_;
  double whole_ = 0;
  bool by_period_ = true;
  int deepest_ = 0;
};

}  // namespace

std::string flame_graph(const sample::NamedProfile& profile, const sample::CallTree& tree) {
  return FlameGraph(profile, tree).draw();
}

}  // namespace loft::view
