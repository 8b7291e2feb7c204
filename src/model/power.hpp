// Linear power models: watts as a base plus a coefficient for each event's rate.
//
//   LOFT_TRY(const PowerFit fit, fit_power(data, {.method = FitMethod::non_negative}));
//   fit.held_out.median_error   // on programs or blocks that the fit had not seen
//   power_model_file(data, fit, "power")   // as a metric file, for 'loft power apply'
//
// The error that counts is the one on other programs. Rows of one program resemble each other, so
// rows are never shuffled: whole programs, or whole contiguous blocks, are held out in turn.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "metric/definition.hpp"

namespace loft::model {

enum class FitMethod { least_squares, non_negative };

struct PowerData {
  std::vector<std::string> predictors;
  std::vector<std::vector<double>> columns;  // one for each predictor, as long as `watts`
  std::vector<double> watts;
  std::vector<std::string> programs;  // of each row; empty: contiguous blocks are held out instead
  bool rates = false;  // columns are counts per second, to be written as EVENT / time
};

struct PowerOptions {
  FitMethod method = FitMethod::least_squares;
  std::size_t blocks = 5;  // where there are no program names
};

// One program or block, predicted by a fit on all the others.
struct HeldOutPart {
  std::string name;
  std::size_t rows = 0;
  double median_error = 0;  // |predicted - measured| / measured
  double rms_error = 0;     // watts
};

struct HeldOut {
  std::vector<HeldOutPart> parts;
  double median_error = 0;  // over all rows
  double rms_error = 0;     // watts
  double r2 = 0;            // 1 - squared error / squared deviation from the mean of all rows
  double error95 = 0;       // watts: 95 % of rows were predicted this closely
};

struct PowerFit {
  double base = 0;                   // watts
  std::vector<double> coefficients;  // watts per unit of each predictor
  double fitted_rms_error = 0;  // on the rows it was fitted to: flatters, shown beside the other
  HeldOut held_out;
};

// Errors: too few rows or programs, a cell without a number, predictors that depend on each other.
[[nodiscard]] Result<PowerFit> fit_power(const PowerData& data, const PowerOptions& options = {});

// The model as a metric file with its held-out error.
metric::MetricFile power_model_file(const PowerData& data, const PowerFit& fit,
                                    const std::string& name);

}  // namespace loft::model
