#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "sample/ratio.hpp"
#include "view/metric.hpp"
#include "view/sharing.hpp"
#include "view/stat.hpp"
#include "view/stat_parts.hpp"

namespace loft::view {
namespace {

using sample::Count;
using sample::CountedEvent;
using sample::Origin;
using sample::RunCounts;

std::string number(const CountedEvent& event) { return count_text(event.total, event); }

std::string ratio_text(const sample::Ratio& ratio) {
  const std::string mark = ratio.origin == Origin::counted ? "" : "~";
  if (ratio.unit == "1/s")
    return ratio.value < 1 ? fmt::format("{}{:.2f}/s", mark, ratio.value)
                           : mark + with_si_prefix(ratio.value, "") + "/s";
  if (ratio.unit == "%") return fmt::format("{}{:.2f} % {}", mark, ratio.value, ratio.name);
  if (ratio.unit == "CPUs") return fmt::format("{}{:.2f} CPUs busy", mark, ratio.value);
  if (ratio.name == "IPC") return fmt::format("{}{:.2f} per cycle", mark, ratio.value);
  return fmt::format("{}{:.2f} {}", mark, ratio.value, ratio.unit);
}

// What limits the trust in a value, at the end of its line.
std::string remark(const RunCounts& run, const CountedEvent& event,
                   const std::optional<metric::Interval>& interval) {
  std::vector<std::string> parts;
  if (!event.spread && !event.total.range && interval && event.value() != 0)
    parts.push_back(fmt::format("± {:.2g} %",
                                50 * (interval->high - interval->low) / std::fabs(event.value())));
  if (event.spread && event.spread->mean != 0)
    parts.push_back(
        fmt::format("+- {:.2f} %", 100 * event.spread->deviation / std::fabs(event.spread->mean)));
  if (event.total.origin == Origin::scaled)
    parts.push_back(
        event.total.running < event.total.enabled
            ? fmt::format("counted {:.1f} % of the time", 100 * event.total.running_share())
            : "of another run");
  if (event.total.origin == Origin::modelled)
    parts.emplace_back(event.total.range ? "modelled, sampled" : "modelled");
  if (event.total.range && event.total.range->unknown >= 0.005)
    parts.push_back(fmt::format("{:.2g} % not known", 100 * event.total.range->unknown));
  // The heading says which CPUs were watched; what counts a package counts more than these.
  const bool is_of_cpus =
      !run.watched_cpus.empty() && event.id.encoding.kind() != event::PmuKind::device;
  if (event.whole_machine && !is_of_cpus) parts.emplace_back("whole machine");
  return join(parts, ", ");
}

// "~" where watts were added up between readings.
std::string energy_line(const RunCounts& run, const sample::EnergyUsed& used) {
  const char* mark = used.origin == Origin::counted ? "" : "~ ";
  const double seconds = to_seconds(run.wall);
  const std::string watts =
      seconds > 0 ? fmt::format("{}{:.2f} W", mark, used.joules / seconds) : std::string();
  return fmt::format("{:>18}  {:<26}  {:<24}  whole machine\n",
                     fmt::format("{}{:.3f} J", mark, used.joules),
                     "energy of " + printable(used.meter), watts);
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Events missing for the same reason share one line: a machine without counters is told once.
std::string missing_lines(const RunCounts& run) {
  std::string text;
  std::vector<bool> told(run.events.size());
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    if (told[i] || run.events[i].total.is_available()) continue;
    std::vector<std::string> names;
    for (std::size_t k = i; k < run.events.size(); ++k) {
      if (run.events[k].total.is_available() || run.events[k].total.why != run.events[i].total.why)
        continue;
      told[k] = true;
      names.push_back(printable(run.events[k].name));
    }
    text += fmt::format("{:>18}  {}\n{:>18}  {}\n", "not counted", join(names, ", "), "because",
                        printable(run.events[i].total.why));
  }
  return text;
}

// Cells of equal width, the first column to the left; each as wide as its widest cell.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], row[c].size());
    }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text += "\n";
  }
  return text;
}

template <class Row, class Label>
std::string part_table(const RunCounts& run, const std::vector<Row>& rows,
                       const std::vector<metric::Evaluated>& metrics,
                       const std::vector<std::vector<metric::Value>>& values,
                       std::string_view title, Label&& label) {
  if (rows.empty()) return {};
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < run.events.size(); ++i)
    if (run.events[i].total.is_available()) shown.push_back(i);
  std::vector<std::vector<std::string>> cells{{std::string(title)}};
  for (const std::size_t i : shown) cells[0].push_back(printable(run.events[i].name));
  for (const metric::Evaluated& metric : metrics) cells[0].push_back(printable(metric.name));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    auto& row = cells.emplace_back();
    row.push_back(printable(label(rows[r])));
    for (const std::size_t i : shown) row.push_back(count_text(rows[r].counts[i], run.events[i]));
    for (std::size_t m = 0; m < metrics.size(); ++m)
      row.push_back(metric::value_text(values[r][m], metrics[m].unit));
  }
  return "\n" + aligned(cells);
}

