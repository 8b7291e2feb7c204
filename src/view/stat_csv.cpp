#include <fmt/format.h>

#include "view/csv.hpp"
#include "view/metric.hpp"
#include "view/stat.hpp"

namespace loft::view {
namespace {

using sample::Count;
using sample::CountedEvent;

// An unknown value is an empty field, never 0.
std::string row(std::string_view scope, std::string_view part, const CountedEvent& event,
                const Count& count, std::string_view binary = {},
                std::optional<metric::Interval> interval = {}) {
  if (count.range)
    interval = metric::Interval{count.range->low * event.scale, count.range->high * event.scale};
  std::string value;
  if (count.is_available())
    value = count.origin == sample::Origin::counted && event.scale == 1 && !event.spread
                ? std::to_string(count.raw)
                : fmt::format("{}", count.value() * event.scale);
  return fmt::format("{},{},{},{},{},{},{:.4f},{},{},{},{}\n", scope, csv_field(part),
                     csv_field(event.name), value, csv_field(event.unit), to_string(count.origin),
                     count.is_available() ? count.running_share() : 0, csv_field(count.why),
                     csv_field(binary), interval ? fmt::format("{}", interval->low) : "",
                     interval ? fmt::format("{}", interval->high) : "");
}

std::string metric_row(std::string_view scope, std::string_view part,
                       const metric::Evaluated& metric, const metric::Value& value,
                       std::string_view binary = {}) {
  const auto in_unit = [&](double base) { return fmt::format("{}", base / metric.unit.factor); };
  return fmt::format(
      "{},{},{},{},{},{},,{},{},{},{}\n", scope, csv_field(part), csv_field(metric.name),
      value.number ? in_unit(value.number->as_double()) : "", csv_field(metric.unit.text),
      sample::to_string(value.kind), csv_field(value.why), csv_field(binary),
      value.ci95 ? in_unit(value.ci95->low) : "", value.ci95 ? in_unit(value.ci95->high) : "");
}

std::string thread_part(const sample::ThreadCounts& part) {
  return std::to_string(part.tid) + " " + part.comm;
}

// "1234 solve/inner", the thread's number where it is of one.
std::string region_part(const sample::RunCounts& run, const sample::RegionCounts& part) {
  const std::string thread =
      part.thread ? std::to_string(run.threads[*part.thread].tid) + " " : std::string();
  return thread + fmt::format("{}", fmt::join(part.path, "/"));
}

// How often each was begun, and how long it was open where that is known.
std::string region_rows(const sample::RunCounts& run) {
  std::string text;
  for (const auto& part : run.regions) {
    const char* scope = part.thread ? "thread region" : "region";
    const std::string name = csv_field(region_part(run, part));
    text += fmt::format("{},{},visits,{},,counted,1.0000,,,,\n", scope, name, part.visits);
    if (part.time)
      text += fmt::format("{},{},time,{},ns,counted,1.0000,,,,\n", scope, name, part.time->count());
  }
  return text;
}

std::string interval_part(const sample::IntervalCounts& part) {
  return fmt::format("{:.6f}..{:.6f}", to_seconds(part.start), to_seconds(part.end));
}

// The count that was reached, and all others of that moment where they were kept.
std::string threshold_rows(const sample::RunCounts& run, const sample::ThresholdOutcome& outcome) {
  const std::string part = fmt::format("{}={}:{}", run.events[outcome.event].name, outcome.count,
                                       to_string(outcome.action));
  const Count value = outcome.is_reached ? Count::exact(outcome.value)
                                         : Count::missing("the count was not reached");
  if (outcome.counts.empty()) return row("threshold", part, run.events[outcome.event], value);
  std::string text;
  for (std::size_t i = 0; i < run.events.size(); ++i)
    text += row("threshold", part, run.events[i], outcome.counts[i]);
  return text;
}

std::string metric_rows(const sample::RunCounts& run, const metric::RunMetrics& metrics) {
  std::string text;
  for (std::size_t m = 0; m < metrics.total.size(); ++m) {
    const metric::Evaluated& metric = metrics.total[m];
    text += metric_row("metric", "", metric, metric.value);
    for (std::size_t i = 0; i < run.threads.size(); ++i)
      text += metric_row("thread", thread_part(run.threads[i]), metric, metrics.threads[i][m]);
    for (std::size_t i = 0; i < run.cpus.size(); ++i)
      text += metric_row("cpu", std::to_string(run.cpus[i].cpu), metric, metrics.cpus[i][m]);
    for (std::size_t i = 0; i < run.functions.size(); ++i)
      text += metric_row("function", run.functions[i].name, metric, metrics.functions[i][m],
                         run.functions[i].binary);
    for (std::size_t i = 0; i < run.intervals.size(); ++i)
      text +=
          metric_row("interval", interval_part(run.intervals[i]), metric, metrics.intervals[i][m]);
  }
  return text;
}

}  // namespace

std::string stat_csv(const sample::RunCounts& run, const metric::RunMetrics& metrics,
                     const sample::CodeDetails& details) {
  std::string text = "scope,part,event,value,unit,kind,running,why,binary,low,high\n";
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const CountedEvent& event = run.events[i];
    text += row("run", "", event, event.total, "", interval_of(event, metrics, i));
    for (const auto& part : run.threads)
      text += row("thread", thread_part(part), event, part.counts[i]);
    for (const auto& part : run.cpus)
      text += row("cpu", std::to_string(part.cpu), event, part.counts[i]);
    for (const auto& part : run.functions)
      text += row("function", part.name, event, part.counts[i], part.binary);
    for (const auto& part : run.blocks)
      text += row("block", fmt::format("{}+{:#x}", part.function, part.offset), event,
                  part.counts[i], part.binary);
    for (const auto& part : details.lines)
      text += row("line", part.file.empty() ? "" : fmt::format("{}:{}", part.file, part.line),
                  event, part.counts[i], part.binary);
    for (const auto& part : run.regions) {
      const std::string name = region_part(run, part);
      const std::string scope = part.thread ? "thread region" : "region";
      text += row(scope, name, event, part.counts[i]);
      text += row(scope + " self", name, event, part.self[i]);
    }
    for (const auto& part : run.thread_functions) {
      const auto& function = run.functions[part.function];
      text +=
          row("thread function", std::to_string(run.threads[part.thread].tid) + " " + function.name,
              event, part.counts[i], function.binary);
    }
    for (const auto& part : run.intervals) {
      text += row("interval", interval_part(part), event, part.counts[i]);
      for (const auto& cpu : part.cpus)
        text += row("interval cpu", fmt::format("{} {}", interval_part(part), cpu.cpu), event,
                    cpu.counts[i]);
      for (const auto& thread : part.threads)
        text += row("interval thread", interval_part(part) + " " + thread_part(thread), event,
                    thread.counts[i]);
    }
  }
  for (const sample::ThresholdOutcome& outcome : run.thresholds)
    text += threshold_rows(run, outcome);
  for (const sample::EnergyUsed& used : run.energy)
    text += fmt::format("energy,{},energy,{},J,{},1.0000,,,,\n", csv_field(used.meter), used.joules,
                        to_string(used.origin));
  return text + region_rows(run) + metric_rows(run, metrics);
}

}  // namespace loft::view
