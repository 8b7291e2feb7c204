#include "model/machine_constants.hpp"

#include <gtest/gtest.h>

namespace loft::model {
namespace {

TEST(MachineConstants, CarryTheirUnitAndOrigin) {
  Machine machine;
  machine.frequency_hz = 3.2e9;
  machine.constants = {
      {"L1_lat", "cycles", 4, 4, 1.25, 4, 0.02, Verdict::stable, "measured", ""},
      {"Mem_bw", "bytes_per_second", 2e10, 0, 0, 2e10, 0.2, Verdict::noisy, "measured", ""},
      {"L2_lat", "cycles", 14, 14, 4, 14, 0, Verdict::stable, "/home/me/constants", ""},
      {"L3_lat", "cycles", 0, 0, 0, 0, 0, Verdict::unavailable, "measured", "no such level"}};
  const auto constants = metric_constants(machine, "m.json");
  ASSERT_EQ(constants.size(), 4u) << "what could not be measured is no constant, least of all 0";
  EXPECT_EQ(constants[0].origin, "measured, m.json, spread 2.0 %");
  EXPECT_EQ(constants[1].unit->text, "B/s");
  EXPECT_EQ(constants[1].origin, "measured, m.json, spread 20.0 %, noisy");
  EXPECT_EQ(constants[2].origin, "/home/me/constants");
  EXPECT_EQ(constants[3].name, "frequency_hz");
}

}  // namespace
}  // namespace loft::model
