// A flag means the same in every command. Old spellings are understood but not shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

// It reads a recording that never goes on. When it has taken the beginning, it is interrupted.
TEST(Interrupts, EndInAnHonestLine) {
  int input[2], errors[2];
  ASSERT_EQ(::pipe(input) | ::pipe(errors), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    ::signal(SIGINT, SIG_DFL);  // a script that runs the tests in the background ignores it
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    for (const int fd : {input[0], input[1], errors[0], errors[1]}) ::close(fd);
    ::execl(LOFT_PROGRAM, "loft", "report", "-", static_cast<char*>(nullptr));
    ::_exit(99);
  }
  ::close(errors[1]);
  ASSERT_EQ(::write(input[1], "PERFILE2", 8), 8);
  for (int left = 8; left > 0;) {
    ASSERT_EQ(::ioctl(input[0], FIONREAD, &left), 0);
    ::usleep(1000);
  }
  ASSERT_EQ(::kill(-pid, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  char said[200] = {};
  EXPECT_GT(::read(errors[0], said, sizeof said - 1), 0);
  EXPECT_STREQ(said, "loft: interrupted before it was done\n");
  for (const int fd : {input[0], input[1], errors[0]}) ::close(fd);
}

}  // namespace
}  // namespace loft
