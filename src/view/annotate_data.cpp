#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "view/annotate.hpp"
#include "view/csv.hpp"
#include "view/roof_json.hpp"

namespace loft::view {
namespace {

using model::AnnotatedFunction;
using model::AnnotatedInstruction;
using nlohmann::ordered_json;

ordered_json place_json(const model::SourcePlace& place) {
  ordered_json json;
  json["file"] = place.file.empty() ? ordered_json(nullptr) : ordered_json(place.file);
  json["line"] = place.line == 0 ? ordered_json(nullptr) : ordered_json(place.line);
  if (!place.inlined.empty()) json["inlined"] = place.inlined;
  return json;
}

using EventNames = std::vector<std::string>;

// Shares of sampled events, by name; nothing where samples are of run time.
void put_events(const EventNames& events, model::EventShare first,
                const std::vector<model::EventShare>& others, ordered_json& json) {
  if (events.empty()) return;
  ordered_json& shares = json["events"] = ordered_json::object();
  const auto put = [&](const std::string& name, const model::EventShare& of) {
    shares[name] = {{"samples", of.samples}, {"share", of.share}};
  };
  put(events.front(), first);
  for (std::size_t i = 0; i < others.size() && i + 1 < events.size(); ++i)
    put(events[i + 1], others[i]);
}

ordered_json lines_json(const AnnotatedFunction& function, const EventNames& events) {
  ordered_json lines = ordered_json::array();
  for (const model::AnnotatedLine& line : lines_of(function)) {
    const model::SourcePlace& place = function.places[line.place];
    ordered_json json = place_json(place);
    if (!place.text.empty()) json["text"] = place.text;
    json["count"] = or_null(line.sum.count);
    json["samples"] = line.sum.samples;
    json["share_of_time"] = line.sum.share;
    json["waited"] = or_null(line.sum.waited);
    put_events(events, {line.sum.samples, line.sum.share}, line.sum.others, json);
    lines.push_back(std::move(json));
  }
  return lines;
}

ordered_json instruction_json(const AnnotatedFunction& function, const AnnotatedInstruction& each,
                              const EventNames& events) {
  ordered_json json = place_json(function.place_of(each));
  json["address"] = each.address;
  json["offset"] = each.address - function.address;
  json["text"] = each.text;
  json["count"] = or_null(each.count);
  json["samples"] = each.samples;
  json["share_of_time"] = each.share;
  json["waited"] = or_null(each.waited);
  put_events(events, {each.samples, each.share}, each.others, json);
  if (each.waited.value_or(0) > 0) {
    json["wait"] = to_string(each.wait);
    json["waits_for"] = each.waits_for ? ordered_json(*each.waits_for) : ordered_json(nullptr);
  }
  return json;
}

ordered_json function_json(const AnnotatedFunction& function, const EventNames& events) {
  ordered_json json{{"name", function.name},
                    {"binary", function.binary},
                    {"address", function.address},
                    {"samples", function.samples}};
  const bool has_time = function.seconds > 0;
  json["seconds"] = has_time ? ordered_json(function.seconds) : ordered_json(nullptr);
  const bool has_share = has_time || function.samples > 0;
  json["share_of_time"] = has_share ? ordered_json(function.share_of_time) : ordered_json(nullptr);
  put_events(events, {function.samples, function.share_of_time}, function.others, json);
  if (function.why) json["why"] = why_json(*function.why);
  json["lines"] = lines_json(function, events);
  json["instructions"] = ordered_json::array();
  for (const AnnotatedInstruction& each : function.code)
    json["instructions"].push_back(instruction_json(function, each, events));
  return json;
}

std::string csv_row(const AnnotatedFunction& function, const AnnotatedInstruction& each) {
  const model::SourcePlace& place = function.place_of(each);
  const auto known = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  std::string row = fmt::format(
      "{},{},{:#x},{},{},{},{},{},{},{},{}", csv_field(function.name), csv_field(function.binary),
      each.address, csv_field(each.text), csv_field(place.file),
      place.line == 0 ? "" : std::to_string(place.line), known(each.count), each.samples,
      each.share, known(each.waited), each.waited.value_or(0) > 0 ? to_string(each.wait) : "");
  for (const model::EventShare& of : each.others)
    row += fmt::format(",{},{}", of.samples, of.share);
  return row + "\n";
}

}  // namespace

std::string annotate_json(const model::Annotation& annotation) {
  ordered_json json{{"schema", "loft.annotate/1"},
                    {"command", annotation.command},
                    {"exit", annotation.exit_status},
                    {"counts", annotation.counts_from},
                    {"notes", annotation.notes}};
  if (!annotation.events.empty()) json["events"] = annotation.events;
  json["functions"] = ordered_json::array();
  for (const AnnotatedFunction& function : annotation.functions)
    json["functions"].push_back(function_json(function, annotation.events));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string annotate_csv(const model::Annotation& annotation) {
  std::string text =
      "function,binary,address,instruction,file,line,count,samples,share_of_time,waited,wait";
  for (std::size_t i = 1; i < annotation.events.size(); ++i)
    text += "," + csv_field("samples of " + annotation.events[i]) + "," +
            csv_field("share of " + annotation.events[i]);
  text += "\n";
  for (const AnnotatedFunction& function : annotation.functions)
    for (const AnnotatedInstruction& each : function.code) text += csv_row(function, each);
  return text;
}

}  // namespace loft::view
