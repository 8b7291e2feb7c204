#include "model/least_squares.hpp"

#include <vector>

namespace loft::model {
namespace {

constexpr double kDependent = 1e-9;  // relative size of a pivot that is as good as none

Eigen::VectorXd solve_columns(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                              const std::vector<Eigen::Index>& chosen) {
  Eigen::MatrixXd part(a.rows(), static_cast<Eigen::Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    part.col(static_cast<Eigen::Index>(i)) = a.col(chosen[i]);
  const Eigen::VectorXd solved = part.colPivHouseholderQr().solve(b);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    x[chosen[i]] = solved[static_cast<Eigen::Index>(i)];
  return x;
}

std::vector<Eigen::Index> indices_of(const std::vector<bool>& free) {
  std::vector<Eigen::Index> indices;
  for (std::size_t i = 0; i < free.size(); ++i)
    if (free[i]) indices.push_back(static_cast<Eigen::Index>(i));
  return indices;
}

// The bound variable whose release lowers the error most, or -1.
Eigen::Index steepest(const Eigen::VectorXd& slope, const std::vector<bool>& free,
                      double tolerance) {
  Eigen::Index best = -1;
  for (Eigen::Index i = 0; i < slope.size(); ++i)
    if (!free[static_cast<std::size_t>(i)] && slope[i] > tolerance &&
        (best < 0 || slope[i] > slope[best]))
      best = i;
  return best;
}

}  // namespace

Result<Eigen::VectorXd> least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors;
  factors.setThreshold(kDependent);
  factors.compute(a);
  if (factors.rank() < a.cols())
    return failure(ErrorKind::invalid_input, "solve a linear system",
                   std::to_string(factors.colsPermutation().indices()[factors.rank()]));
  return Eigen::VectorXd(factors.solve(b));
}

Result<Eigen::VectorXd> non_negative_least_squares(const Eigen::MatrixXd& a,
                                                   const Eigen::VectorXd& b) {
  const auto n = static_cast<std::size_t>(a.cols());
  std::vector<bool> free(n, false);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  const double tolerance = 1e-10 * std::max(1.0, (a.transpose() * b).cwiseAbs().maxCoeff());
  for (std::size_t round = 0; round < 10 * n + 10; ++round) {
    const Eigen::VectorXd slope = a.transpose() * (b - a * x);
    const Eigen::Index released = steepest(slope, free, tolerance);
    if (released < 0) return x;
    free[static_cast<std::size_t>(released)] = true;
    for (;;) {
      const Eigen::VectorXd target = solve_columns(a, b, indices_of(free));
      // As far towards the target as all variables stay positive.
      double step = 1;
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        if (free[i] && target[at] <= 0) step = std::min(step, x[at] / (x[at] - target[at]));
      }
      x += step * (target - x);
      if (step >= 1) break;
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        if (free[i] && x[at] <= 1e-14) {
          free[i] = false;
          x[at] = 0;
        }
      }
      if (indices_of(free).empty()) break;
    }
  }
  return failure(ErrorKind::limit, "solve a linear system", "no solution was reached",
                 "leave out predictors that say nearly the same");
}

}  // namespace loft::model
