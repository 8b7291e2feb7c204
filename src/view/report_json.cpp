#include <nlohmann/json.hpp>

#include "view/report.hpp"
#include "view/tree_walk.hpp"

namespace loft::view {
namespace {

using nlohmann::ordered_json;
using sample::Dimension;
using sample::Report;
using sample::ReportRow;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json period_json(const sample::ReportEvent& event, std::uint64_t period) {
  return event.period_is_known ? ordered_json(period) : ordered_json(nullptr);
}

void add_keys(const Report& report, const ReportRow& row, ordered_json& json) {
  const auto& keys = row.keys;
  for (const Dimension dimension : report.by) {
    switch (dimension) {
      case Dimension::function:
      case Dimension::line:
        json["function"] = keys.function;
        json["binary"] = text_or_null(keys.binary);
        json["file"] = text_or_null(keys.file);
        if (dimension == Dimension::line)
          json["line"] = keys.line == 0 ? ordered_json(nullptr) : ordered_json(keys.line);
        if (!keys.function_is_named) json["build_id"] = text_or_null(keys.build_id);
        break;
      case Dimension::binary:
        json["binary"] = keys.binary;
        json["build_id"] = text_or_null(keys.build_id);
        break;
      case Dimension::comm:
        json["comm"] = text_or_null(keys.comm);
        break;
      case Dimension::cpu:
        json["cpu"] = or_null(keys.cpu);
        break;
      case Dimension::process:
        json["pid"] = or_null(keys.pid);
        json["comm"] = text_or_null(keys.comm);
        break;
      case Dimension::thread:
        json["tid"] = or_null(keys.tid);
        json["pid"] = or_null(keys.pid);
        json["comm"] = text_or_null(keys.comm);
        break;
    }
  }
}

ordered_json row_json(const Report& report, const ReportRow& row) {
  const auto& event = report.events[row.event];
  ordered_json json{{"event", event.name}};
  add_keys(report, row, json);
  json["samples"] = row.self.samples;
  json["period"] = period_json(event, row.self.period);
  json["share"] = row.share;
  if (!event.shared_by.empty()) json["kind"] = "modelled";
  if (row.inclusive) {
    json["inclusive_samples"] = row.inclusive->samples;
    json["inclusive_period"] = period_json(event, row.inclusive->period);
    json["inclusive_share"] = row.inclusive_share;
  }
  return json;
}

void add_weights(const sample::ReportEvent& event, const sample::CallTree::Node& node,
                 const TreeWalk& walk, ordered_json& json) {
  json["samples"] = node.self.samples;
  json["period"] = period_json(event, node.self.period);
  json["share"] = walk.share(node.self);
  json["inclusive_samples"] = node.total.samples;
  json["inclusive_period"] = period_json(event, node.total.period);
  json["inclusive_share"] = walk.share(node.total);
}

void add_children(const ShownTree& shown, const TreeWalk& walk, const sample::CallTree::Node& node,
                  int depth, ordered_json& json) {
  ordered_json children = ordered_json::array();
  const auto left_out = walk.each_child(node, depth, [&](const sample::CallTree::Node& child) {
    ordered_json one{{"function", shown.profile.function_name(child.function)},
                     {"binary", text_or_null(shown.profile.binary_path(child.function))}};
    add_weights(walk.event(), child, walk, one);
    add_children(shown, walk, child, depth + 1, one);
    children.push_back(std::move(one));
  });
  if (!children.empty()) json["children"] = std::move(children);
  if (left_out.count != 0) json["left_out"] = left_out.count;
}

ordered_json tree_json(const ShownTree& shown) {
  ordered_json json = ordered_json::array();
  for (const auto root : shown_roots(shown.profile, shown.tree)) {
    const TreeWalk walk(shown, root);
    ordered_json event{{"event", walk.event().name}};
    add_children(shown, walk, shown.tree.nodes[root], 0, event);
    json.push_back(std::move(event));
  }
  return json;
}

ordered_json whole_json(const Report& report) {
  const auto& summary = report.summary;
  const auto& metadata = summary.metadata;
  ordered_json json{{"schema", "loft.report/1"}, {"file", summary.path}};
  json["events"] = ordered_json::array();
  for (const std::uint32_t i : sample::shown_order(report.events)) {
    const auto& event = report.events[i];
    json["events"].push_back({{"name", event.name},
                              {"samples", event.total.samples},
                              {"period", period_json(event, event.total.period)},
                              {"unit", event.is_time     ? "ns"
                                       : event.is_energy ? "uJ"
                                                         : ""},
                              {"shown_share", event.shown_share}});
    if (event.shared_by.empty()) continue;
    json["events"].back()["kind"] = "modelled";
    json["events"].back()["shared_by"] = event.shared_by;
  }
  json["lost"] = summary.lost;
  json["records"] = summary.records;
  json["unreadable_samples"] = summary.unreadable_samples;
  json["damaged_bytes"] = summary.damaged_bytes;
  json["filtered_out"] = report.filtered_out;
  json["first_time_ns"] = or_null(report.first_time);
  json["last_time_ns"] = or_null(report.last_time);
  json["machine"] = {{"hostname", text_or_null(metadata.hostname)},
                     {"os_release", text_or_null(metadata.os_release)},
                     {"arch", text_or_null(metadata.arch)},
                     {"cpu", text_or_null(metadata.cpu_description)},
                     {"cpus_online", or_null(metadata.cpus_online)},
                     {"recorder", text_or_null(metadata.perf_version)}};
  json["command"] = metadata.command_line;
  json["notes"] = summary.notes;
  json["rows"] = ordered_json::array();
  for (const auto& row : report.rows) json["rows"].push_back(row_json(report, row));
  return json;
}

// Names come from files and processes: what is not UTF-8 is replaced, not thrown on.
std::string dumped(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string report_json(const Report& report) { return dumped(whole_json(report)); }

std::string report_json(const Report& report, const ShownTree& tree) {
  ordered_json json = whole_json(report);
  json["tree"] = tree_json(tree);
  return dumped(json);
}

}  // namespace loft::view
