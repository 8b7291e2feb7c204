#include "top/accounts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"

namespace loft::top {
namespace {

using std::chrono::milliseconds;

TEST(Accounts, SchedstatTellsRunAndWait) {
  const auto accounts = parse_schedstat(
      "version 17\ntimestamp 4294\ncpu0 0 0 10 4 7 3 5000000 2000000 11\n"
      "domain0 SMT 03 1 2 3\ncpu1 0 0 1 1 1 1 7 8 9\ncpu2 broken\n");
  ASSERT_EQ(accounts.size(), 2u);
  EXPECT_EQ(accounts.at(0).busy, milliseconds(5));
  EXPECT_EQ(accounts.at(0).waited, milliseconds(2));
}

TEST(Accounts, StatCountsNeitherIdleNorStolenTime) {
  const auto accounts =
      parse_stat("cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 4 1000 1000 8 16 1000 0 0\ncpu1 1 2\nintr 5\n",
                 milliseconds(10));
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts.at(0).busy, milliseconds(310));
  EXPECT_EQ(accounts.at(0).waited, std::nullopt);
}

class CpuAccountsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(replace_file(folder_ + "/proc/" + name, text));
  }
  std::string folder_ = "/tmp/loft-accounts-XXXXXX";
};

TEST_F(CpuAccountsTest, SharesAreOfTheTimeBetweenReadings) {
  write("schedstat", "cpu0 0 0 0 0 0 0 1000000 0 0\n");
  CpuAccounts accounts{SystemRoot(folder_)};
  accounts.read(milliseconds(100));
  EXPECT_EQ(accounts.busy(0), std::nullopt);  // one reading is no share
  write("schedstat", "cpu0 0 0 0 0 0 0 26000000 150000000 0\n");
  accounts.read(milliseconds(200));
  EXPECT_DOUBLE_EQ(accounts.busy(0).value(), 0.25);
  EXPECT_DOUBLE_EQ(accounts.waiting(0).value(), 1.5);  // more than one task waited
  EXPECT_EQ(accounts.busy(7), std::nullopt);
}

TEST_F(CpuAccountsTest, TicksAreTakenOverTheLastSecond) {
  CpuAccounts accounts{SystemRoot(folder_)};
  for (int i = 0; i <= 20; ++i) {  // busy in the first second, idle in the second
    write("stat", "cpu0 " + std::to_string(std::min(i, 10) * 10) + " 0 0 0 0 0 0 0\n");
    accounts.read(milliseconds(100 * i));
    if (i == 15) {
      EXPECT_NEAR(accounts.busy(0).value(), 0.5, 1e-9);
    }
  }
  EXPECT_DOUBLE_EQ(accounts.busy(0).value(), 0);
  EXPECT_EQ(accounts.waiting(0), std::nullopt);
}

TEST_F(CpuAccountsTest, WithoutAccountsNothingIsKnown) {
  CpuAccounts accounts{SystemRoot(folder_)};
  accounts.read(milliseconds(1));
  accounts.read(milliseconds(2));
  EXPECT_EQ(accounts.busy(0), std::nullopt);
}

}  // namespace
}  // namespace loft::top
