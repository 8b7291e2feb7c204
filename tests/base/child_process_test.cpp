#include "base/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace loft {
namespace {

ProcessEnd run(const std::vector<std::string>& command) {
  auto child = ChildProcess::prepare(command);
  EXPECT_TRUE(child);
  EXPECT_TRUE(child->start());
  const auto end = child->wait();
  EXPECT_TRUE(end);
  return end.value_or(ProcessEnd{});
}

TEST(ChildProcess, PassesTheExitCodeThrough) {
  EXPECT_EQ(run({"sh", "-c", "exit 42"}).shell_status(), 42);
}

TEST(ChildProcess, ReportsAKillingSignalAs128PlusN) {
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).shell_status(), 128 + SIGTERM);
}

TEST(ChildProcess, DoesNotRunBeforeStart) {
  auto child = ChildProcess::prepare({"sh", "-c", "exit 7"});
  ASSERT_TRUE(child);
  EXPECT_EQ(::kill(child->pid(), 0), 0);
  ASSERT_TRUE(child->start());
  EXPECT_EQ(child->wait()->exit_code, 7);
}

TEST(ChildProcess, IsKilledWithItsOwner) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::prepare({"sleep", "1000"});
    ASSERT_TRUE(child);
    ASSERT_TRUE(child->start());
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ChildProcess, TellsMissingFromNotExecutable) {
  auto missing = ChildProcess::prepare({"no-such-program-of-loft"});
  ASSERT_TRUE(missing);
  const auto not_found = missing->start();
  ASSERT_FALSE(not_found);
  EXPECT_EQ(not_found.error().kind, ErrorKind::no_such_command);

  auto folder = ChildProcess::prepare({"/etc/passwd"});
  ASSERT_TRUE(folder);
  const auto refused = folder->start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::cannot_execute);
}

TEST(ChildProcess, RefusesAnEmptyCommand) {
  EXPECT_FALSE(ChildProcess::prepare({}));
  EXPECT_FALSE(ChildProcess::prepare({""}));
}

}  // namespace
}  // namespace loft
