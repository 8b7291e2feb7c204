#pragma once

namespace loft::model {

// Roofs and points are measured, both with an error: a point so far above a roof is still at it.
inline constexpr double kAtTheRoof = 1.05;

}  // namespace loft::model
