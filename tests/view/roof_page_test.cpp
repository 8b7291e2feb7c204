// The report page of a roofline.
#include "view/roof.hpp"

#include <gmock/gmock.h>

#include "view/unpack_page.hpp"

namespace loft::view {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(RoofPage, ShowsPowerOverTimeAndWhatTheEnergyWas) {
  RoofReport report;
  report.command = {"app"};
  report.wall_seconds = 0.5;
  report.energy = {{"package-0", 7, {{0.2, 2}, {0.4, 4}, {0.5, 6.5}, {0.5, 6.5}, {0.51, 7}}}};
  const auto html = roof_html({&report, 1});
  ASSERT_TRUE(html);
  const auto page = unpack_page(*html);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->head["time_lines"].size(), 1u);
  const auto& line = page->head["time_lines"][0];
  EXPECT_EQ(line["unit"], "W");
  EXPECT_EQ(line["name"], "power, package-0");
  EXPECT_THAT(page->column<double>(line["start_s"]), ElementsAre(0, 0.2));
  EXPECT_THAT(page->column<double>(line["end_s"]), ElementsAre(0.2, 0.51));
  EXPECT_THAT(page->column<double>(line["value"]), ElementsAre(DoubleEq(10), DoubleEq(5 / 0.31)));
  EXPECT_THAT(page->head["facts"].dump(), testing::HasSubstr("14.0 W"));
  EXPECT_EQ(page->head["warnings"].size(), 0u) << "power is measured: nothing is modelled";
}

}  // namespace
}  // namespace loft::view
