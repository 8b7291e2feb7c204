// A flag means the same in every command. Old spellings are understood but not shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using ::testing::HasSubstr;

struct Spelling {
  const char* command;
  const char* now;
  const char* old;
};

constexpr Spelling kSpellings[] = {
    {"roof", "--per-thread", "--threads"},
    {"report", "--tasks", "--threads"},
    {"record", "--recorder", "--by"},
    {"power fit", "--program", "--by"},
};

TEST(Flags, OldSpellingsAreNotInTheHelp) {
  for (const Spelling& spelling : kSpellings) {
    const Said said = run_loft(std::string(spelling.command) + " --help");
    EXPECT_NE(said.out.find(spelling.now), std::string::npos) << spelling.command;
    EXPECT_EQ(said.out.find(std::string("  ") + spelling.old), std::string::npos)
        << spelling.command;
  }
}

TEST(Flags, OldSpellingsAreNotCompleted) {
  const Said said = run_loft("completion fish");
  EXPECT_NE(said.out.find("recorder"), std::string::npos);
  EXPECT_EQ(said.out.find("__fish_seen_subcommand_from record' -l by"), std::string::npos);
}

// A value that no spelling takes is refused as a value; an unknown flag would be refused as a flag.
TEST(Flags, OldSpellingsAreUnderstood) {
  for (const char* flag : {"--recorder", "--by"}) {
    const Said said = run_loft(std::string("record ") + flag + " nothing -- true");
    EXPECT_EQ(said.status, 125);
    EXPECT_NE(said.notes.find("nothing"), std::string::npos) << said.notes;
    EXPECT_NE(said.notes.find(flag), std::string::npos) << said.notes;
  }
  for (const char* flag : {"--tasks", "--threads"}) {
    const Said said = run_loft(std::string("report ") + flag + " --schedule /nonexistent");
    EXPECT_EQ(said.status, 125);
    EXPECT_NE(said.notes.find("excludes"), std::string::npos) << said.notes;
  }
}

TEST(Help, OfEveryCommandShowsTwoExamplesAndWhereMoreIs) {
  for (const std::string name :
       {"doctor", "list",  "event",    "evset", "stat",   "run",       "call",
        "metric", "power", "machine",  "env",   "record", "report",    "compare",
        "check",  "roof",  "annotate", "top",   "upc",    "completion"}) {
    const std::string help = run_loft(name + " --help").out;
    EXPECT_THAT(help, ::testing::ContainsRegex(
                          "\nExamples:\n  loft [^\n]+\n  loft [^\n]+\nMore: man loft-"))
        << name;
    EXPECT_THAT(help, HasSubstr("man loft-" + name));
  }
}

// `script` gives a program a terminal.
TEST(Terminals, AFileThatWasWrittenIsNamedThereAndNotInPipes) {
  if (std::system("command -v script >/dev/null 2>&1") != 0) GTEST_SKIP() << "script is missing";
  std::string folder = "/tmp/loft-cli-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string line = LOFT_PROGRAM " doctor -o " + folder + "/checks.json";
  const Said seen = run_shell("script -qec '" + line + "' /dev/null", folder);
  EXPECT_THAT(seen.out, HasSubstr("/checks.json written"));
  EXPECT_EQ(run_loft("doctor -o /dev/null").notes, "");
}

}  // namespace
}  // namespace loft
