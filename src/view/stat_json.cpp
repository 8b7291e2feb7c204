#include <algorithm>

#include "sample/ratio.hpp"
#include "view/metric.hpp"
#include "view/metric_json.hpp"
#include "view/sharing.hpp"
#include "view/stat.hpp"

namespace loft::view {
namespace {

using nlohmann::ordered_json;
using sample::Count;
using sample::CountedEvent;
using sample::Origin;
using sample::RunCounts;

// Exact counts stay whole numbers; what was estimated or has a unit is a real one; unknown is null.
ordered_json value_of(const Count& count, double scale) {
  if (!count.is_available()) return nullptr;
  if (count.origin == Origin::counted && scale == 1) return count.raw;
  return count.value() * scale;
}

// The value of a part with all that is to be known of it.
ordered_json with_value(ordered_json part, const Count& count, double scale) {
  part["value"] = value_of(count, scale);
  part["kind"] = to_string(count.origin);
  if (count.range) {
    part["ci95"] = {count.range->low * scale, count.range->high * scale};
    part["unknown"] = count.range->unknown;
  }
  return part;
}

ordered_json value_of(const metric::Value& value, const metric::Unit& unit) {
  if (!value.number) return nullptr;
  return value.number->as_double() / unit.factor;
}

ordered_json region_json(const RunCounts& run, const sample::RegionCounts& part) {
  ordered_json json{{"name", part.path.back()}, {"path", part.path}, {"visits", part.visits}};
  if (part.thread) json["tid"] = run.threads[*part.thread].tid;
  if (part.time) json["time_s"] = to_seconds(*part.time);
  return json;
}

ordered_json event_json(const RunCounts& run, const metric::RunMetrics& metrics,
                        const sample::CodeDetails& details, std::size_t i) {
  const CountedEvent& event = run.events[i];
  ordered_json json{
      {"name", event.name},
      {"value", event.spread ? ordered_json(event.value()) : value_of(event.total, event.scale)},
      {"unit", event.unit},
      {"kind", to_string(event.total.origin)},
      {"running", event.total.is_available() ? event.total.running_share() : 0.0},
      {"origin", event.origin}};
  if (!event.total.is_available()) json["why"] = event.total.why;
  if (event.whole_machine) json["scope"] = run.watched_cpus.empty() ? "machine" : "cpus";
  if (const auto interval = metric::interval_of(event, metrics, i))
    json["ci95"] = {interval->low, interval->high};
  if (event.total.range) json["unknown"] = event.total.range->unknown;
  if (event.spread && event.total.is_available()) {
    json["deviation"] = event.spread->deviation * event.scale;
    json["runs"] = event.spread->runs;
  }
  const auto add = [&](const char* parts, ordered_json part, const Count& count) {
    json[parts].push_back(with_value(std::move(part), count, event.scale));
  };
  for (const auto& part : run.threads)
    add("threads", {{"tid", part.tid}, {"pid", part.pid}, {"comm", part.comm}}, part.counts[i]);
  for (const auto& part : run.cpus) add("cpus", {{"cpu", part.cpu}}, part.counts[i]);
  for (const auto& part : run.functions)
    add("functions", {{"name", part.name}, {"binary", part.binary}}, part.counts[i]);
  for (const auto& part : run.blocks)
    add("blocks",
        {{"function", part.function},
         {"offset", part.offset},
         {"binary", part.binary},
         {"address", part.address}},
        part.counts[i]);
  for (const auto& part : details.lines)
    add("lines",
        {{"file", part.file.empty() ? ordered_json(nullptr) : ordered_json(part.file)},
         {"line", part.file.empty() ? ordered_json(nullptr) : ordered_json(part.line)},
         {"binary", part.binary}},
        part.counts[i]);
  for (const auto& part : run.regions) {
    ordered_json row = region_json(run, part);
    row["self"] = value_of(part.self[i], event.scale);
    add("regions", std::move(row), part.counts[i]);
  }
  for (const auto& part : run.thread_functions)
    json["threads"][part.thread]["functions"].push_back(
        with_value({{"name", run.functions[part.function].name},
                    {"binary", run.functions[part.function].binary}},
                   part.counts[i], event.scale));
  return json;
}

// What people read beside the counts, unless a metric of that name was asked for.
ordered_json ratios_json(const RunCounts& run, const std::vector<metric::Evaluated>& asked) {
  ordered_json metrics = ordered_json::array();
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const auto ratio = sample::ratio_of(run, i);
    if (ratio && std::ranges::find(asked, ratio->name, &metric::Evaluated::name) == asked.end())
      metrics.push_back({{"name", ratio->name},
                         {"value", ratio->value},
                         {"unit", ratio->unit},
                         {"kind", to_string(ratio->origin)}});
  }
  return metrics;
}

// A metric with its values of each thread, CPU and function.
ordered_json metric_json(const RunCounts& run, const metric::RunMetrics& metrics, std::size_t m) {
  const metric::Evaluated& metric = metrics.total[m];
  ordered_json json = metric_object(metric);
  const auto add = [&](const char* parts, ordered_json part, const metric::Value& value) {
    part["value"] = value_of(value, metric.unit);
    part["kind"] = to_string(value.kind);
    if (value.ci95)
      part["ci95"] = {value.ci95->low / metric.unit.factor, value.ci95->high / metric.unit.factor};
    if (!value.number) part["why"] = value.why;
    json[parts].push_back(std::move(part));
  };
  for (std::size_t i = 0; i < run.threads.size(); ++i)
    add("threads",
        {{"tid", run.threads[i].tid}, {"pid", run.threads[i].pid}, {"comm", run.threads[i].comm}},
        metrics.threads[i][m]);
  for (std::size_t i = 0; i < run.cpus.size(); ++i)
    add("cpus", {{"cpu", run.cpus[i].cpu}}, metrics.cpus[i][m]);
  for (std::size_t i = 0; i < run.functions.size(); ++i)
    add("functions", {{"name", run.functions[i].name}, {"binary", run.functions[i].binary}},
        metrics.functions[i][m]);
  return json;
}

ordered_json values_of(const RunCounts& run, const std::vector<Count>& counts) {
  ordered_json values = ordered_json::object();
  for (std::size_t i = 0; i < run.events.size(); ++i)
    values[run.events[i].name] = value_of(counts[i], run.events[i].scale);
  return values;
}

ordered_json intervals_json(const RunCounts& run, const metric::RunMetrics& metrics) {
  ordered_json intervals = ordered_json::array();
  for (std::size_t n = 0; n < run.intervals.size(); ++n) {
    const sample::IntervalCounts& interval = run.intervals[n];
    ordered_json values = ordered_json::object();
    ordered_json kinds = ordered_json::object();
    for (std::size_t i = 0; i < run.events.size(); ++i) {
      const Count& count = interval.counts[i];
      values[run.events[i].name] = value_of(count, run.events[i].scale);
      if (count.origin != Origin::counted) kinds[run.events[i].name] = to_string(count.origin);
    }
    for (std::size_t m = 0; m < metrics.total.size(); ++m) {
      const metric::Evaluated& metric = metrics.total[m];
      const metric::Value& value = metrics.intervals[n][m];
      values[metric.name] = value_of(value, metric.unit);
      if (value.kind != Origin::counted) kinds[metric.name] = to_string(value.kind);
    }
    ordered_json json{{"start_s", to_seconds(interval.start)},
                      {"end_s", to_seconds(interval.end)},
                      {"values", std::move(values)}};
    if (!kinds.empty()) json["kinds"] = std::move(kinds);  // where they are not plainly counted
    for (const sample::CpuCounts& part : interval.cpus)
      json["cpus"].push_back({{"cpu", part.cpu}, {"values", values_of(run, part.counts)}});
    for (const sample::ThreadCounts& part : interval.threads)
      json["threads"].push_back({{"tid", part.tid},
                                 {"pid", part.pid},
                                 {"comm", part.comm},
                                 {"values", values_of(run, part.counts)}});
    intervals.push_back(std::move(json));
  }
  return intervals;
}

ordered_json threshold_json(const RunCounts& run, const sample::ThresholdOutcome& outcome) {
  ordered_json json{{"event", run.events[outcome.event].name},
                    {"count", outcome.count},
                    {"action", to_string(outcome.action)},
                    {"reached", outcome.is_reached}};
  if (!outcome.is_reached) return json;
  json["value"] = outcome.value;
  json["time_s"] = to_seconds(outcome.time);
  json["pid"] = outcome.pid;
  json["tid"] = outcome.tid;
  json["comm"] = outcome.comm;
  if (!outcome.counts.empty()) json["values"] = values_of(run, outcome.counts);
  return json;
}

}  // namespace

