#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/calls.hpp"

namespace loft::view {
namespace {

using sample::CallDistribution;
using sample::CallQuantity;
using sample::CallRun;
using sample::CallStatistics;
using sample::kNoFunction;

// A value in the unit of its quantity: times with their units, counts whole while they are short.
std::string value_text(const CallQuantity& quantity, double raw) {
  const double value = raw * quantity.scale;
  if (quantity.is_time) return format_seconds(value * 1e-9);
  if (value < 1e6) return fmt::format("{:.{}f}", value, value == std::floor(value) ? 0 : 1);
  return with_si_prefix(value, "");
}

std::string value_text(const CallQuantity& quantity, std::uint64_t raw) {
  return value_text(quantity, static_cast<double>(raw));
}

// Of the calls that have ended, or "-" where there is none.
std::string mean_text(const CallRun& run, const CallStatistics& of, std::size_t quantity) {
  const CallDistribution& values = of.of[quantity];
  if (values.calls == 0) return "-";
  return value_text(run.quantities[quantity],
                    static_cast<double>(values.sum) / static_cast<double>(values.calls));
}

std::string percentile_text(const CallRun& run, const CallDistribution& of, double share) {
  if (of.histogram.is_empty()) return "-";
  return value_text(run.quantities[0], of.percentile(share));
}

std::string name_of(const CallRun& run, std::uint32_t function) {
  return function == kNoFunction ? "(not watched)" : printable(run.functions[function].name);
}

// Functions that were called, the most of the first quantity first.
std::vector<std::uint32_t> called(const CallRun& run) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < run.functions.size(); ++i) {
    const CallStatistics& of = run.statistics[i];
    if (of.calls + of.open + of.unmeasured != 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return run.statistics[a].of[0].self > run.statistics[b].of[0].self;
  });
  return order;
}

std::string more_line(std::size_t all, std::size_t shown, std::string_view one) {
  if (all <= shown) return {};
  return fmt::format("  ... {} more {}{}\n", with_separators(all - shown), one,
                     all - shown == 1 ? "" : "s");
}

std::string heading(const CallRun& run) {
  const auto functions = called(run);
  std::uint64_t calls = 0;
  std::uint64_t open = 0;
  for (const auto& of : run.statistics) {
    calls += of.calls + of.unmeasured;
    open += of.open;
  }
  std::string text = fmt::format("{} of {} ({} chosen), {}\n", number_of(calls, "call"),
                                 number_of(functions.size(), "function"),
                                 with_separators(run.functions.size()), route_text(run));
  if (open != 0)
    text += fmt::format("{} had not ended; totals and selfs have what was done until then\n",
                        number_of(open, "call"));
  return text;
}

// What is not usual about the calls of a function, behind its name.
std::string remarks(const CallStatistics& of) {
  std::string text;
  if (of.ended_early != 0)
    text += fmt::format(" ({} ended early)", with_separators(of.ended_early));
  if (of.open != 0) text += fmt::format(" ({} open)", with_separators(of.open));
  if (of.unmeasured != 0)
    text += fmt::format(" ({} not measured: too deep)", with_separators(of.unmeasured));
  return text;
}

std::string count_table(const CallRun& run, std::size_t rows) {
  auto order = called(run);
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::uint32_t function) { return run.statistics[function].calls; });
  std::string text = fmt::format("\n{:>14}  function\n", "calls");
  for (std::size_t i = 0; i < std::min(rows, order.size()); ++i)
    text += fmt::format("{:>14}  {}\n", with_separators(run.statistics[order[i]].calls),
                        name_of(run, order[i]));
  return text + more_line(order.size(), rows, "function");
}

std::string function_table(const CallRun& run, std::size_t rows) {
  if (!run.has_values) return count_table(run, rows);
  const auto order = called(run);
  const CallQuantity& first = run.quantities[0];
  std::string text = fmt::format("\n{:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}", "calls",
                                 "total", "self", "mean", "p50", "p99", "max");
  for (std::size_t q = 1; q < run.quantities.size(); ++q)
    text += fmt::format(" {:>14}", printable(run.quantities[q].name) + "/call");
  text += fmt::format("  function, {} of each call\n", printable(first.name));
  for (std::size_t i = 0; i < std::min(rows, order.size()); ++i) {
    const CallStatistics& of = run.statistics[order[i]];
    const CallDistribution& lead = of.of[0];
    const bool is_known = of.is_known(0);
    text += fmt::format("{:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
                        with_separators(of.calls + of.unmeasured),
                        is_known ? value_text(first, lead.total) : "-",
                        is_known ? value_text(first, lead.self) : "-", mean_text(run, of, 0),
                        percentile_text(run, lead, 0.5), percentile_text(run, lead, 0.99),
                        lead.calls == 0 ? "-" : value_text(first, lead.max));
    for (std::size_t q = 1; q < run.quantities.size(); ++q)
      text += fmt::format(" {:>14}", mean_text(run, of, q));
    text += "  " + name_of(run, order[i]) + remarks(of) + "\n";
  }
  return text + more_line(order.size(), rows, "function");
}

