#include "core/parameters.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace loft::core {
namespace {

TEST(Parameters, KnownCoresCanBeTimed) {
  for (const char* name : {"zen3", "zen4", "skylake", "icelake", "golden_cove"}) {
    const auto core = core_parameters(name);
    ASSERT_TRUE(core) << name;
    EXPECT_TRUE(check(*core)) << name;
  }
  EXPECT_FALSE(core_parameters("z80"));
}

TEST(Parameters, EachHasANameOfItsOwnAndCanBeSetByIt) {
  CoreParameters core = *core_parameters("zen3");
  std::set<std::string> names;
  for_each_parameter(core, [&](const ParameterName& name, const Parameter& parameter) {
    EXPECT_TRUE(names.insert(name.name).second) << name.name;
    CoreParameters changed = core;
    const double value = name.name == "core_share" ? 0.5 : parameter.value + 1;
    ASSERT_TRUE(set_parameter(changed, name.name, value, Origin::measured)) << name.name;
    EXPECT_NE(changed, core) << name.name;
  });
  EXPECT_TRUE(names.contains("dram_latency"));
  EXPECT_TRUE(names.contains("latency.fp_fma"));
  EXPECT_TRUE(names.contains("units.fp_mul"));
  EXPECT_TRUE(names.contains("occupancy.fp_div_double"));
  ASSERT_TRUE(set_parameter(core, "dram_latency", 574, Origin::measured));
  EXPECT_EQ(core.dram_latency, (Parameter{574, Origin::measured}));
}

TEST(Parameters, ValuesThatMakeNoSenseAreRefused) {
  CoreParameters core = *core_parameters("zen3");
  EXPECT_FALSE(set_parameter(core, "issue_width", 0, Origin::measured));
  EXPECT_FALSE(set_parameter(core, "dram_bandwidth", -1, Origin::measured));
  EXPECT_FALSE(set_parameter(core, "fill_buffers", 1e9, Origin::measured));
  EXPECT_FALSE(set_parameter(core, "dram_latency", std::numeric_limits<double>::quiet_NaN(),
                             Origin::measured));
  EXPECT_FALSE(set_parameter(core, "speed_of_light", 1, Origin::measured));
  EXPECT_EQ(core, *core_parameters("zen3"));
  EXPECT_FALSE(check(CoreParameters{}));
}

}  // namespace
}  // namespace loft::core
