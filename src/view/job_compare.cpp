#include "view/job_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/csv.hpp"
#include "view/metric_json.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using model::JobComparison;
using model::JobReport;
using nlohmann::ordered_json;

constexpr std::size_t kFunctions = 20;
constexpr std::size_t kNameWidth = 60;

std::string amount(double value, const std::string& unit) {
  if (unit == "s") return format_seconds(value);
  return unit == "ns" ? format_seconds(value * 1e-9) : with_si_prefix(value, unit);
}

std::string shown(const std::optional<double>& value, const std::string& unit) {
  return value ? amount(*value, unit) : "not known";
}

// How much more or less; nothing where that cannot be said.
std::string change(const std::optional<double>& before, const std::optional<double>& after) {
  if (!before || !after || !(*before > 0)) return "";
  return fmt::format("{:+.1f} %", 100 * (*after / *before - 1));
}

std::string row(const std::string& name, const std::string& before, const std::string& after,
                const std::string& change) {
  return fmt::format("{:>14} {:>14} {:>9}  {}\n", before, after, change, name);
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "not known";
}

std::optional<double> mpi_of(const JobReport& report) {
  return report.mpi ? std::optional(report.mpi->median) : std::nullopt;
}

std::string ranks_of(const JobReport& report) {
  return fmt::format("{} of {}", report.counted, report.size);
}

ordered_json json_of(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_of(const JobReport& report) {
  return {{"folder", report.folder},
          {"step", report.step},
          {"ranks", report.size},
          {"counted", report.counted},
          {"wall_s", json_of(report.wall_seconds)},
          {"imbalance", json_of(report.imbalance)},
          {"mpi_median", json_of(mpi_of(report))}};
}

}  // namespace

std::string job_compare_text(const JobComparison& comparison) {
  const JobReport& before = comparison.before;
  const JobReport& after = comparison.after;
  std::string text = fmt::format("{} and {}\n", printable(before.folder), printable(after.folder));
  text += row("", "before", "after", "change");
  text += row("ranks counted", ranks_of(before), ranks_of(after), "");
  text += row("wall", shown(before.wall_seconds, "s"), shown(after.wall_seconds, "s"),
              change(before.wall_seconds, after.wall_seconds));
  text += row("imbalance", percent(before.imbalance), percent(after.imbalance), "");
  text += row("MPI, median rank", percent(mpi_of(before)), percent(mpi_of(after)), "");
  for (const model::ComparedSum& sum : comparison.sums)
    text += row(printable(sum.name) + ", mean rank", shown(sum.before, sum.unit),
                shown(sum.after, sum.unit), change(sum.before, sum.after));
  if (comparison.functions.empty())
    return text + "functions are not compared: the jobs have no load in common\n";
  text += fmt::format("functions, {} of the mean rank\n", printable(before.load));
  for (std::size_t i = 0; i < std::min(kFunctions, comparison.functions.size()); ++i) {
    const model::ComparedFunction& function = comparison.functions[i];
    text +=
        row(short_name(printable(function.name), kNameWidth) + (function.in_mpi ? "  [MPI]" : ""),
            amount(function.before, before.load_unit), amount(function.after, before.load_unit),
            change(function.before, function.after));
  }
  return text;
}

std::string job_compare_json(const JobComparison& comparison) {
  ordered_json json{
      {"schema", "loft.job.compare/1"},           {"before", json_of(comparison.before)},
      {"after", json_of(comparison.after)},       {"load", comparison.before.load},
      {"load_unit", comparison.before.load_unit}, {"sums", ordered_json::array()},
      {"functions", ordered_json::array()}};
  for (const model::ComparedSum& sum : comparison.sums)
    json["sums"].push_back({{"name", sum.name},
                            {"unit", sum.unit},
                            {"before", json_of(sum.before)},
                            {"after", json_of(sum.after)}});
  for (const model::ComparedFunction& function : comparison.functions)
    json["functions"].push_back({{"name", function.name},
                                 {"binary", function.binary},
                                 {"mpi", function.in_mpi},
                                 {"before", function.before},
                                 {"after", function.after}});
  return dumped(json);
}

std::string job_compare_csv(const JobComparison& comparison) {
  std::string text = "function,binary,mpi,before,after\n";
  for (const model::ComparedFunction& function : comparison.functions)
    text += fmt::format("{},{},{},{},{}\n", csv_field(function.name), csv_field(function.binary),
                        function.in_mpi ? 1 : 0, function.before, function.after);
  return text;
}

}  // namespace loft::view
