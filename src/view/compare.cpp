#include "view/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/xml_text.hpp"
#include "view/csv.hpp"
#include "view/estimates.hpp"
#include "view/json_text.hpp"

namespace loft::view {
namespace {

using sample::ComparedCount;
using sample::ComparedTask;
using sample::TaskComparison;

std::string time(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : "-";
}

std::string ratio(double before, double after) {
  return before > 0 ? fmt::format("{:.2f}", after / before) : "-";
}

std::string ratio(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? ratio(*before, *after) : "-";
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.9f}", *value) : "null";
}

std::optional<double> value_of(const sample::Estimate& estimate) {
  if (estimate.origin == sample::Origin::missing) return std::nullopt;
  return estimate.value;
}

std::string text_of(const ComparedCount& count) {
  return fmt::format("    {:<26}{:>16}{:>16}{:>9}\n", printable(count.name),
                     estimate_text(count.before), estimate_text(count.after),
                     ratio(value_of(count.before), value_of(count.after)));
}

// The less certain of the two.
sample::Origin kind_of(const ComparedCount& count) {
  return std::max(count.before.origin, count.after.origin);
}

std::string phases_text(const ComparedTask& task) {
  if (task.phases.empty()) return {};
  std::string out = "    slower by phase           ";
  for (const auto& phase : task.phases)
    out += fmt::format("{:>6}", ratio(phase.before_s, phase.after_s));
  return out + "\n";
}

// As much of a path as a picture has room for: its end tells files apart.
std::string end_of(const std::string& path) {
  constexpr std::size_t kMost = 46;
  return path.size() <= kMost ? path : "..." + path.substr(path.size() - kMost);
}

}  // namespace

std::string compare_text(const TaskComparison& comparison) {
  std::string out =
      fmt::format("A {}\nB {}\nphases are tenths of the {}\n\n{:<30}{:>16}{:>16}{:>9}\n",
                  printable(comparison.before_path), printable(comparison.after_path),
                  comparison.work, "task", "A", "B", "B / A");
  const auto line = [&](std::string_view what, const std::string& a, const std::string& b,
                        const std::string& r) {
    out += fmt::format("{:<30}{:>16}{:>16}{:>9}\n", what, a, b, r);
  };
  for (const ComparedTask& task : comparison.tasks) {
    line(fmt::format("{} {}", printable(task.name), task.before_tid), time(task.before_s),
         time(task.after_s), ratio(task.before_s, task.after_s));
    line("    run", time(task.before_run_s), time(task.after_run_s),
         ratio(task.before_run_s, task.after_run_s));
    if (task.before_wait_s || task.after_wait_s)
      line("    waiting", time(task.before_wait_s), time(task.after_wait_s),
           ratio(task.before_wait_s, task.after_wait_s));
    for (const ComparedCount& count : task.counts) out += text_of(count);
    out += phases_text(task);
  }
  if (comparison.only_before + comparison.only_after > 0)
    out += fmt::format("without a counterpart: {} tasks of A, {} of B\n", comparison.only_before,
                       comparison.only_after);
  return out;
}

std::string compare_csv(const TaskComparison& comparison) {
  std::string out = "comm,tid_a,tid_b,what,a,b,kind\n";
  for (const ComparedTask& task : comparison.tasks) {
    const auto line = [&](std::string_view what, const std::optional<double>& a,
                          const std::optional<double>& b,
                          sample::Origin kind = sample::Origin::counted) {
      out += fmt::format("{},{},{},{},{},{},{}\n", csv_field(task.name), task.before_tid,
                         task.after_tid, csv_field(what), a ? fmt::format("{:.9g}", *a) : "",
                         b ? fmt::format("{:.9g}", *b) : "",
                         a || b ? to_string(kind) : to_string(sample::Origin::missing));
    };
    line("lifetime_s", task.before_s, task.after_s);
    line("run_s", task.before_run_s, task.after_run_s);
    line("wait_s", task.before_wait_s, task.after_wait_s);
    for (const ComparedCount& count : task.counts)
      line(count.name, value_of(count.before), value_of(count.after), kind_of(count));
    for (std::size_t i = 0; i < task.phases.size(); ++i)
      line(fmt::format("phase {}", i + 1), task.phases[i].before_s, task.phases[i].after_s);
  }
  return out;
}

