#include "core/parameters.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "core/measured.hpp"

namespace loft::core {
namespace {

TEST(Parameters, KnownCoresCanBeTimed) {
  for (const char* name : {"zen3", "zen4", "skylake", "icelake"}) {
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
    const double value = parameter.value + 1;
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

TEST(Parameters, TakeWhatAMachineMeasured) {
  CoreParameters core = *core_parameters("zen3");
  EXPECT_EQ(apply_measured(core, "dram_latency_cycles", 574.5), 1u);
  EXPECT_EQ(core.dram_latency, (Parameter{574.5, Origin::measured}));
  EXPECT_EQ(apply_measured(core, "register_file_latency_cycles", 4), 2u);
  EXPECT_EQ(core[Op::int_to_vector].latency.value, 4);
  EXPECT_EQ(apply_measured(core, "load_per_cycle", 2.94), 1u);
  EXPECT_EQ(core[Unit::load].value, 3);
  EXPECT_EQ(apply_measured(core, "int_add_per_cycle", 5.96), 1u);
  EXPECT_EQ(core.cluster_count[static_cast<std::size_t>(Cluster::integer)].value, 6);
  EXPECT_TRUE(check(core));
  EXPECT_EQ(apply_measured(core, "nop_per_cycle", 6), 0u);
  EXPECT_EQ(apply_measured(core, "l1_latency_cycles", -1), 0u);
}

TEST(Parameters, EveryMeasurementHasAParameter) {
  for (const char* name :
       {"issue_width_per_cycle", "reorder_window_instructions", "misprediction_cycles",
        "fp_fma_latency_cycles", "fp_div_occupancy_cycles", "store_forward_fp_latency_cycles",
        "dram_misses_in_flight", "page_walks_in_flight", "dram_load_bytes_per_cycle",
        "line_transfer_latency_cycles", "fp_fma_256_per_cycle", "branch_taken_per_cycle"}) {
    CoreParameters core = *core_parameters("skylake");
    EXPECT_EQ(apply_measured(core, name, 7), 1u) << name;
    EXPECT_TRUE(check(core)) << name;
  }
}

}  // namespace
}  // namespace loft::core
