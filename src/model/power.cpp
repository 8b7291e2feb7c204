#include "model/power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/text.hpp"
#include "model/least_squares.hpp"

namespace loft::model {
namespace {

using Eigen::Index;

Failure cannot_fit(std::string why, std::string hint = {}) {
  return failure(ErrorKind::invalid_input, "fit a power model", std::move(why), std::move(hint));
}

// Rows of the data as a matrix: a column of ones for the base, then the predictors, each divided by
// its largest value so that counts in billions and ratios can stand in one system.
struct LinearSystem {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
  std::vector<double> scale;
};

LinearSystem system_of(const PowerData& data) {
  LinearSystem system;
  const auto rows = static_cast<Index>(data.watts.size());
  system.a.resize(rows, static_cast<Index>(data.columns.size()) + 1);
  system.a.col(0).setOnes();
  system.scale.push_back(1);
  for (std::size_t c = 0; c < data.columns.size(); ++c) {
    const auto column = Eigen::Map<const Eigen::VectorXd>(data.columns[c].data(), rows);
    const double largest = column.cwiseAbs().maxCoeff();
    system.scale.push_back(largest > 0 ? largest : 1);
    system.a.col(static_cast<Index>(c) + 1) = column / system.scale.back();
  }
  system.b = Eigen::Map<const Eigen::VectorXd>(data.watts.data(), rows);
  return system;
}

struct Part {
  std::string name;
  std::vector<Index> rows;
};

// Programs in the order of their first row; contiguous blocks where there are no names.
Result<std::vector<Part>> parts_of(const PowerData& data, std::size_t blocks) {
  const std::size_t rows = data.watts.size();
  std::vector<Part> parts;
  if (!data.programs.empty()) {
    std::map<std::string, std::size_t> known;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto [at, is_new] = known.emplace(data.programs[row], parts.size());
      if (is_new) parts.push_back({data.programs[row], {}});
      parts[at->second].rows.push_back(static_cast<Index>(row));
    }
    if (parts.size() < 2)
      return cannot_fit(
          "all rows are of one program, so none can be held out",
          "measure at least two programs, or leave --program away to hold out blocks");
    return parts;
  }
  if (blocks < 2 || blocks > rows)
    return cannot_fit(fmt::format("{} rows cannot be held out in {} blocks", rows, blocks));
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = rows * block / blocks;
    const std::size_t last = rows * (block + 1) / blocks;
    Part part{fmt::format("rows {}-{}", first + 1, last), std::vector<Index>(last - first)};
    std::iota(part.rows.begin(), part.rows.end(), static_cast<Index>(first));
    parts.push_back(std::move(part));
  }
  return parts;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double quantile95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double at = std::ceil(0.95 * static_cast<double>(values.size())) - 1;
  return values[static_cast<std::size_t>(std::max(at, 0.0))];
}

double rms(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += error * error;
  return std::sqrt(sum / static_cast<double>(errors.size()));
}

Result<Eigen::VectorXd> solve(const PowerData& data, const Eigen::MatrixXd& a,
                              const Eigen::VectorXd& b, FitMethod method) {
  if (method == FitMethod::non_negative) return non_negative_least_squares(a, b);
  auto x = least_squares(a, b);
  if (x) return x;
  const auto column = parse_u64(x.error().why).value_or(0);
  return cannot_fit(
      fmt::format("{} is made up by the other predictors",
                  column == 0 ? "a constant" : "'" + data.predictors[column - 1] + "'"),
      "leave one of them out, or measure programs in which they differ");
}

