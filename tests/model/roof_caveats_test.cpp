#include "model/roof_caveats.hpp"

#include <gmock/gmock.h>

namespace loft::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RoofPoint under(const char* roof, Verdict verdict) {
  RoofPoint point;
  point.limit = Limit{};
  point.limit->name = roof;
  point.limit->verdict = verdict;
  return point;
}

TEST(RoofCaveats, NameEachNoisyRoofOnce) {
  RoofChart chart;
  chart.points = {under("L2 bandwidth", Verdict::noisy), under("L2 bandwidth", Verdict::noisy),
                  under("FMA, 256 bit", Verdict::stable), RoofPoint{}};
  EXPECT_THAT(roof_caveats(chart), ElementsAre(HasSubstr("perhaps higher: L2 bandwidth;")));
}

TEST(RoofCaveats, TellBetweenWhichThreadsRoofsWereInterpolated) {
  RoofChart chart;
  EXPECT_THAT(roof_caveats(chart), IsEmpty());
  chart.roofline.threads = 15;
  chart.roofline.threads_below = 8;
  chart.roofline.threads_above = 16;
  EXPECT_THAT(roof_caveats(chart),
              ElementsAre("roofs of 15 threads are interpolated between those of 8 and 16"));
}

}  // namespace
}  // namespace loft::model