std::string open_compare_json(const TaskComparison& comparison) {
  std::string out = fmt::format(
      "{{\"schema\":\"loft.compare/1\",\"a\":{},\"b\":{},\"work\":{},\"only_a\":{},\"only_b\":{},"
      "\"tasks\":[",
      json_text(comparison.before_path), json_text(comparison.after_path),
      json_text(comparison.work), comparison.only_before, comparison.only_after);
  for (std::size_t i = 0; i < comparison.tasks.size(); ++i) {
    const ComparedTask& task = comparison.tasks[i];
    out += fmt::format(
        "{}{{\"comm\":{},\"tid_a\":{},\"tid_b\":{},\"lifetime_s\":[{:.9f},{:.9f}],\"slowdown\":{},"
        "\"run_s\":[{},{}],\"wait_s\":[{},{}],\"counts\":{{",
        i > 0 ? ",\n" : "\n", json_text(task.name), task.before_tid, task.after_tid, task.before_s,
        task.after_s, number(task.slowdown()), number(task.before_run_s), number(task.after_run_s),
        number(task.before_wait_s), number(task.after_wait_s));
    for (std::size_t k = 0; k < task.counts.size(); ++k)
      out += fmt::format(
          "{}{}:{{\"a\":{},\"b\":{},\"kind\":\"{}\"}}", k > 0 ? "," : "",
          json_text(task.counts[k].name), estimate_number(task.counts[k].before, "null"),
          estimate_number(task.counts[k].after, "null"), to_string(kind_of(task.counts[k])));
    out += "},\"phases\":[";
    for (std::size_t k = 0; k < task.phases.size(); ++k)
      out += fmt::format("{}[{:.9f},{:.9f}]", k > 0 ? "," : "", task.phases[k].before_s,
                         task.phases[k].after_s);
    out += "]}";
  }
  return out + "\n]";
}

std::string compare_json(const TaskComparison& comparison) {
  return open_compare_json(comparison) + "}\n";
}

std::string compare_svg(const TaskComparison& comparison) {
  constexpr std::size_t kMostTasks = 12;
  constexpr double kLeft = 170;
  constexpr double kWidth = 700;
  constexpr double kRow = 84;
  constexpr std::string_view kColours[] = {"#0072B2", "#D55E00"};
  std::string body;
  double y = 62;
  std::size_t shown = 0;
  for (const ComparedTask& task : comparison.tasks) {
    double most = 0;
    for (const auto& phase : task.phases) most = std::max({most, phase.before_s, phase.after_s});
    if (most <= 0 || shown == kMostTasks) continue;
    ++shown;
    body += fmt::format("<text x=\"16\" y=\"{:.0f}\">{}</text>\n", y + 24,
                        xml_text(task.name.substr(0, 20)));
    body += fmt::format(
        "<text x=\"16\" y=\"{:.0f}\" fill=\"#555\">A {}, B {}</text>\n"
        "<text x=\"16\" y=\"{:.0f}\" fill=\"#555\">B / A {}</text>\n",
        y + 40, task.before_tid, task.after_tid, y + 56, ratio(task.before_s, task.after_s));
    body +=
        fmt::format("<line x1=\"{0}\" y1=\"{2:.0f}\" x2=\"{1}\" y2=\"{2:.0f}\" stroke=\"#888\"/>\n",
                    kLeft, kLeft + kWidth, y + 64);
    const double step = kWidth / static_cast<double>(task.phases.size());
    for (std::size_t i = 0; i < task.phases.size(); ++i)
      for (int side = 0; side < 2; ++side) {
        const double value = side == 0 ? task.phases[i].before_s : task.phases[i].after_s;
        const double height = std::max(0.0, 60 * value / most);
        body += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
            kLeft + step * (static_cast<double>(i) + 0.1 + 0.4 * side), y + 64 - height,
            step * 0.38, height, kColours[side]);
      }
    body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" fill=\"#555\">{}</text>\n",
                        kLeft + kWidth + 8, y + 14, format_seconds(most));
    y += kRow;
  }
  if (shown == 0)
    body +=
        "<text x=\"16\" y=\"90\">no thread has enough slices for phases: record with a smaller "
        "-t</text>\n";
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"{0:.0f}\" "
      "viewBox=\"0 0 960 {0:.0f}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"bold\">Time of each tenth of the "
      "{1}; "
      "at the right, that of the highest bar</text>\n<rect x=\"{2}\" y=\"36\" width=\"9\" "
      "height=\"9\" fill=\"{3}\"/>"
      "<text x=\"{4}\" y=\"45\">A {5}</text>\n<rect x=\"{6}\" y=\"36\" width=\"9\" height=\"9\" "
      "fill=\"{7}\"/><text x=\"{8}\" y=\"45\">B {9}</text>\n{10}</svg>\n",
      std::max(y + 16, 120.0), xml_text(comparison.work), kLeft, kColours[0], kLeft + 14,
      xml_text(end_of(comparison.before_path)), kLeft + 350, kColours[1], kLeft + 364,
      xml_text(end_of(comparison.after_path)), body);
}

}  // namespace loft::view
