#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "view/calls.hpp"
#include "view/csv.hpp"

namespace loft::view {
namespace {

using nlohmann::ordered_json;
using sample::CallDistribution;
using sample::CallRun;
using sample::CallStatistics;
using sample::CallValue;
using sample::kNoFunction;

// Counts stay whole numbers; what has a scale is a real one.
ordered_json value_of(const CallRun& run, std::size_t quantity, std::uint64_t raw) {
  if (run.quantities[quantity].scale == 1) return raw;
  return run.in_unit(quantity, raw);
}

// Null where no call has ended.
ordered_json distribution_json(const CallRun& run, const CallStatistics& statistics,
                               std::size_t q) {
  const CallDistribution& of = statistics.of[q];
  const auto only = [](bool is_known, ordered_json value) {
    return is_known ? value : ordered_json(nullptr);
  };
  const bool is_known = statistics.is_known(q);
  const bool has_calls = of.calls != 0;
  ordered_json json{{"quantity", run.quantities[q].name},
                    {"calls", of.calls},
                    {"total", only(is_known, value_of(run, q, of.total))},
                    {"self", only(is_known, value_of(run, q, of.self))},
                    {"sum", only(is_known, value_of(run, q, of.sum))},
                    {"min", only(has_calls, value_of(run, q, of.min))},
                    {"max", only(has_calls, value_of(run, q, of.max))}};
  if (of.histogram.is_empty()) return json;
  for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}})
    json[name] = of.percentile(share) * run.quantities[q].scale;
  ordered_json steps = ordered_json::array();
  const auto counts = of.histogram.counts();
  for (std::uint32_t step = 0; step < counts.size(); ++step)
    if (counts[step] != 0)
      steps.push_back({{"low", value_of(run, q, log_linear_low(step))},
                       {"high", value_of(run, q, log_linear_high(step))},
                       {"calls", counts[step]}});
  json["histogram"] = std::move(steps);
  return json;
}

// Seconds, and null for what is not known.
void add_time(const CallRun& run, const CallStatistics& statistics, ordered_json& json) {
  for (std::size_t q = 0; q < run.quantities.size(); ++q) {
    if (!run.quantities[q].is_time) continue;
    const CallDistribution& of = statistics.of[q];
    const auto seconds = [&](bool is_known, double raw) {
      return is_known ? ordered_json(raw * run.quantities[q].scale * 1e-9) : ordered_json(nullptr);
    };
    const auto percentile = [&](double share) {
      return of.histogram.is_empty() ? ordered_json(nullptr) : seconds(true, of.percentile(share));
    };
    const bool has_calls = of.calls != 0;
    json["total_s"] = seconds(statistics.is_known(q), static_cast<double>(of.total));
    json["self_s"] = seconds(statistics.is_known(q), static_cast<double>(of.self));
    json["mean_s"] = seconds(
        has_calls, has_calls ? static_cast<double>(of.sum) / static_cast<double>(of.calls) : 0);
    json["p50_s"] = percentile(0.5);
    json["p99_s"] = percentile(0.99);
    json["max_s"] = seconds(has_calls, static_cast<double>(of.max));
  }
}

void add_events(const CallRun& run, const CallStatistics& statistics, ordered_json& json) {
  json["events"] = ordered_json::object();
  for (std::size_t q = 0; q < run.quantities.size(); ++q) {
    if (run.quantities[q].is_time) continue;
    const CallDistribution& of = statistics.of[q];
    ordered_json& event = json["events"][run.quantities[q].name];
    event["total"] = statistics.is_known(q) ? value_of(run, q, of.total) : ordered_json(nullptr);
    event["per_call"] = of.calls == 0
                            ? ordered_json(nullptr)
                            : ordered_json(run.in_unit(q, of.sum) / static_cast<double>(of.calls));
  }
}

