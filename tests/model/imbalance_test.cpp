// How evenly loads are spread.
#include "model/imbalance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Imbalance, IsTheLargestOverTheMean) {
  EXPECT_DOUBLE_EQ(*imbalance(std::vector<double>{1, 1, 1, 3}), 1);
  EXPECT_DOUBLE_EQ(*imbalance(std::vector<double>{2, 2}), 0);
  EXPECT_FALSE(imbalance(std::vector<double>{}));
  EXPECT_FALSE(imbalance(std::vector<double>{0, 0}));
}

TEST(Stragglers, AreFarAboveTheOthersAndNoNoise) {
  EXPECT_THAT(stragglers(std::vector<double>{1, 1, 2, 1, 1.5}), ElementsAre(2, 4));
  EXPECT_THAT(stragglers(std::vector<double>{1, 1.05, 0.97, 1.02, 1.09}), IsEmpty());
  // A wide spread hides none but the far ones; a slow half is no exception.
  EXPECT_THAT(stragglers(std::vector<double>{1, 1.3, 0.7, 1.2, 0.8, 1.5}), IsEmpty());
  EXPECT_THAT(stragglers(std::vector<double>{1, 1, 2, 2}), IsEmpty());
  EXPECT_THAT(stragglers(std::vector<double>{1, 2}), IsEmpty());
  // A few samples more are chance where there are few: multiples of one sample have no spread.
  EXPECT_THAT(stragglers(std::vector<double>{20, 20, 23, 20}), ElementsAre(2));
  EXPECT_THAT(stragglers(std::vector<double>{20, 20, 23, 20}, 1), IsEmpty());
  EXPECT_THAT(stragglers(std::vector<double>{2000, 2000, 2300, 2000}, 1), ElementsAre(2));
  EXPECT_THAT(stragglers(std::vector<double>{0, 0, 0, 1}), IsEmpty());
}

}  // namespace
}  // namespace loft::model
