// Linear systems that have more rows than unknowns.
#pragma once

#include <Eigen/Dense>

#include "base/result.hpp"

namespace loft::model {

// The x with the smallest |Ax - b|. When columns depend on each other there are many: an error
// whose `why` is the number of a column that the others make up.
[[nodiscard]] Result<Eigen::VectorXd> least_squares(const Eigen::MatrixXd& a,
                                                    const Eigen::VectorXd& b);

// The x with the smallest |Ax - b| among all x ≥ 0 (Lawson and Hanson's active sets).
[[nodiscard]] Result<Eigen::VectorXd> non_negative_least_squares(const Eigen::MatrixXd& a,
                                                                 const Eigen::VectorXd& b);

}  // namespace loft::model