ordered_json function_json(const CallRun& run, std::size_t i) {
  const auto& function = run.functions[i];
  const CallStatistics& of = run.statistics[i];
  ordered_json json{
      {"name", function.name},      {"binary", function.dso}, {"address", function.address},
      {"calls", of.calls},          {"open", of.open},        {"ended_early", of.ended_early},
      {"unmeasured", of.unmeasured}};
  add_time(run, of, json);
  add_events(run, of, json);
  if (!function.is_watched()) {
    json["why_not"] = function.why_not;
    json["hint"] = function.hint;
  }
  for (std::size_t q = 0; q < of.of.size(); ++q)
    json["quantities"].push_back(distribution_json(run, of, q));
  return json;
}

ordered_json values_json(const CallRun& run, std::span<const CallValue> values) {
  ordered_json json = ordered_json::array();
  for (std::size_t q = 0; q < values.size(); ++q) {
    const bool is_known = values[q] != sample::kUnknownValue;
    json.push_back({{"value", is_known ? value_of(run, q, values[q].value) : ordered_json(nullptr)},
                    {"self", is_known ? value_of(run, q, values[q].self) : ordered_json(nullptr)}});
  }
  return json;
}

ordered_json function_index(std::uint32_t function) {
  return function == kNoFunction ? ordered_json(nullptr) : ordered_json(function);
}

ordered_json flags_json(std::uint16_t flags) {
  ordered_json json = ordered_json::array();
  if ((flags & sample::kEndedEarly) != 0) json.push_back("ended_early");
  if ((flags & sample::kOpen) != 0) json.push_back("open");
  if ((flags & sample::kRecursive) != 0) json.push_back("recursive");
  if ((flags & sample::kEndsLater) != 0) json.push_back("ended_no_later");
  return json;
}

ordered_json calls_array(const CallRun& run) {
  ordered_json json = ordered_json::array();
  for (std::size_t i = 0; i < run.calls.size(); ++i) {
    const auto& call = run.calls[i];
    json.push_back(
        {{"function", call.function},
         {"thread", call.thread},
         {"begin_ns", run.clock.time_of(call.begin).count()},
         {"duration_ns", static_cast<double>(call.ticks) * run.clock.nanoseconds_per_tick},
         {"depth", call.depth},
         {"caller", function_index(call.caller)},
         {"flags", flags_json(call.flags)},
         {"values", values_json(run, run.values_of(i))}});
  }
  return json;
}

std::string optional_number(bool is_known, double value) {
  return is_known ? fmt::format("{}", value) : "";
}

// The value and its own part of each quantity; nothing between the commas of what is not known.
std::string value_fields(const CallRun& run, std::span<const CallValue> values) {
  std::string text;
  for (std::size_t q = 0; q < run.quantities.size(); ++q) {
    const bool is_known = values[q] != sample::kUnknownValue;
    text += "," + optional_number(is_known, run.in_unit(q, values[q].value)) + "," +
            optional_number(is_known, run.in_unit(q, values[q].self));
  }
  return text;
}

std::string function_rows(const CallRun& run) {
  std::string text =
      "function,dso,address,quantity,unit,calls,open,ended_early,unmeasured,total,self,mean,min,"
      "p50,p90,p99,max,why_not\n";
  for (std::size_t i = 0; i < run.functions.size(); ++i) {
    const auto& function = run.functions[i];
    const CallStatistics& statistics = run.statistics[i];
    for (std::size_t q = 0; q < run.quantities.size(); ++q) {
      const CallDistribution& of = statistics.of[q];
      const double scale = run.quantities[q].scale;
      const auto percentile = [&](double share) {
        return optional_number(!of.histogram.is_empty(),
                               of.histogram.is_empty() ? 0 : of.percentile(share) * scale);
      };
      const bool has_calls = of.calls != 0;
      const bool is_known = statistics.is_known(q);
      text += fmt::format(
          "{},{},{:#x},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(function.name),
          csv_field(function.dso), function.address, csv_field(run.quantities[q].name),
          csv_field(run.quantities[q].unit), statistics.calls, statistics.open,
          statistics.ended_early, statistics.unmeasured,
          optional_number(is_known, run.in_unit(q, of.total)),
          optional_number(is_known, run.in_unit(q, of.self)),
          optional_number(has_calls,
                          has_calls ? run.in_unit(q, of.sum) / static_cast<double>(of.calls) : 0),
          optional_number(has_calls, run.in_unit(q, of.min)), percentile(0.5), percentile(0.9),
          percentile(0.99), optional_number(has_calls, run.in_unit(q, of.max)),
          csv_field(function.why_not));
    }
  }
  return text;
}