// Every part is predicted by a fit on all the others.
Result<HeldOut> hold_out(const PowerData& data, const LinearSystem& system,
                         const std::vector<Part>& parts, FitMethod method) {
  HeldOut result;
  std::vector<double> errors;
  std::vector<double> shares;
  for (const Part& part : parts) {
    std::vector<bool> held(data.watts.size(), false);
    for (const Index row : part.rows) held[static_cast<std::size_t>(row)] = true;
    std::vector<Index> others;
    for (std::size_t row = 0; row < held.size(); ++row)
      if (!held[row]) others.push_back(static_cast<Index>(row));
    if (static_cast<Index>(others.size()) < system.a.cols())
      return cannot_fit(fmt::format("without '{}' only {} rows are left for {} coefficients",
                                    part.name, others.size(), system.a.cols()),
                        "measure more, or use fewer predictors");
    LOFT_TRY(const auto x, solve(data, system.a(others, Eigen::all), system.b(others), method));
    const Eigen::VectorXd residual = system.a(part.rows, Eigen::all) * x - system.b(part.rows);
    std::vector<double> own;
    std::vector<double> own_shares;
    for (Index i = 0; i < residual.size(); ++i) {
      own.push_back(std::fabs(residual[i]));
      own_shares.push_back(
          std::fabs(residual[i] / system.b[part.rows[static_cast<std::size_t>(i)]]));
    }
    result.parts.push_back({part.name, part.rows.size(), median(own_shares), rms(own)});
    errors.insert(errors.end(), own.begin(), own.end());
    shares.insert(shares.end(), own_shares.begin(), own_shares.end());
  }
  result.median_error = median(shares);
  result.rms_error = rms(errors);
  result.error95 = quantile95(errors);
  const double spread = (system.b.array() - system.b.mean()).square().sum();
  const double squared = result.rms_error * result.rms_error * static_cast<double>(errors.size());
  result.r2 = spread > 0 ? 1 - squared / spread : 0;
  return result;
}

Result<void> check(const PowerData& data) {
  if (data.columns.empty()) return cannot_fit("no predictor was given");
  if (data.watts.size() < data.columns.size() + 2)
    return cannot_fit(fmt::format("{} rows are too few for {} coefficients", data.watts.size(),
                                  data.columns.size() + 1));
  for (std::size_t row = 0; row < data.watts.size(); ++row) {
    if (!(data.watts[row] > 0) || !std::isfinite(data.watts[row]))
      return cannot_fit(fmt::format("row {} has no positive watts", row + 1));
    for (std::size_t c = 0; c < data.columns.size(); ++c)
      if (!std::isfinite(data.columns[c][row]))
        return cannot_fit(fmt::format("row {} has no number for '{}'", row + 1, data.predictors[c]),
                          "a missing count is not 0: leave the row out");
  }
  return {};
}

}  // namespace

Result<PowerFit> fit_power(const PowerData& data, const PowerOptions& options) {
  LOFT_CHECK(check(data));
  LOFT_TRY(const auto parts, parts_of(data, options.blocks));
  const LinearSystem system = system_of(data);
  LOFT_TRY(const auto x, solve(data, system.a, system.b, options.method));
  PowerFit fit;
  fit.base = x[0];
  for (std::size_t c = 0; c < data.columns.size(); ++c)
    fit.coefficients.push_back(x[static_cast<Index>(c) + 1] / system.scale[c + 1]);
  const Eigen::VectorXd residual = system.a * x - system.b;
  fit.fitted_rms_error = rms({residual.begin(), residual.end()});
  LOFT_TRY(fit.held_out, hold_out(data, system, parts, options.method));
  return fit;
}

metric::MetricFile power_model_file(const PowerData& data, const PowerFit& fit,
                                    const std::string& name) {
  using metric::Number;
  using metric::Op;
  const auto watt = *metric::parse_unit("W");
  const auto joule = *metric::parse_unit("J");
  metric::MetricFile file;
  file.name = name;
  metric::Definition model;
  model.kind = metric::DefinitionKind::model;
  model.name = name;
  model.unit = watt;
  model.checks_units = true;
  model.formula.push_number(Number::real(fit.base), watt, 0);
  for (std::size_t c = 0; c < data.predictors.size(); ++c) {
    model.formula.push_number(Number::real(fit.coefficients[c]), data.rates ? joule : watt, 0);
    model.formula.push_name(data.predictors[c], 0);
    model.formula.push(Op::multiply, 0);
    if (data.rates) {
      model.formula.push_name("time", 0);
      model.formula.push(Op::divide, 0);
    }
    model.formula.push(Op::add, 0);
  }
  model.error = fit.held_out.error95;
  model.description = fmt::format(
      "Linear power model of {} rows; on held-out {}: median error {:.1f} %, RMS {:.3g} W, R2 "
      "{:.3f}",
      data.watts.size(), data.programs.empty() ? "blocks" : "programs",
      100 * fit.held_out.median_error, fit.held_out.rms_error, fit.held_out.r2);
  if (data.rates) file.event_units.push_back({"time", *metric::parse_unit("s")});
  file.define(std::move(model));
  return file;
}

}  // namespace loft::model
