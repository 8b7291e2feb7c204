// loft stat --threshold, as a user gives it and sees it.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using testing::HasSubstr;

Said stat_with(const std::string& thresholds, const std::string& more = {}) {
  return run_loft("stat -e instructions,loads " + thresholds + " " + more + " -- /bin/true");
}

TEST(Threshold, IsShownInEveryForm) {
  const auto json = nlohmann::json::parse(
      stat_with("--threshold instructions=1k:snapshot --threshold loads=9T:stop",
                "--format json -o /dev/stdout")
          .out);
  ASSERT_EQ(json["thresholds"].size(), 2u);
  const auto& reached = json["thresholds"][0];
  EXPECT_EQ(reached["event"], "instructions");
  EXPECT_EQ(reached["count"], 1000);
  EXPECT_TRUE(reached["reached"]);
  EXPECT_GE(reached["value"], 1000);
  EXPECT_EQ(reached["value"], reached["values"]["instructions"]);
  EXPECT_LT(reached["values"]["loads"], json["events"][1]["value"]);
  EXPECT_FALSE(json["thresholds"][1]["reached"]);
  EXPECT_FALSE(json["thresholds"][1].contains("value"));

  const std::string csv = stat_with("--threshold loads=9T:stop", "--format csv").notes;
  EXPECT_THAT(csv, HasSubstr("threshold,loads=9000000000000:stop,loads,,,missing,0.0000,the count "
                             "was not reached"));
  const std::string text = stat_with("--threshold instructions=1000:print").notes;
  EXPECT_THAT(text, HasSubstr("loft: instructions came to 1,000 after "));
  EXPECT_THAT(text, HasSubstr("threshold instructions = 1,000, print: reached after "));
}

// One whose event is not counted otherwise is counted for it.
TEST(Threshold, AddsItsEventAndSendsItsSignal) {
  EXPECT_THAT(stat_with("--threshold calls=3:print").notes, HasSubstr("  calls\n"));
  EXPECT_EQ(stat_with("--threshold instructions=5000:signal=TERM").status, 128 + 15);
}

TEST(Threshold, ThatMakesNoSenseIsRefusedBeforeAnythingRuns) {
  const std::pair<const char*, const char*> problems[] = {
      {"instructions", "it is not EVENT=COUNT:ACTION"},
      {"=5:stop", "it is not EVENT=COUNT:ACTION"},
      {"instructions=5", "does not say what is to happen"},
      {"instructions=:stop", "is no count"},
      {"instructions=-5:stop", "is no count"},
      {"instructions=0:stop", "every count begins at 0"},
      {"instructions=18446744073709551616:stop", "is no count"},
      {"instructions=99999999T:stop", "is no count"},
      {"instructions=5:explode", "'explode' is nothing that can happen"},
      {"instructions=5:signal=NOBODY", "there is no signal 'NOBODY'"},
      {"nonesuch=5:stop", "nonesuch"},
      {"branches_taken=5:stop", "known behind its block"},
      {"l1d_misses=5:stop", "a model computes it"}};
  for (const auto& [threshold, message] : problems) {
    const Said said = stat_with(std::string("--threshold ") + threshold);
    EXPECT_EQ(said.status, 125) << threshold;
    EXPECT_THAT(said.notes, HasSubstr(message)) << threshold;
  }
  EXPECT_THAT(stat_with("--threshold loads=5:stop --threshold loads=5:stop").notes,
              HasSubstr("is there twice"));
  EXPECT_THAT(stat_with("--threshold loads=5:stop", "--source perf_events").notes,
              HasSubstr("thresholds are the virtual PMU's"));
  EXPECT_THAT(stat_with("--threshold loads=5:stop", "-r 3").notes, HasSubstr("about one run"));
}

}  // namespace
}  // namespace loft
#endif
