#include "model/what_if.hpp"

#include <gtest/gtest.h>

namespace loft::model {
namespace {

using core::Cause;

RoofPoint function(const std::string& name, double share, Outcome outcome,
                   std::vector<std::pair<Cause, double>> gains) {
  RoofPoint point;
  point.subject.scope = Scope::function;
  point.subject.name = name;
  point.subject.share_of_time = share;
  point.subject.why = Why{};
  point.subject.why->outcome = outcome;
  point.subject.why->what_if = std::move(gains);
  return point;
}

// Half of the time would take a quarter as long: 0.5 / 4 + 0.5 = 0.625 of the time.
TEST(WhatIf, TheWholeGainsWhatItsFunctionsGainByTheirTime) {
  const WhatIf what_if =
      what_if_of({function("chase", 0.5, Outcome::limited, {{Cause::dram_latency, 4}}),
                  function("sum", 0.3, Outcome::limited, {{Cause::fp_latency, 3}})});
  ASSERT_EQ(what_if.whole.size(), 2u);
  EXPECT_EQ(what_if.whole[0].first, Cause::dram_latency);
  EXPECT_DOUBLE_EQ(what_if.whole[0].second, 1 / 0.625);
  EXPECT_EQ(what_if.whole[1].first, Cause::fp_latency);
  EXPECT_DOUBLE_EQ(what_if.whole[1].second, 1 / 0.8);
  EXPECT_DOUBLE_EQ(what_if.explained, 0.8);
  ASSERT_EQ(what_if.functions.size(), 2u);
  EXPECT_EQ(what_if.functions[0].name, "chase");
}

TEST(WhatIf, WhatTheModelDoesNotExplainGainsNothing) {
  const WhatIf what_if =
      what_if_of({function("chase", 0.5, Outcome::unexplained, {{Cause::dram_latency, 4}}),
                  function("sort", 0.2, Outcome::unclear, {{Cause::mispredictions, 2}}),
                  function("[kernel]", 0.3, Outcome::system, {})});
  EXPECT_TRUE(what_if.whole.empty());
  EXPECT_TRUE(what_if.functions.empty());
  EXPECT_EQ(what_if.explained, 0);
}

}  // namespace
}  // namespace loft::model
