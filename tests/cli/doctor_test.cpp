#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using nlohmann::json;

TEST(DoctorCommand, SaysForEveryCheckWhetherItWorksAndWhy) {
  const Said said = run_loft("doctor --format json");
  EXPECT_EQ(said.status, 0);
  const json result = json::parse(said.out, nullptr, false);
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["schema"], "loft.doctor/1");
  std::set<std::string> ids;
  for (const json& check : result["checks"]) {
    EXPECT_TRUE(ids.insert(check["id"]).second) << "twice: " << check["id"];
    EXPECT_FALSE(check["why"].get<std::string>().empty()) << check["id"];
    const std::string status = check["status"];
    EXPECT_TRUE(status == "ok" || status == "limited" || status == "missing") << status;
  }
  for (const char* id :
       {"hardware-counters", "virtual-pmu", "software-events", "bpf", "btf", "energy-powercap",
        "privileges", "descriptors", "locked-memory", "seccomp"})
    EXPECT_TRUE(ids.contains(id)) << id;
}

TEST(DoctorCommand, AgreesWithWhatStatCounts) {
  const json result = json::parse(run_loft("doctor --format json").out, nullptr, false);
  for (const json& check : result["checks"]) {
    if (check["id"] != "hardware-counters") continue;
    const int status = run_loft("stat -e cycles -- true").status;
    EXPECT_EQ(check["status"] == "missing", status == 125);
  }
}

TEST(DoctorCommand, NeverTellsAnybodyToOpenTheMachine) {
  const Said said = run_loft("doctor");
  EXPECT_EQ(said.out.find("paranoid=-1"), std::string::npos);
}

}  // namespace
}  // namespace loft