std::string stat_json(const RunCounts& run, const metric::RunMetrics& metrics,
                      const sample::CodeDetails& details) {
  ordered_json json{{"schema", "loft.stat/1"},        {"command", run.command},
                    {"target", run.target},           {"exit", run.exit_status},
                    {"wall_s", to_seconds(run.wall)}, {"source", to_string(run.source)}};
  if (run.has_engine_time()) json["time_of"] = "engine";  // not of the program alone
  if (run.user) json["user_s"] = to_seconds(*run.user);
  if (run.system) json["system_s"] = to_seconds(*run.system);
  if (run.busy) json["busy_s"] = to_seconds(*run.busy);
  if (run.wall_spread) {
    json["wall_ci95_s"] = {run.wall_spread->low, run.wall_spread->high};
    json["runs"] = run.wall_spread->runs;
  }
  json["events"] = ordered_json::array();
  for (std::size_t i = 0; i < run.events.size(); ++i)
    json["events"].push_back(event_json(run, metrics, details, i));
  json["metrics"] = ratios_json(run, metrics.total);
  for (std::size_t m = 0; m < metrics.total.size(); ++m)
    json["metrics"].push_back(metric_json(run, metrics, m));
  if (!metrics.total.empty()) json["constants"] = constants_array(metrics.total);
  for (const sample::ThresholdOutcome& outcome : run.thresholds)
    json["thresholds"].push_back(threshold_json(run, outcome));
  for (const sample::EnergyUsed& used : run.energy)
    json["energy"].push_back({{"meter", used.meter},
                              {"joules", used.joules},
                              {"kind", to_string(used.origin)},
                              {"gpu", used.is_gpu}});
  if (!run.intervals.empty()) json["intervals"] = intervals_json(run, metrics);
  for (const auto& block : run.blocks)  // in the order of the events' own lists
    json["code"].push_back(block.code);
  if (details.sharing) json["sharing"] = sharing_json(*details.sharing);
  if (!run.notes.empty()) json["notes"] = run.notes;
  // Names come from processes and files: what is not UTF-8 is replaced, not thrown on.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace loft::view
