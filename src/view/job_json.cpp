#include <nlohmann/json.hpp>

#include "view/job.hpp"
#include "view/metric_json.hpp"

namespace loft::view {
namespace {

using model::JobReport;
using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json rank_json(const model::JobRank& rank) {
  const bool has_ended = rank.state != model::RankState::unfinished;
  return {{"rank", rank.rank},
          {"node", rank.node},
          {"state", to_string(rank.state)},
          {"exit", has_ended && rank.exit_status >= 0 ? ordered_json(rank.exit_status)
                                                      : ordered_json(nullptr)},
          {"wall_s", or_null(rank.wall_seconds)},
          {"cpu_s", or_null(rank.cpu_seconds)},
          {"mpi_share", or_null(rank.mpi_share)},
          {"load", or_null(rank.load)},
          {"seconds", or_null(rank.seconds)},
          {"flops", or_null(rank.flops)},
          {"bytes", or_null(rank.bytes)}};
}

ordered_json function_json(const JobReport& report, const model::JobFunction& function) {
  ordered_json json{{"name", function.name},          {"binary", function.binary},
                    {"mpi", function.in_mpi},         {"ranks", function.ranks},
                    {"mean", function.mean},          {"max", function.most},
                    {"max_rank", function.most_rank}, {"cost", function.cost},
                    {"sums", ordered_json::object()}};
  for (std::size_t i = 0; i < function.sums.size(); ++i)
    json["sums"][report.columns[i].name] = or_null(function.sums[i]);
  return json;
}

ordered_json mpi_json(const JobReport& report) {
  if (!report.mpi) return nullptr;
  return {{"min", report.mpi->least},
          {"median", report.mpi->median},
          {"max", report.mpi->most},
          {"kind", report.mpi->is_measured ? "counted" : "modelled"},
          {"ranks", report.mpi->ranks}};
}

}  // namespace

std::string job_json(const JobReport& report) {
  ordered_json json{
      {"schema", "loft.job/1"},
      {"folder", report.folder},
      {"command", report.command},
      {"job", report.job},
      {"step", report.step},
      {"steps", report.steps},
      {"source", report.source},
      {"ranks", report.size},
      {"complete", report.complete},
      {"counted", report.counted},
      {"wall_s", or_null(report.wall_seconds)},
      {"load", report.load.empty() ? ordered_json(nullptr) : ordered_json(report.load)},
      {"load_unit", report.load_unit},
      {"load_kind", to_string(report.load_origin)},
      {"imbalance", or_null(report.imbalance)},
      {"mpi_share", mpi_json(report)},
      {"missing_count", report.missing_count},
      {"missing", report.missing}};
  for (const char* list : {"stragglers", "functions", "sums", "rank_list", "skipped"})
    json[list] = ordered_json::array();
  for (const model::Straggler& straggler : report.stragglers)
    json["stragglers"].push_back({{"rank", straggler.rank},
                                  {"node", straggler.node},
                                  {"function", straggler.function},
                                  {"binary", straggler.binary},
                                  {"factor", straggler.factor},
                                  {"excess", straggler.excess}});
  for (const model::JobFunction& function : report.functions)
    json["functions"].push_back(function_json(report, function));
  for (const model::JobColumn& column : report.columns)
    json["sums"].push_back({{"name", column.name},
                            {"unit", column.unit},
                            {"kind", to_string(column.origin)},
                            {"value", or_null(column.sum)},
                            {"ranks", column.ranks}});
  for (const model::JobRank& rank : report.ranks) json["rank_list"].push_back(rank_json(rank));
  for (const model::SkippedFile& file : report.skipped)
    json["skipped"].push_back({{"file", file.path}, {"why", file.why}});
  json["notes"] = report.notes;
  return dumped(json);
}

}  // namespace loft::view
