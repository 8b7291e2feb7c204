#include "upc/play.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace loft::upc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSmall = "counters 8\nlow-bits 7\nhigh-bits 20\n";

Setup setup_of(const std::string& events) { return parse_setup(kSmall + events, "c").value(); }

Result<Played> played(const std::string& events, std::string_view stimulus,
                      std::uint64_t every = 0) {
  const Setup setup = setup_of(events);
  LOFT_TRY(const auto parsed, parse_stimulus(stimulus, "s", setup, 10'000'000));
  return play(setup, parsed, every);
}

std::string why_setup(std::string_view text) {
  const auto setup = parse_setup(text, "c");
  return setup ? "accepted" : to_string(setup.error());
}

std::string why_stimulus(std::string_view text) {
  const auto stimulus = parse_stimulus(text, "s", setup_of("select 1 as misses"), 1000);
  return stimulus ? "accepted" : to_string(stimulus.error());
}

TEST(Play, CountsWhatTheStimulusDoes) {
  const auto result = played("select 1 rising as edges\nselect 2 high as levels\nselect 11 low\n",
                             "repeat 500\n hold 3 1 2  # both\n hold 2\nend\npulse 10 1\n");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->cycles, 2510u);
  ASSERT_EQ(result->readings.size(), 1u);
  EXPECT_THAT(result->readings[0].counts, ElementsAre(505u, 1500u, 2510u));
}

TEST(Play, InterruptsComeInTheCycleOfTheCountAndAgainAfterAReset) {
  const auto result = played("select 3 high as hits threshold 1000\n",
                             "hold 1500 3\nhold 5\nstop\nreset\nstart\nhold 1500 3\n");
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->interrupts.size(), 2u);
  EXPECT_EQ(result->interrupts[0].cycle, 1000u);
  EXPECT_EQ(result->interrupts[0].count, 1000u);
  EXPECT_EQ(result->interrupts[1].count, 1000u);
  EXPECT_THAT(result->readings.back().counts, ElementsAre(1500u));
}

TEST(Play, ReadsOverTime) {
  const auto result = played("select 3 high\n", "hold 100 3\nhold 100\nhold 55 3\n", 50);
  ASSERT_TRUE(result.has_value());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const Reading& reading : result->readings)
    seen.emplace_back(reading.cycle, *reading.counts[0]);
  EXPECT_THAT(seen,
              ElementsAre(std::pair(50u, 50u), std::pair(100u, 100u), std::pair(150u, 100u),
                          std::pair(200u, 100u), std::pair(250u, 150u), std::pair(255u, 155u)));
}

TEST(Play, AnUpsetCounterHasNoCount) {
  const auto result =
      played("select 3 high as a\nselect 4 high as b\n", "hold 300 3 4\nflip a 2\nhold 300 3 4\n");
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->readings.back().counts, ElementsAre(std::nullopt, 600u));
  ASSERT_EQ(result->parity_errors.size(), 1u);
  EXPECT_EQ(result->parity_errors[0].counter, 3u);
  EXPECT_GE(result->parity_errors[0].cycle, 300u);
  EXPECT_LE(result->parity_errors[0].cycle, 300u + 128u + 3u);
}

TEST(SetupFile, SaysWhichLineIsWrongAndWhatToWrite) {
  EXPECT_THAT(why_setup(""), HasSubstr("selects no event"));
  EXPECT_THAT(why_setup("\n\nbogus 1"), HasSubstr("c:3"));
  EXPECT_THAT(why_setup("counters"), HasSubstr("takes one number"));
  EXPECT_THAT(why_setup("counters 99999999999"), HasSubstr("takes one number"));
  EXPECT_THAT(why_setup("counters 512\nselect 1"),
              HasSubstr("512 counters x 16 cycles a word = 8192"));
  EXPECT_THAT(why_setup("select 1024"), HasSubstr("0 to 1023"));
  EXPECT_THAT(why_setup("select 1 as a\nselect 2 as a"), HasSubstr("c:2"));
  EXPECT_THAT(why_setup("select 1\nselect 257"), HasSubstr("counter 1 counts event 1 already"));
  EXPECT_THAT(why_setup("select 1 threshold 0"), HasSubstr("no threshold"));
  EXPECT_THAT(why_setup("select 1 sideways"), HasSubstr("'sideways' is not understood"));
  EXPECT_THAT(why_setup("select 1 as 9\x1b[31m"), HasSubstr("is no name"));
}

TEST(Stimulus, SaysWhichLineIsWrongAndWhatToWrite) {
  EXPECT_EQ(why_stimulus("hold 3 misses all 0-31"), "accepted");
  EXPECT_THAT(why_stimulus("hold"), HasSubstr("needs a number"));
  EXPECT_THAT(why_stimulus("hold x"), HasSubstr("'x' is no number"));
  EXPECT_THAT(why_stimulus("hold 1 32"), HasSubstr("'32' is no event line"));
  EXPECT_THAT(why_stimulus("hold 1 5-2"), HasSubstr("no event line"));
  EXPECT_THAT(why_stimulus("random 5"), HasSubstr("needs a number"));
  EXPECT_THAT(why_stimulus("repeat 3\nhold 1"), HasSubstr("has no 'end'"));
  EXPECT_THAT(why_stimulus("hold 1\nend"), HasSubstr("s:2"));
  EXPECT_THAT(why_stimulus("flip misses 21"), HasSubstr("20 for parity"));
  EXPECT_THAT(why_stimulus("flip other 1"), HasSubstr("'flip' takes"));
  EXPECT_THAT(why_stimulus("stop now"), HasSubstr("takes nothing more"));
}

TEST(Stimulus, LongWordsAreCutInMessages) {
  const std::string word(100'000, 'x');
  EXPECT_LT(why_stimulus(word).size(), 300u);
  EXPECT_LT(why_stimulus("hold 1 " + word).size(), 300u);
  EXPECT_LT(why_setup(word).size(), 300u);
  EXPECT_LT(why_setup("select 1 as " + word).size(), 300u);
}

TEST(Stimulus, RefusesWhatWouldTakeTooLong) {
  EXPECT_THAT(why_stimulus("hold 1001"), HasSubstr("takes 1001 cycles, and the limit is 1000"));
  EXPECT_THAT(why_stimulus("repeat 18446744073709551615\nrepeat 18446744073709551615\nend\nend"),
              HasSubstr("more cycles than 64 bits"));
  EXPECT_THAT(why_stimulus("repeat 1000000\nstop\nend"), HasSubstr("limit is 1000"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "repeat 1\n";
  EXPECT_THAT(why_stimulus(deep), HasSubstr("nested deeper than 16"));
}

// Words of both languages in any order, and bytes of any kind: an error or a result, no crash.
RC_GTEST_PROP(Stimulus, SurvivesAnyText, ()) {
  const auto word = rc::gen::oneOf(
      rc::gen::element<std::string>("hold", "pulse", "random", "repeat", "end", "flip", "stop",
                                    "start", "reset", "select", "counters", "low-bits", "as",
                                    "threshold", "misses", "all", "0-3", "7", "0", "\n", "\n", "#"),
      rc::gen::arbitrary<std::string>());
  std::string text;
  for (const std::string& each : *rc::gen::container<std::vector<std::string>>(word))
    text += each + " ";
  (void)parse_setup(text, "c");
  const Setup setup = setup_of("select 1 as misses");
  if (const auto stimulus = parse_stimulus(text, "s", setup, 2000))
    RC_ASSERT(play(setup, *stimulus, 10).has_value());
}

}  // namespace
}  // namespace loft::upc
