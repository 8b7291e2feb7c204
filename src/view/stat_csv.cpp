#include <fmt/format.h>

#include "view/csv.hpp"
#include "view/stat.hpp"

namespace loft::view {
namespace {

using sample::Count;
using sample::CountedEvent;

// An unknown value is an empty field, never 0.
std::string row(std::string_view scope, std::string_view part, const CountedEvent& event,
                const Count& count, std::string_view binary = {}) {
  std::string value;
  if (count.is_available())
    value = count.origin == sample::Origin::counted && event.scale == 1 && !event.spread
                ? std::to_string(count.raw)
                : fmt::format("{}", count.value() * event.scale);
  return fmt::format("{},{},{},{},{},{},{:.4f},{},{}\n", scope, csv_field(part),
                     csv_field(event.name), value, csv_field(event.unit), to_string(count.origin),
                     count.is_available() ? count.running_share() : 0, csv_field(count.why),
                     csv_field(binary));
}

std::string metric_row(const metric::Evaluated& metric) {
  const auto value = metric.in_unit();
  return fmt::format("metric,,{},{},{},{},,{},\n", csv_field(metric.name),
                     value ? fmt::format("{}", *value) : "", csv_field(metric.unit.text),
                     sample::to_string(metric.value.kind), csv_field(metric.value.why));
}

}  // namespace

std::string stat_csv(const sample::RunCounts& run, Metrics metrics) {
  std::string text = "scope,part,event,value,unit,kind,running,why,binary\n";
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const CountedEvent& event = run.events[i];
    text += row("run", "", event, event.total);
    for (const auto& part : run.threads)
      text += row("thread", std::to_string(part.tid) + " " + part.comm, event, part.counts[i]);
    for (const auto& part : run.cpus)
      text += row("cpu", std::to_string(part.cpu), event, part.counts[i]);
    for (const auto& part : run.functions)
      text += row("function", part.name, event, part.counts[i], part.binary);
    for (const auto& part : run.blocks)
      text += row("block", fmt::format("{}+{:#x}", part.function, part.offset), event,
                  part.counts[i], part.binary);
    for (const auto& part : run.thread_functions) {
      const auto& function = run.functions[part.function];
      text +=
          row("thread function", std::to_string(run.threads[part.thread].tid) + " " + function.name,
              event, part.counts[i], function.binary);
    }
    for (const auto& part : run.intervals)
      text += row("interval",
                  fmt::format("{:.6f}..{:.6f}", to_seconds(part.start), to_seconds(part.end)),
                  event, part.counts[i]);
  }
  for (const metric::Evaluated& metric : metrics) text += metric_row(metric);
  return text;
}

}  // namespace loft::view
