// Student's distribution: few measurements know their own spread badly.
#pragma once

namespace loft {

// The 97.5 % point: a mean of n values lies within so many of its standard errors with 95 %, where
// the degrees of freedom are n - 1. At least 1.
[[nodiscard]] double student_point(double degrees);

}  // namespace loft
