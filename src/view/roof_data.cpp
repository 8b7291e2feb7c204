#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/what_if.hpp"
#include "view/csv.hpp"
#include "view/roof.hpp"
#include "view/roof_json.hpp"
#include "view/roofline_svg.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;
using model::Scope;
using nlohmann::ordered_json;

std::optional<double> giga(std::optional<double> value) {
  return value ? std::optional(*value * 1e-9) : value;
}

// Gains of the whole program; those of functions stand in their points.
ordered_json what_if_json(const model::WhatIf& what_if) {
  ordered_json gains = ordered_json::object();
  for (const auto& [cause, gain] : what_if.whole) gains[std::string(to_string(cause))] = gain;
  return {
      {"gains", std::move(gains)}, {"explained_share", what_if.explained}, {"kind", "modelled"}};
}

// The whole machine's joules, by samples of the functions.
void add_function_energy(const RoofReport& report, ordered_json& json) {
  for (const model::FunctionEnergy& function : report.function_energy) {
    ordered_json joules = ordered_json::object();
    for (std::size_t i = 0; i < report.energy.size(); ++i)
      if (!report.energy[i].is_gpu) joules[report.energy[i].meter] = function.joules[i];
    json["energy_of_functions"].push_back({{"name", function.name},
                                           {"binary", function.binary},
                                           {"kind", "modelled"},
                                           {"joules", std::move(joules)}});
  }
}

ordered_json run_json(const RoofReport& report) {
  ordered_json json{{"command", report.command},     {"exit", report.exit_status},
                    {"wall_s", report.wall_seconds}, {"cpu_s", report.cpu_seconds},
                    {"threads", report.threads},     {"machine", report.machine_identity},
                    {"counts", report.counts_from},  {"time", report.time_from()},
                    {"notes", report.notes},         {"advice", report.advice}};
  json["ops"] = ops_name(report.chart.roofline.work);
  json["phases"] = ordered_json::array();
  for (const model::RoofPhase& phase : report.phases)
    json["phases"].push_back({{"function", phase.function.empty() ? ordered_json(nullptr)
                                                                  : ordered_json(phase.function)},
                              {"binary", phase.binary},
                              {"start_s", phase.start},
                              {"end_s", phase.end},
                              {"windows", phase.windows},
                              {"why", why_json(phase.why)}});
  json["what_if"] = what_if_json(what_if_of(report.chart.points));
  if (!report.label.empty()) json["run"] = report.label;
  for (const sample::EnergyUsed& used : report.energy) {
    ordered_json over_time = ordered_json::array();
    for (const sample::EnergySeen& seen : used.over_time)
      over_time.push_back({seen.seconds, seen.joules});
    json["energy"].push_back({{"meter", used.meter},
                              {"joules", used.joules},
                              {"kind", to_string(used.origin)},
                              {"over_time", std::move(over_time)},
                              {"gpu", used.is_gpu}});
  }
  add_function_energy(report, json);
  return json;
}

ordered_json loop_json(const model::Subject& subject) {
  const model::LoopFacts& loop = *subject.loop;
  ordered_json json{
      {"address", loop.address},
      {"offset", loop.offset},
      {"depth", loop.depth},
      {"iterations", loop.iterations},
      {"trips", or_null(loop.trips)},
      {"lines", loop.lines.empty() ? ordered_json(nullptr) : ordered_json(loop.lines)}};
  const auto each = [&](std::optional<double> amount) {
    return amount && loop.iterations > 0 ? ordered_json(*amount / loop.iterations)
                                         : ordered_json(nullptr);
  };
  if (subject.work)
    json["per_iteration"] = {{"instructions", each(subject.work->instructions)},
                             {"bytes", each(subject.work->bytes)},
                             {"flops", each(subject.work->flops())},
                             {"cycles", or_null(loop.cycles)}};
  json["vector_bits"] = loop.vector_bits ? ordered_json(*loop.vector_bits) : ordered_json(nullptr);
  json["masked_share"] = or_null(loop.masked_share);
  json["remainder"] = loop.is_remainder;
  return json;
}

ordered_json levels_json(const std::vector<model::LevelPoint>& levels) {
  ordered_json json = ordered_json::array();
  for (const model::LevelPoint& at : levels)
    json.push_back({{"level", at.level},
                    {"bytes", at.bytes},
                    {"intensity", or_null(at.intensity)},
                    {"gbytes_per_s", or_null(giga(at.bytes_per_second))},
                    {"attainable_gops", or_null(giga(at.attainable))},
                    {"share_of_roof", or_null(at.share)},
                    {"kind", to_string(at.origin)}});
  return json;
}

