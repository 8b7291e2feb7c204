// loft roof with real counters. This PMU counts no floating point, so that instructions and cycles,
// whose numbers follow from the programs in guest/, stand in for operations and bytes.
#include <gmock/gmock.h>

#include "lab_results.hpp"

namespace loft::lab {
namespace {

using ::testing::HasSubstr;

constexpr double kLongLoop = 60 * 2'000'000 + 7;  // instructions, of one cycle each

nlohmann::json run_of(const CaseResult& result) {
  if (result.json.is_object())
    for (const auto& point : result.json.at("points"))
      if (point.at("scope") == "run") return point;
  ADD_FAILURE() << result.status << result.notes;
  return {{"flops", 0}, {"bytes", 0}, {"gflops", 0}};
}

double sum_over(const CaseResult& result, const char* scope, const char* what) {
  double sum = 0;
  for (const auto& point : result.json.at("points"))
    if (point.at("scope") == scope && point.at(what).is_number())
      sum += point.at(what).get<double>();
  return sum;
}

TEST_F(Lab, HardwareCountersPlaceAProgramInOneRun) {
  const CaseResult result = result_of("roof_counted");
  EXPECT_EQ(result.status, 0) << result.notes;
  const auto run = run_of(result);
  EXPECT_EQ(result.json.at("counts"), "hardware counters");
  EXPECT_EQ(run.at("flops"), 2 * kLongLoop);
  EXPECT_EQ(run.at("bytes"), 8 * kLongLoop);
  EXPECT_NEAR(sum_over(result, "function", "flops"), 2 * kLongLoop, 2);
  EXPECT_NEAR(run.at("gflops").get<double>() * result.json.at("wall_s").get<double>(),
              2e-9 * kLongLoop, 1e-3);
}

TEST_F(Lab, EventsThatShareCountersGiveAnEstimate) {
  const CaseResult result = result_of("roof_shared");
  EXPECT_EQ(result.status, 0) << result.notes;
  EXPECT_NEAR(run_of(result).at("flops").get<double>(), 2 * kLongLoop, 0.2 * kLongLoop);
}

TEST_F(Lab, RunsAreRepeatedUntilNoEventOfTheRooflineSharesACounter) {
  const CaseResult result = result_of("roof_several_runs");
  EXPECT_EQ(result.status, 0) << result.notes;
  const auto run = run_of(result);
  EXPECT_EQ(run.at("flops"), 2 * kLongLoop);
  EXPECT_EQ(run.at("bytes"), 8 * kLongLoop);
  EXPECT_THAT(result.json.at("notes").dump(), HasSubstr("the program ran "));
}

TEST_F(Lab, ARunningProcessIsPlacedWithCounters) {
  const CaseResult result = result_of("roof_attached");
  EXPECT_EQ(result.status, 0) << result.notes;
  const double flops = run_of(result).at("flops").get<double>();
  EXPECT_GT(flops, 0);
  EXPECT_LE(flops, 2.0 * (1000.0 * 2'000'000 + 7)) << "more than it does in all";
  EXPECT_THAT(result.json.at("command").dump(), HasSubstr("process "));
}

}  // namespace
}  // namespace loft::lab