std::string times_line(const RunCounts& run) {
  std::string line = fmt::format("\n{:>18}  wall time", format_seconds(to_seconds(run.wall)));
  if (run.has_engine_time()) line += " under the engine, longer than the program alone";
  if (run.wall_spread && run.wall_spread->mean > 0)
    line += fmt::format("   +- {:.2f} % over {} runs",
                        100 * run.wall_spread->deviation / run.wall_spread->mean,
                        run.wall_spread->runs);
  if (run.user && run.system)
    line += fmt::format("\n{:>18}  user, {} system", format_seconds(to_seconds(*run.user)),
                        format_seconds(to_seconds(*run.system)));
  return line + "\n";
}

// What happened at thresholds, with the counts of that moment where they were kept.
std::string threshold_lines(const RunCounts& run) {
  std::string text;
  for (const sample::ThresholdOutcome& outcome : run.thresholds) {
    const std::string what = fmt::format("{} = {}, {}", printable(run.events[outcome.event].name),
                                         with_separators(outcome.count), to_string(outcome.action));
    if (!outcome.is_reached) {
      text += fmt::format("\nthreshold {}: not reached\n", what);
      continue;
    }
    text += fmt::format("\nthreshold {}: reached after {} in thread {} {}, at {}\n", what,
                        format_seconds(to_seconds(outcome.time)), outcome.tid,
                        printable(outcome.comm), with_separators(outcome.value));
    for (std::size_t i = 0; i < outcome.counts.size(); ++i)
      if (outcome.counts[i].is_available())
        text += fmt::format("{:>18}  {}\n", count_text(outcome.counts[i], run.events[i]),
                            printable(run.events[i].name));
  }
  return text;
}

std::string source_words(const RunCounts& run) {
  if (run.source != sample::Source::virtual_pmu) return to_string(run.source);
  const bool is_modelled = std::ranges::any_of(
      run.events, [](const auto& event) { return event.total.origin == sample::Origin::modelled; });
  return is_modelled ? "virtual PMU, exact but for what is modelled" : "virtual PMU, exact";
}

std::string interval_lines(const RunCounts& frame, double end, const std::string& part,
                           const std::vector<Count>& counts) {
  std::string text;
  for (std::size_t i = 0; i < frame.events.size(); ++i) {
    const CountedEvent& event = frame.events[i];
    std::string share;
    if (counts[i].origin == Origin::scaled)
      share = fmt::format("  counted {:.1f} % of the time", 100 * counts[i].running_share());
    text += fmt::format("{:>10.4f} s  {:>18}  {}{}{}\n", end, count_text(counts[i], event),
                        printable(event.name), part.empty() ? "" : "  " + printable(part), share);
  }
  return text;
}

}  // namespace

std::string stat_text(const RunCounts& run, const metric::RunMetrics& metrics,
                      const sample::CodeDetails& details) {
  std::string text =
      fmt::format("\n{}   (source: {})\n\n", printable(run.target), source_words(run));
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const CountedEvent& event = run.events[i];
    if (!event.total.is_available()) continue;
    const auto ratio = sample::ratio_of(run, i);
    text += trimmed_line(fmt::format("{:>18}  {:<26}  {:<24}  {}", number(event),
                                     printable(event.name), ratio ? ratio_text(*ratio) : "",
                                     remark(run, event, metric::interval_of(event, metrics, i))));
  }
  for (const sample::EnergyUsed& used : run.energy) text += energy_line(run, used);
  text += missing_lines(run);
  if (!metrics.total.empty()) text += "\n" + metrics_text(metrics.total);
  text += times_line(run);
  text += part_table(
      run, run.threads, metrics.total, metrics.threads, "thread",
      [](const sample::ThreadCounts& row) { return fmt::format("{} {}", row.tid, row.comm); });
  text += part_table(run, run.cpus, metrics.total, metrics.cpus, "cpu",
                     [](const sample::CpuCounts& row) { return fmt::format("cpu {}", row.cpu); });
  text += function_table(run) + block_table(run) + line_table(run, details.lines);
  if (details.sharing) text += sharing_text(*details.sharing);
  text += region_table(run) + threshold_lines(run);
  for (const std::string& note : run.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string interval_text(const RunCounts& frame, const sample::IntervalCounts& interval,
                          std::span<const metric::Program> metrics,
                          std::span<const metric::Value> values) {
  const double end = to_seconds(interval.end);
  std::string text = interval_lines(frame, end, "", interval.counts);
  for (const sample::CpuCounts& part : interval.cpus)
    text += interval_lines(frame, end, fmt::format("cpu {}", part.cpu), part.counts);
  for (const sample::ThreadCounts& part : interval.threads)
    text += interval_lines(frame, end, fmt::format("{} {}", part.tid, part.comm), part.counts);
  for (std::size_t m = 0; m < metrics.size(); ++m)
    text +=
        fmt::format("{:>10.4f} s  {:>18}  {}\n", end,
                    metric::value_text(values[m], metrics[m].unit()), printable(metrics[m].name()));
  return text;
}

}  // namespace loft::view