ordered_json point_json(const RoofPoint& point, const RoofReport& report) {
  const model::Subject& subject = point.subject;
  ordered_json json{{"scope", to_string(subject.scope)}, {"name", subject.name}};
  if (!report.label.empty()) json["run"] = report.label;
  if (subject.scope == Scope::function || subject.loop) json["binary"] = subject.binary;
  if (subject.scope == Scope::thread || subject.tid != 0) json["tid"] = subject.tid;
  if (subject.scope == Scope::slice) {
    json["start_s"] = subject.start;
    json["end_s"] = subject.end;
  }
  if (subject.loop) json.update(loop_json(subject));
  const auto& work = subject.work;
  json["flops"] = work ? ordered_json(work->flops()) : ordered_json(nullptr);
  json["bytes"] = work ? ordered_json(work->bytes) : ordered_json(nullptr);
  if (work && work->flops_x87 > 0) json["flops_x87"] = work->flops_x87;
  json["instructions"] = or_null(work ? work->instructions : std::nullopt);
  json["int_ops"] = or_null(work ? work->int_ops : std::nullopt);
  // No sample met it: how long it took is not known.
  const bool has_time = subject.seconds > 0;
  json["seconds"] = has_time ? ordered_json(subject.seconds) : ordered_json(nullptr);
  if (subject.time_error > 0)
    json["seconds_ci95"] = {subject.seconds * (1 - subject.time_error),
                            subject.seconds * (1 + subject.time_error)};
  json["share_of_time"] =
      has_time ? ordered_json(point.subject.share_of_time) : ordered_json(nullptr);
  json["concurrency"] = subject.concurrency;
  json["gflops"] = or_null(giga(point.flops_per_second));
  json["ops"] = ops_name(report.chart.roofline.work);  // of the next field and the intensity
  json["gops"] = or_null(giga(point.ops_per_second));
  json["gbytes_per_s"] = or_null(giga(point.bytes_per_second));
  json["intensity"] = or_null(point.intensity);
  json["bound_by"] = point.limit ? ordered_json(point.limit->name) : ordered_json(nullptr);
  json["share_of_roof"] = point.limit ? ordered_json(point.limit->share) : ordered_json(nullptr);
  if (!point.levels.empty()) json["levels"] = levels_json(point.levels);
  if (point.limit) {
    json["roof_basis"] = to_string(point.limit->basis);
    json["roof_verdict"] = to_string(point.limit->verdict);
  }
  json["kind"] = to_string(subject.origin);
  json["work_kind"] = work ? to_string(subject.work_origin) : "missing";
  if (subject.why) json["why"] = why_json(*subject.why);
  return json;
}

std::string csv_number(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string csv_row(const RoofPoint& point, const RoofReport& report) {
  const model::Subject& subject = point.subject;
  const auto when = [](bool known, double value) {
    return csv_number(known ? std::optional(value) : std::nullopt);
  };
  const bool is_slice = subject.scope == Scope::slice;
  const bool is_counted = subject.work.has_value();
  const model::Work work = subject.work.value_or(model::Work{});
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(report.label),
      to_string(subject.scope), csv_field(subject.name), csv_field(subject.binary),
      subject.tid != 0 ? std::to_string(subject.tid) : "", when(is_slice, subject.start),
      when(is_slice, subject.end), when(is_counted, work.flops()), when(is_counted, work.bytes),
      when(subject.seconds > 0, subject.seconds), csv_number(giga(point.flops_per_second)),
      csv_number(point.intensity), csv_field(point.limit ? point.limit->name : ""),
      when(point.limit.has_value(), point.limit ? point.limit->share : 0),
      to_string(subject.origin), ops_name(report.chart.roofline.work),
      csv_number(giga(point.ops_per_second)), csv_number(work.levels.l2),
      csv_number(work.levels.l3), csv_number(work.levels.dram));
}

}  // namespace

ordered_json why_json(const model::Why& why) {
  const std::string_view id = id_of(why);
  ordered_json json{
      {"limit", id.empty() || id == "unknown" ? ordered_json(nullptr) : ordered_json(id)}};
  json["outcome"] = to_string(why.outcome);
  json["gain"] = or_null(why.gain);
  json["second"] = why.second ? ordered_json(to_string(*why.second)) : ordered_json(nullptr);
  json["model_cycles"] = or_null(why.model_cycles);
  json["measured_cycles"] = or_null(why.measured_cycles);
  json["explains"] = or_null(why.explains);
  json["evidence"] = why.evidence;
  json["kind"] = "modelled";
  ordered_json gains = ordered_json::object();
  for (const auto& [cause, gain] : why.what_if) gains[std::string(to_string(cause))] = gain;
  json["what_if"] = gains;
  return json;
}

// The fields of one run; with several, each is an element of "runs".
std::string roof_json(std::span<const RoofReport> runs) {
  ordered_json json{{"schema", "loft.roof/1"}};
  ordered_json points = ordered_json::array();
  for (const RoofReport& report : runs) {
    ordered_json facts = run_json(report);
    if (runs.size() == 1)
      json.update(facts);
    else
      json["runs"].push_back(std::move(facts));
    for (const RoofPoint& point : report.chart.points) points.push_back(point_json(point, report));
  }
  json["points"] = std::move(points);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string roof_csv(std::span<const RoofReport> runs) {
  std::string text =
      "run,scope,name,binary,tid,start_s,end_s,flops,bytes,seconds,gflops,intensity,bound_by,"
      "share_of_roof,kind,ops,gops,l2_bytes,l3_bytes,dram_bytes\n";
  for (const RoofReport& report : runs)
    for (const RoofPoint& point : report.chart.points) text += csv_row(point, report);
  return text;
}

std::string roof_svg(std::span<const RoofReport> runs) {
  std::vector<PointSeries> series;
  for (const RoofReport& run : runs) {
    PointSeries& points = series.emplace_back(PointSeries{run.label, {}});
    for (const RoofPoint& point : run.chart.points)
      if (point.subject.scope == Scope::run) points.points.push_back(&point);
    for (const std::size_t index : run.chart.shown)
      points.points.push_back(&run.chart.points[index]);
    for (const RoofPoint& point : run.chart.points)
      if (point.subject.scope == Scope::region && point.subject.tid == 0)
        points.points.push_back(&point);
    for (const RoofPoint& point : run.chart.points)
      if (point.subject.loop && point.subject.share_of_time >= run.least_loop)
        points.points.push_back(&point);
  }
  // The highest of them, so that no run stands above the roofs.
  const auto top_of = [](const RoofReport& run) {
    const auto& ceilings = run.chart.roofline.ceilings;
    return ceilings.empty() ? 0 : ceilings.front().flops_per_second;
  };
  return roofline_svg(std::ranges::max(runs, {}, top_of).chart.roofline, series);
}

}  // namespace loft::view