std::string name_field(const CallRun& run, std::uint32_t function) {
  return function == kNoFunction ? "" : csv_field(run.functions[function].name);
}

std::string call_rows(const CallRun& run, std::span<const std::size_t> order) {
  std::string text = "function,dso,process,thread,begin_ns,depth,caller,flags";
  for (const auto& quantity : run.quantities)
    text += "," + csv_field(quantity.name) + "," + csv_field(quantity.name + "_self");
  text += "\n";
  for (const std::size_t i : order) {
    const auto& call = run.calls[i];
    const auto& thread = run.threads[call.thread];
    std::string flags;
    for (const auto& flag : flags_json(call.flags))
      flags += (flags.empty() ? "" : " ") + flag.get<std::string>();
    text += fmt::format("{},{},{},{},{},{},{},{}", name_field(run, call.function),
                        csv_field(run.functions[call.function].dso), thread.process, thread.thread,
                        run.clock.time_of(call.begin).count(), call.depth,
                        name_field(run, call.caller), flags);
    text += value_fields(run, run.values_of(i)) + "\n";
  }
  return text;
}

std::string node_rows(const CallRun& run) {
  std::string text = "node,parent,function,calls";
  for (const auto& quantity : run.quantities)
    text += "," + csv_field(quantity.name) + "," + csv_field(quantity.name + "_self");
  text += "\n";
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const auto& node = run.nodes[i];
    text += fmt::format("{},{},{},{}", i,
                        node.parent == sample::kNoCallNode ? "" : std::to_string(node.parent),
                        name_field(run, node.function), node.calls);
    text += value_fields(run, run.values_of_node(i)) + "\n";
  }
  return text;
}

}  // namespace

std::string calls_csv(const CallRun& run, const CallViewOptions& options) {
  if (options.tables == CallTables::tree) return node_rows(run);
  if (options.tables == CallTables::slowest) return call_rows(run, slowest(run, 0, options.rows));
  if (options.tables != CallTables::list) return function_rows(run);
  std::vector<std::size_t> order(run.calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return call_rows(run, order);
}

std::string calls_json(const CallRun& run) {
  ordered_json json{
      {"schema", "loft.call/1"},
      {"command", run.command},
      {"source", run.route},
      {"exit_status", run.end.shell_status()},
      {"seen", run.seen},
      {"kept", run.calls.size()},
      {"lost", run.lost},
      {"has_all_calls", run.has_all_calls},
      {"overhead_ns", run.overhead_ns ? ordered_json(*run.overhead_ns) : ordered_json(nullptr)}};
  for (const auto& quantity : run.quantities)
    json["quantities"].push_back({{"name", quantity.name},
                                  {"unit", quantity.unit},
                                  {"kind", sample::to_string(quantity.origin)}});
  json["threads"] = ordered_json::array();
  for (const auto& thread : run.threads)
    json["threads"].push_back(
        {{"process", thread.process}, {"thread", thread.thread}, {"name", thread.name}});
  json["functions"] = ordered_json::array();
  for (std::size_t i = 0; i < run.functions.size(); ++i)
    json["functions"].push_back(function_json(run, i));
  json["not_watched"] = ordered_json::array();
  for (const auto& function : run.functions)
    if (!function.is_watched())
      json["not_watched"].push_back(
          {{"name", function.name}, {"why", function.why_not}, {"hint", function.hint}});
  json["calls"] = calls_array(run);
  json["tree"] = ordered_json::array();
  for (std::size_t i = 0; i < run.nodes.size(); ++i)
    json["tree"].push_back({{"parent", function_index(run.nodes[i].parent)},
                            {"function", run.nodes[i].function},
                            {"calls", run.nodes[i].calls},
                            {"values", values_json(run, run.values_of_node(i))}});
  json["notes"] = run.notes;
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace loft::view
