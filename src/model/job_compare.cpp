#include "model/job_compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace loft::model {
namespace {

std::optional<double> mean_of(const JobReport& report, const std::string& name) {
  for (const JobColumn& column : report.columns)
    if (column.name == name && column.sum && column.ranks > 0)
      return static_cast<double>(*column.sum) / static_cast<double>(column.ranks);
  return std::nullopt;
}

std::vector<ComparedSum> compare_sums(const JobReport& before, const JobReport& after) {
  std::vector<ComparedSum> sums;
  for (const JobColumn& column : before.columns)
    sums.push_back(
        {column.name, column.unit, mean_of(before, column.name), mean_of(after, column.name)});
  for (const JobColumn& column : after.columns) {
    const auto known = std::ranges::find(sums, column.name, &ComparedSum::name);
    if (known == sums.end())
      sums.push_back({column.name, column.unit, std::nullopt, mean_of(after, column.name)});
  }
  return sums;
}

}  // namespace

JobComparison compare_jobs(JobReport before, JobReport after) {
  JobComparison comparison;
  comparison.sums = compare_sums(before, after);
  if (before.load == after.load && !before.load.empty()) {
    std::map<std::tuple<std::string, std::string, bool>, ComparedFunction> functions;
    const auto entry = [&](const JobFunction& function) -> ComparedFunction& {
      auto& found = functions[{function.name, function.binary, function.in_mpi}];
      found.name = function.name;
      found.binary = function.binary;
      found.in_mpi = function.in_mpi;
      return found;
    };
    for (const JobFunction& function : before.functions) entry(function).before += function.mean;
    for (const JobFunction& function : after.functions) entry(function).after += function.mean;
    for (auto& [key, function] : functions) comparison.functions.push_back(std::move(function));
    std::ranges::stable_sort(comparison.functions, std::greater{}, [](const auto& function) {
      return std::abs(function.after - function.before);
    });
  }
  comparison.before = std::move(before);
  comparison.after = std::move(after);
  return comparison;
}

}  // namespace loft::model
