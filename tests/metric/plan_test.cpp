#include "metric/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/pfm.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class MetricPlanning : public testing::Test {
 protected:
  void SetUp() override {
    if (!event::Pfm::instance()) GTEST_SKIP() << "libpfm4 is not installed";
  }

  static MetricPlan plan_for(const char* cpu, const char* metrics,
                             const std::vector<std::string>& names) {
    Library library;
    library.add(read_loft("t", metrics), Tier::command);
    const auto pmu = event::core_pmu_of(cpu);
    EXPECT_TRUE(pmu) << cpu;
    event::ResolverOptions options;
    options.config_directory = "";
    options.share_directory = LOFT_SOURCE_DIR "/share";
    options.pretended_pmu = pmu.value_or("");
    event::Resolver resolver(options);
    auto plan = plan_metrics(library, names, resolver, {options.pretended_pmu, 0});
    EXPECT_TRUE(plan) << to_string(plan.error());
    return plan.value_or(MetricPlan{});
  }
};

TEST_F(MetricPlanning, HyperThreadingLeavesHalfOfTheCounters) {
  for (const char* cpu : {"ivb", "skx"}) {
    const auto plan = plan_for(cpu, "metric m = cycles\n", {"m"});
    EXPECT_EQ(plan.counters.of_pmu.at(cpu).general, 4) << cpu;
    EXPECT_EQ(plan.counters_without_smt, 8) << cpu;
  }
  const auto zen = plan_for("zen3", "metric m = cycles\n", {"m"});
  EXPECT_EQ(zen.counters.of_pmu.begin()->second.general, 6);
  EXPECT_EQ(zen.counters_without_smt, 0);
}

// The family of a pretended CPU is that of its PMU, not of the word after --cpu.
TEST_F(MetricPlanning, APresetIsThatOfThePretendedCpu) {
  const auto plan = plan_for("zen3", "metric m = PAPI_FP_INS\n", {"m"});
  for (const MissingOperand& missing : plan.missing)
    EXPECT_THAT(missing.why, Not(HasSubstr("FP_ARITH"))) << "an event of Intel's";
}

TEST_F(MetricPlanning, AMetricForOtherMachinesIsNamedWithItsVariants) {
  const char* metrics =
      "variant intel\nmetric m = FP_ARITH_INST_RETIRED:SCALAR_DOUBLE\n"
      "variant power\nmetric m = PM_CYC\n";
  const auto plan = plan_for("zen3", metrics, {"m"});
  EXPECT_THAT(plan.events, IsEmpty());
  ASSERT_THAT(plan.missing, SizeIs(1));
  EXPECT_EQ(plan.missing[0].name, "m");
  EXPECT_THAT(plan.missing[0].why, HasSubstr("intel, power"));
}

TEST_F(MetricPlanning, AConstantThatIsNotKnownIsNoEvent) {
  const auto plan = plan_for("skx", "metric m = instructions * L9_lat\n", {"m"});
  ASSERT_THAT(plan.missing, SizeIs(1));
  EXPECT_THAT(plan.missing[0].why, HasSubstr("'loft machine' measures it"));
}

TEST_F(MetricPlanning, ConstantsAloneNeedNoSet) {
  const auto plan = plan_for("skx", "const c = 3\nmetric m = c * 2\n", {"m"});
  EXPECT_EQ(plan.sets(), 0u);
  EXPECT_THAT(plan.constants, SizeIs(1));
}

}  // namespace
}  // namespace loft::metric
