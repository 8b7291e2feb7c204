#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/repeat.hpp"

namespace loft::source {
namespace {

using sample::Count;
using testing::HasSubstr;

// Every run counts 100 more than the one before.
struct Growing {
  int runs = 0;
  Result<sample::RunCounts> operator()(const CountRequest&) {
    sample::RunCounts run;
    run.events = {
        {"x", "test", "", 1, false, Count::exact(100 * static_cast<std::uint64_t>(++runs))}};
    return run;
  }
};

TEST(RepeatPolicy, TheResultIsTheMeanOfTheRuns) {
  Growing program;
  const auto run = count_repeatedly({}, {.runs = 3}, std::ref(program), {});
  ASSERT_TRUE(run);
  EXPECT_EQ(program.runs, 3);
  EXPECT_DOUBLE_EQ(run->events[0].value(), 200);
}

TEST(RepeatPolicy, WithATargetWhatIsUncertainIsNamed) {
  Growing program;
  RepeatPolicy policy;
  policy.target = 0.02;
  const auto run = count_repeatedly({}, policy, std::ref(program),
                                    [](const auto&) { return std::vector<std::string>{"x"}; });
  ASSERT_TRUE(run);
  EXPECT_EQ(program.runs, 1);
  ASSERT_EQ(run->notes.size(), 1u);
  EXPECT_THAT(run->notes[0], HasSubstr("not known to within 2 %: x"));
}

TEST(RepeatPolicy, WithoutATargetNobodyIsAsked) {
  Growing program;
  bool asked = false;
  ASSERT_TRUE(count_repeatedly({}, {}, std::ref(program), [&](const auto&) {
    asked = true;
    return std::vector<std::string>{};
  }));
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace loft::source