// One line per step with calls, neighbours put together until they fit a screen.
std::string histogram(const CallRun& run, std::uint32_t function) {
  const CallDistribution& of = run.statistics[function].of[0];
  if (of.histogram.is_empty()) return {};
  constexpr std::uint32_t kMostBars = 16;
  const auto counts = of.histogram.counts();
  const std::uint32_t low = of.histogram.step_at(0);
  const auto high = static_cast<std::uint32_t>(counts.size());
  std::uint32_t together = 1;
  while ((high - low) / together + 1 > kMostBars) together *= 2;
  struct Line {
    std::uint32_t first;
    std::uint64_t calls;
  };
  std::vector<Line> lines;
  for (std::uint32_t step = low; step < high; step += together) {
    const std::uint32_t end = std::min(step + together, high);
    lines.push_back(
        {step, std::accumulate(counts.begin() + step, counts.begin() + end, std::uint64_t{0})});
  }
  const std::uint64_t most = std::ranges::max(lines, {}, &Line::calls).calls;
  std::string text =
      fmt::format("\n{}: calls by {}\n", name_of(run, function), printable(run.quantities[0].name));
  for (const Line& line : lines) {
    constexpr double kWidth = 50;
    const auto bar = static_cast<std::size_t>(
        std::ceil(kWidth * static_cast<double>(line.calls) / static_cast<double>(most)));
    text +=
        fmt::format("{:>10} {:>12} {}\n", value_text(run.quantities[0], log_linear_low(line.first)),
                    with_separators(line.calls), std::string(bar, '#'));
  }
  return text;
}

std::string call_line(const CallRun& run, std::size_t i) {
  const sample::KeptCall& call = run.calls[i];
  std::string text;
  for (std::size_t q = 0; q < run.quantities.size(); ++q) {
    const sample::CallValue& value = run.values_of(i)[q];
    text += fmt::format("{:>14} ", value == sample::kUnknownValue
                                       ? "-"
                                       : value_text(run.quantities[q], value.value));
  }
  const double at = to_seconds(run.clock.time_of(call.begin) - run.clock.at_zero);
  text += fmt::format("{:>12.6f} {:>8} {:>5}  {}", at, run.threads[call.thread].thread, call.depth,
                      name_of(run, call.function));
  if (call.caller != kNoFunction) text += " from " + name_of(run, call.caller);
  if ((call.flags & sample::kEndedEarly) != 0) text += " (ended early)";
  if ((call.flags & sample::kEndsLater) != 0) text += " (ended no later)";
  if ((call.flags & sample::kOpen) != 0) text += " (open)";
  return text + "\n";
}

std::string call_header(const CallRun& run) {
  std::string text;
  for (const CallQuantity& quantity : run.quantities)
    text += fmt::format("{:>14} ", printable(quantity.name));
  return text + fmt::format("{:>12} {:>8} {:>5}  {}\n", "at [s]", "thread", "depth", "function");
}

std::string slowest_table(const CallRun& run, std::size_t rows) {
  if (run.calls.empty()) return {};
  std::string text =
      fmt::format("\nlargest calls by {}\n", printable(run.quantities[0].name)) + call_header(run);
  for (const std::size_t i : slowest(run, 0, rows)) text += call_line(run, i);
  return text;
}

std::string list_table(const CallRun& run, std::size_t rows) {
  std::string text = "\n" + call_header(run);
  for (std::size_t i = 0; i < std::min(rows, run.calls.size()); ++i) text += call_line(run, i);
  return text + more_line(run.calls.size(), rows, "call");
}

std::string caller_table(const CallRun& run, std::size_t rows) {
  const auto edges = callers(run);
  if (edges.empty()) return {};
  std::string text = fmt::format("\n{:>12} {:>14}  {}\n", "calls",
                                 printable(run.quantities[0].name), "caller -> function");
  for (std::size_t i = 0; i < std::min(rows, edges.size()); ++i)
    text += fmt::format("{:>12} {:>14}  {} -> {}\n", with_separators(edges[i].calls),
                        value_text(run.quantities[0], edges[i].values[0].value),
                        name_of(run, edges[i].caller), name_of(run, edges[i].callee));
  return text + more_line(edges.size(), rows, "pair");
}

