// What the engine cannot run ends with a word, wherever in the program it is, and what ran is
// shown.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class StatRefused : public testing::Test {
 protected:
  void SetUp() override {
#ifndef LOFT_HAS_ENGINE
    GTEST_SKIP() << "there is no virtual PMU on this architecture";
#endif
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    std::string head(64, '\0');  // enough of a program for Intel 386
    head.replace(0, 7,
                 "\x7f"
                 "ELF\1\1\1");
    head[18] = 3;
    ASSERT_TRUE(replace_file(program(), head));
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  [[nodiscard]] std::string program() const { return folder_ + "/of-32-bits"; }
  [[nodiscard]] static Said stat(const std::string& rest) {
    return run_loft("stat --source virtual -e instructions " + rest);
  }

  std::string folder_ = "/tmp/loft-refused-XXXXXX";
};

TEST_F(StatRefused, AProgramThatCannotRunAtAllSaysWhyAndWhatToDo) {
  const Said said = stat("-- " + program());
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("of-32-bits: it is a 32-bit program"));
  EXPECT_THAT(said.notes, HasSubstr("build it for x86-64"));
  EXPECT_THAT(said.notes, Not(HasSubstr("shared library")));
}

TEST_F(StatRefused, AProcessOfAScriptEndsAndTheCountsOfTheOthersAreShown) {
  const Said said = stat("-- sh -c '(" + program() + "); echo on $?'");
  EXPECT_EQ(said.status, 125);
  EXPECT_EQ(said.out, "on 125\n");
  EXPECT_THAT(said.notes, HasSubstr("  instructions"));
  EXPECT_THAT(said.notes, HasSubstr("it is a 32-bit program"));
  EXPECT_THAT(said.notes, HasSubstr("with status 125"));
}

TEST_F(StatRefused, JsonHasTheCountsAndTheReason) {
  const Said said = stat("--format json -o " + folder_ + "/counts -- sh -c '" + program() + "; :'");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("it is a 32-bit program"));
  const json counts = json::parse(read_file(folder_ + "/counts").value_or(""), nullptr, false);
  ASSERT_TRUE(counts.is_object());
  EXPECT_GT(counts["events"][0]["value"].get<std::uint64_t>(), 1000u);
  EXPECT_THAT(counts["notes"].dump(), HasSubstr("it is a 32-bit program"));
}

TEST_F(StatRefused, IntervalsGoOnToTheEnd) {
  const Said said = stat("-I 50 -- sh -c '" + program() + "; sleep 0.2; echo on'");
  EXPECT_EQ(said.status, 125);
  EXPECT_EQ(said.out, "on\n");
  EXPECT_THAT(said.notes, HasSubstr("it is a 32-bit program"));
}

}  // namespace
}  // namespace loft
