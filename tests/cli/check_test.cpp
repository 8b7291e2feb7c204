#include <gtest/gtest.h>

#include "base/file.hpp"
#include "cli/run_loft.hpp"

namespace loft {
namespace {

class Check : public testing::Test {
 protected:
  void SetUp() override {
    if (run_loft("stat --source virtual -e instructions -- true").status != 0)
      GTEST_SKIP() << "the virtual PMU does not run here";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    base_ = folder_ + "/base.json";
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  std::string folder_ = "/tmp/loft-check-XXXXXX";
  std::string base_;
};

TEST_F(Check, CountsRepeatToTheInstruction) {
  const std::string app = " -- /bin/echo hello";
  ASSERT_EQ(run_loft("check --update --max instructions=+0 " + base_ + app).status, 0);
  const Said same = run_loft("check --max instructions=+0 --min instructions=-0 " + base_ + app);
  EXPECT_EQ(same.status, 0) << same.notes;
  EXPECT_NE(same.notes.find("+0.000 %"), std::string::npos) << same.notes;
}

TEST_F(Check, MoreThanTheBudgetIsStatusOneAndOneLine) {
  ASSERT_EQ(run_loft("check --update --max instructions=+1% " + base_ + " -- /bin/echo").status, 0);
  const Said more = run_loft("check --max instructions=+1% " + base_ +
                             " -- /bin/sh -c 'for i in 1 2 3; do /bin/echo; done'");
  EXPECT_EQ(more.status, 1);
  EXPECT_NE(more.notes.find("at most +1%: broken\n"), std::string::npos) << more.notes;
}

TEST_F(Check, JunitNamesEachBudget) {
  const std::string xml = folder_ + "/budgets.xml";
  const Said said = run_loft("check --max flops_dp=0 --max instructions=1 -o " + xml + " -- true");
  EXPECT_EQ(said.status, 1) << said.notes;
  const std::string text = read_file(xml).value();
  EXPECT_NE(text.find("tests=\"2\" failures=\"1\" errors=\"0\""), std::string::npos) << text;
}

TEST_F(Check, FailingProgramIsNotChecked) {
  const Said said = run_loft("check --max instructions=1 -- /bin/sh -c 'exit 7'");
  EXPECT_EQ(said.status, 7);
  EXPECT_NE(said.notes.find("nothing was checked"), std::string::npos);
}

TEST_F(Check, SaysWhatIsMissing) {
  EXPECT_NE(run_loft("check -- true").notes.find("there is no budget"), std::string::npos);
  EXPECT_NE(run_loft("check --max instructions=+1% -- true").notes.find("against a base"),
            std::string::npos);
  EXPECT_NE(run_loft("check --max instructions=x -- true").notes.find("is no number"),
            std::string::npos);
  EXPECT_EQ(run_loft("check --max instructions=+1% /nonexistent -- true").status, 125);
}

TEST(Spelling, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(run_loft("help roof").out, run_loft("roof --help").out);
  EXPECT_EQ(run_loft("help").out, run_loft("--help").out);
  EXPECT_EQ(run_loft("version").out, run_loft("--version").out);
}

TEST(Spelling, UnknownCommandNamesTheNearest) {
  const Said said = run_loft("rof -- true");
  EXPECT_EQ(said.status, 125);
  EXPECT_NE(said.notes.find("there is no command 'rof'; did you mean 'roof'?"), std::string::npos)
      << said.notes;
}

}  // namespace
}  // namespace loft
