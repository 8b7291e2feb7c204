#include "base/student.hpp"

#include <cmath>

namespace loft {

// Peizer and Pratt's approximation by the normal point, within 1 % from 3 degrees on; below, a line
// between the exact points.
double student_point(double degrees) {
  constexpr double kOne = 12.706, kTwo = 4.303, kThree = 3.182;
  if (degrees <= 1) return kOne;
  if (degrees <= 2) return kOne + (kTwo - kOne) * (degrees - 1);
  if (degrees <= 3) return kTwo + (kThree - kTwo) * (degrees - 2);
  constexpr double z = 1.959964;
  const double g1 = (std::pow(z, 3) + z) / 4;
  const double g2 = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
  const double g3 = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / 384;
  return z + g1 / degrees + g2 / (degrees * degrees) + g3 / (degrees * degrees * degrees);
}

}  // namespace loft