class TreeText {
 public:
  TreeText(const CallRun& run, std::size_t rows)
      : run_(run), rows_(rows), children_(run.nodes.size() + 1) {
    for (std::uint32_t i = 0; i < run.nodes.size(); ++i)
      children_[run.nodes[i].parent == sample::kNoCallNode ? 0 : run.nodes[i].parent + 1].push_back(
          i);
    for (auto& list : children_)
      std::ranges::stable_sort(list, std::greater{}, [&](std::uint32_t node) {
        return run.values_of_node(node)[0].value;
      });
  }

  std::string text() {
    text_ = fmt::format("\n{:>12} {:>14} {:>14}  {}\n", "calls", printable(run_.quantities[0].name),
                        "self", "function");
    // Depth first, without recursion: a recording may be deeper than this stack.
    struct Step {
      std::uint32_t node;
      std::uint32_t depth;
    };
    std::vector<Step> open;
    const auto push = [&](std::uint32_t list, std::uint32_t depth) {
      for (auto i = children_[list].rbegin(); i != children_[list].rend(); ++i)
        open.push_back({*i, depth});
    };
    push(0, 0);
    while (!open.empty() && shown_ < rows_) {
      const auto [node, depth] = open.back();
      open.pop_back();
      line(node, depth);
      push(node + 1, depth + 1);
    }
    return text_ + more_line(run_.nodes.size(), shown_, "node");
  }

 private:
  void line(std::uint32_t node, std::uint32_t depth) {
    constexpr std::uint32_t kMostIndent = 40;
    const auto& value = run_.values_of_node(node)[0];
    text_ += fmt::format("{:>12} {:>14} {:>14}  {}{}\n", with_separators(run_.nodes[node].calls),
                         value_text(run_.quantities[0], value.value),
                         value_text(run_.quantities[0], value.self),
                         std::string(2 * std::min(depth, kMostIndent), ' '),
                         name_of(run_, run_.nodes[node].function));
    ++shown_;
  }

  const CallRun& run_;
  std::size_t rows_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::string text_;
  std::size_t shown_ = 0;
};

std::string unwatched(const CallRun& run, std::size_t rows) {
  std::string text;
  std::size_t count = 0;
  for (const auto& function : run.functions) {
    if (function.is_watched()) continue;
    if (count++ < rows)
      text += fmt::format("  {}: {}{}{}\n", printable(function.name), printable(function.why_not),
                          function.hint.empty() ? "" : "; ", printable(function.hint));
  }
  if (count == 0) return {};
  return "\nnot watched:\n" + text + more_line(count, rows, "function");
}

std::string notes(const CallRun& run) {
  std::string text;
  if (run.lost != 0)
    text += fmt::format("{} of {} calls that were to be kept found no room; statistics have them\n",
                        with_separators(run.lost), with_separators(run.seen));
  if (run.overhead_ns)
    text += fmt::format("the clock takes {:.0f} ns of each call: they are subtracted\n",
                        *run.overhead_ns);
  for (const std::string& note : run.notes) text += printable(note) + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string number_of(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", with_separators(count), one, count == 1 ? "" : "s");
}

bool is_known_of_tree(const CallRun& run, std::size_t quantity) {
  for (std::size_t i = 0; i < run.nodes.size(); ++i)
    if (run.values_of_node(i)[quantity] == sample::kUnknownValue) return false;
  return true;
}

std::string route_text(const CallRun& run) {
  if (run.route == sample::kVirtualRoute)
    return "virtual PMU: counts are exact, times are under the engine";
  if (run.route == sample::kJoinedRoute)
    return "times: native run; counts: second run, virtual PMU, exact";
  return "native";
}

std::string calls_text(const CallRun& run, const CallViewOptions& options) {
  switch (options.tables) {
    case CallTables::functions:
      return heading(run) + function_table(run, options.rows) + notes(run);
    case CallTables::slowest:
      return heading(run) + slowest_table(run, options.rows) + notes(run);
    case CallTables::tree:
      return heading(run) + TreeText(run, options.rows).text() + notes(run);
    case CallTables::list:
      return heading(run) + list_table(run, options.rows) + notes(run);
    case CallTables::all:
      break;
  }
  std::string text = heading(run) + function_table(run, options.rows);
  constexpr std::size_t kMostHistograms = 3;
  const auto order = called(run);
  for (std::size_t i = 0; i < std::min(order.size(), kMostHistograms); ++i)
    text += histogram(run, order[i]);
  return text + slowest_table(run, std::min<std::size_t>(options.rows, 10)) +
         caller_table(run, options.rows) + unwatched(run, options.rows) + notes(run);
}

}  // namespace loft::view
