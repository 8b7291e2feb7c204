#include "source/energy/usage.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.hpp"

namespace loft::source::energy {
namespace {

// A machine with two meters below a folder of the test's own.
class EnergyUsageTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "loft-energy-XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    ASSERT_TRUE(replace_file(zone("intel-rapl:0") + "/name", "package-0\n"));
    ASSERT_TRUE(replace_file(zone("intel-rapl:1") + "/name", "package-1\n"));
    set("intel-rapl:0", "1000000");
    set("intel-rapl:1", "5000000");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string zone(const std::string& name) const {
    return root_ + "/sys/class/powercap/" + name;
  }
  void set(const std::string& name, const std::string& microjoules) const {
    ASSERT_TRUE(replace_file(zone(name) + "/energy_uj", microjoules + "\n"));
  }
  // Those of the fake machine; a GPU of the real one may be among all.
  static std::vector<sample::EnergyUsed> of_packages(std::vector<sample::EnergyUsed> all) {
    std::erase_if(all, [](const auto& used) { return !used.meter.starts_with("package"); });
    return all;
  }

  std::string root_;
};

TEST_F(EnergyUsageTest, IsTheDifferenceOfTheMeters) {
  const auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "3500000");
  set("intel-rapl:1", "5000000");
  const auto used = of_packages(usage.so_far());
  ASSERT_EQ(used.size(), 2u);
  EXPECT_DOUBLE_EQ(used[0].joules, 2.5);
  EXPECT_DOUBLE_EQ(used[1].joules, 0);
}

TEST_F(EnergyUsageTest, AMeterThatWentAroundOrIsGoneIsLeftOut) {
  const auto usage = EnergyUsage::start(SystemRoot{root_});
  set("intel-rapl:0", "10");
  std::filesystem::remove_all(zone("intel-rapl:1"));
  EXPECT_TRUE(of_packages(usage.so_far()).empty());
}

}  // namespace
}  // namespace loft::source::energy
