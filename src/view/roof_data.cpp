#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "view/csv.hpp"
#include "view/json_text.hpp"
#include "view/roof.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;
using model::Scope;
using nlohmann::ordered_json;

ordered_json or_null(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::optional<double> giga(std::optional<double> value) {
  return value ? std::optional(*value * 1e-9) : value;
}

ordered_json point_json(const RoofPoint& point) {
  const model::Subject& subject = point.subject;
  ordered_json json{{"scope", to_string(subject.scope)}, {"name", subject.name}};
  if (!subject.run.empty()) json["run"] = subject.run;
  if (subject.scope == Scope::function) json["binary"] = subject.binary;
  if (subject.scope == Scope::thread || subject.tid != 0) json["tid"] = subject.tid;
  if (subject.scope == Scope::slice) {
    json["start_s"] = subject.start;
    json["end_s"] = subject.end;
  }
  const auto& work = subject.work;
  json["flops"] = work ? ordered_json(work->flops()) : ordered_json(nullptr);
  json["bytes"] = work ? ordered_json(work->bytes) : ordered_json(nullptr);
  json["instructions"] = work ? ordered_json(work->instructions) : ordered_json(nullptr);
  json["seconds"] = subject.seconds;
  if (subject.time_error > 0)
    json["seconds_ci95"] = {subject.seconds * (1 - subject.time_error),
                            subject.seconds * (1 + subject.time_error)};
  json["share_of_time"] = point.share_of_time;
  json["concurrency"] = subject.concurrency;
  json["gflops"] = or_null(giga(point.flops_per_second));
  json["gbytes_per_s"] = or_null(giga(point.bytes_per_second));
  json["intensity"] = or_null(point.intensity);
  json["bound_by"] = point.limit ? ordered_json(point.limit->name) : ordered_json(nullptr);
  json["share_of_roof"] = point.limit ? ordered_json(point.limit->share) : ordered_json(nullptr);
  json["kind"] = to_string(subject.basis);
  return json;
}

std::string csv_number(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

std::string roof_json(const RoofReport& report) {
  ordered_json json{{"schema", "loft.roof/1"},
                    {"command", report.command},
                    {"exit", report.exit_status},
                    {"wall_s", report.wall_seconds},
                    {"cpu_s", report.cpu_seconds},
                    {"threads", report.threads},
                    {"machine", report.machine_identity},
                    {"counts", report.counts_from},
                    {"time", report.time_from},
                    {"notes", report.notes},
                    {"advice", model::advice(report.chart)},
                    {"points", ordered_json::array()}};
  for (const RoofPoint& point : report.chart.points) json["points"].push_back(point_json(point));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string roof_csv(const RoofReport& report) {
  std::string text =
      "scope,name,binary,tid,start_s,end_s,flops,bytes,seconds,gflops,intensity,bound_by,"
      "share_of_roof,kind\n";
  for (const RoofPoint& point : report.chart.points) {
    const model::Subject& subject = point.subject;
    const bool is_slice = subject.scope == Scope::slice;
    const auto of_work = [&](double value) {
      return subject.work ? std::optional(value) : std::nullopt;
    };
    const model::Work work = subject.work.value_or(model::Work{});
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", to_string(subject.scope),
                    csv_field(subject.name), csv_field(subject.binary),
                    subject.tid != 0 ? std::to_string(subject.tid) : "",
                    csv_number(is_slice ? std::optional(subject.start) : std::nullopt),
                    csv_number(is_slice ? std::optional(subject.end) : std::nullopt),
                    csv_number(of_work(work.flops())), csv_number(of_work(work.bytes)),
                    csv_number(subject.seconds), csv_number(giga(point.flops_per_second)),
                    csv_number(point.intensity), csv_field(point.limit ? point.limit->name : ""),
                    csv_number(point.limit ? std::optional(point.limit->share) : std::nullopt),
                    to_string(subject.basis));
  }
  return text;
}

}  // namespace loft::view
