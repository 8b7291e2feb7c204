#include "base/student.hpp"

#include <gtest/gtest.h>

namespace loft {
namespace {

// The 97.5 % points as printed in tables of the distribution.
TEST(StudentPoint, IsWithinOnePercentOfTheTables) {
  constexpr double kTable[][2] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                  {5, 2.571},  {7, 2.365},  {10, 2.228}, {15, 2.131},
                                  {30, 2.042}, {60, 2.000}, {120, 1.980}};
  for (const auto& [degrees, point] : kTable)
    EXPECT_NEAR(student_point(degrees), point, point / 100) << degrees;
  EXPECT_NEAR(student_point(1e9), 1.959964, 1e-6);
}

// An interval must not grow when there is more to go by, also between whole degrees.
TEST(StudentPoint, NeverGrowsWithTheDegrees) {
  double before = student_point(0);
  EXPECT_EQ(before, 12.706) << "fewer than one are taken for one";
  for (double degrees = 0.25; degrees < 40; degrees += 0.25) {
    const double point = student_point(degrees);
    EXPECT_LE(point, before) << degrees;
    before = point;
  }
}

}  // namespace
}  // namespace loft
