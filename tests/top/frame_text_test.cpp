#include "top/frame_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "top/some_frame.hpp"

namespace loft::top {
namespace {

using testing::HasSubstr;

TEST(FrameText, JsonHasRatesCountsAndReasons) {
  const std::string text = frame_json(frame_of_two_cores());
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "loft.top/1");
  const auto& core = json["cores"][0];
  EXPECT_EQ(core["cpu"], 0);
  EXPECT_EQ(core["busy"], 0.25);
  EXPECT_EQ(core["waiting"], nullptr);
  EXPECT_DOUBLE_EQ(core["values"]["switches"], 1400);  // by the time between its own readings
  EXPECT_EQ(core["values"]["cycles"], nullptr);
  EXPECT_EQ(core["counts"]["switches"], 700);
  EXPECT_EQ(core["kinds"]["cycles"], "missing");
  EXPECT_EQ(core["missing"]["cycles"], "no such counter");
  EXPECT_EQ(json["units"]["switches"], "1/s");
  EXPECT_EQ(json["cores"][1]["why"], "the CPU is off");
  EXPECT_EQ(json["energy"][0]["watts"], 12.0);
  EXPECT_EQ(json["energy"][1]["watts"], nullptr);
  EXPECT_EQ(json["cost"]["resident_bytes"], nullptr);
}

TEST(FrameText, CsvLeavesUnknownValuesEmpty) {
  const std::string csv = frame_csv(frame_of_two_cores());
  EXPECT_THAT(csv, HasSubstr("0.600000,core,0,busy,0.25,,counted,,\n"));
  EXPECT_THAT(csv, HasSubstr("0.600000,core,0,switches,1400,1/s,counted,700,\n"));
  EXPECT_THAT(csv, HasSubstr("0.600000,core,0,cycles,,1/s,missing,,no such counter\n"));
  EXPECT_THAT(csv, HasSubstr("0.600000,energy,package-0,power,12,W,counted,,\n"));
  EXPECT_THAT(csv, HasSubstr("0.600000,energy,psys,power,,W,missing,,"));
}

TEST(FrameText, ABusyShareFromTicksIsMarked) {
  Frame frame = frame_of_two_cores();
  frame.cores[0].busy_origin = sample::Origin::scaled;
  EXPECT_THAT(frame_csv(frame), HasSubstr("0.600000,core,0,busy,0.25,,scaled,,\n"));
  EXPECT_THAT(FrameTable().rows(frame), HasSubstr("  ~25 %    n/a"));
  EXPECT_EQ(nlohmann::json::parse(frame_json(frame))["cores"][0]["kinds"]["busy"], "scaled");
}

TEST(FrameText, TableLeavesOutColumnsThatNobodyCounts) {
  FrameTable table;
  const Frame frame = frame_of_two_cores();
  const std::string first = table.rows(frame);
  EXPECT_THAT(first, HasSubstr("   time s  cpu   busy   wait   switches\n"));
  EXPECT_THAT(first, HasSubstr("    0.600    0   25 %    n/a      1.40k\n"));
  EXPECT_THAT(first, HasSubstr("    0.600    1    n/a    n/a  the CPU is off\n"));
  EXPECT_THAT(first, HasSubstr("package-0 12.00 W\n"));
  EXPECT_THAT(first, HasSubstr("psys n/a\n"));
  EXPECT_EQ(missing_notes(frame), std::vector<std::string>{"cycles: no such counter"});
  Frame next = frame;
  next.number = 2;
  EXPECT_THAT(table.rows(next), testing::Not(HasSubstr("time s")));  // the columns are the same
}

}  // namespace
}  // namespace loft::top
