#include "view/budgets.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace loft::view {
namespace {

using metric::Number;
using metric::Side;
using metric::Value;

Value counted(std::uint64_t count) {
  return {.number = Number::of(count), .kind = sample::Origin::counted, .why = {}, .ci95 = {}};
}

CheckedBudgets two_budgets() {
  const auto held = [](const char* text, const Value& base, const Value& now) {
    return metric::hold(metric::parse_budget(text, Side::most).value(), {}, base, now);
  };
  const Value missing{.number = {}, .why = "no <counter>", .ci95 = {}};
  return {"./a&b",
          1.5,
          {held("instructions=+1%", counted(1000), counted(1011)), held("cycles=5", {}, missing),
           held("flops=0", {}, counted(0))}};
}

TEST(Budgets, OneLineEachSaysWhatWasHeldAgainstWhat) {
  EXPECT_EQ(budgets_text(two_budgets()),
            "instructions: 1,011 (base 1,000, +1.100 %), at most +1%: broken\n"
            "cycles: n/a, at most 5: unknown, no <counter>\n"
            "flops: 0, at most 0: kept\n");
}

TEST(Budgets, JsonKeepsWholeNumbersAndNulls) {
  const auto json = nlohmann::json::parse(budgets_json(two_budgets()));
  EXPECT_EQ(json["schema"], "loft.check/1");
  EXPECT_EQ(json["broken"], 1);
  EXPECT_EQ(json["unknown"], 1);
  EXPECT_EQ(json["budgets"][0]["value"].dump(), "1011");
  EXPECT_EQ(json["budgets"][0]["limit"].dump(), "1010");
  EXPECT_TRUE(json["budgets"][1]["value"].is_null());
  EXPECT_TRUE(json["budgets"][2]["base"].is_null());
}

TEST(Budgets, JunitCountsFailuresAndEscapes) {
  const std::string xml = budgets_junit(two_budgets());
  EXPECT_NE(xml.find("<testsuite name=\"loft check ./a&amp;b\" tests=\"3\" failures=\"1\" "
                     "errors=\"1\" time=\"1.500\">"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<error message=\"cycles: n/a, at most 5: unknown, no &lt;counter&gt;\"/>"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<failure message=\"instructions: 1,011"), std::string::npos) << xml;
}

}  // namespace
}  // namespace loft::view
