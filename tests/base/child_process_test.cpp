#include "base/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/nameless_file.hpp"

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

TEST(ChildProcess, HasTheStreamsThatItIsGiven) {
  const auto in = memory_file("in"), out = memory_file("out"), err = memory_file("err");
  ASSERT_TRUE(in && out && err);
  ASSERT_TRUE(write_all(*in, "word", "in"));
  ASSERT_EQ(::lseek(in->get(), 0, SEEK_SET), 0);
  auto child = ChildProcess::prepare({"sh", "-c", "read x; echo got $x; echo bad >&2; exit 3"},
                                     {in->get(), out->get(), err->get()});
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->start());
  EXPECT_EQ(child->wait()->exit_code, 3);
  const auto text_of = [](const Fd& fd) {
    return read_file("/proc/self/fd/" + std::to_string(fd.get())).value_or("nothing");
  };
  EXPECT_EQ(text_of(*out), "got word\n");
  EXPECT_EQ(text_of(*err), "bad\n");
}

TEST(ChildProcess, OneThatWasMovedIsEndedByItsNewOwner) {
  auto first = ChildProcess::prepare({"sleep", "1000"});
  auto second = ChildProcess::prepare({"sh", "-c", "exit 5"});
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->start());
  const pid_t replaced = first->pid();
  *first = *std::move(second);
  EXPECT_EQ(::kill(replaced, 0), -1) << "what it owned before still runs";
  ASSERT_TRUE(first->start());
  EXPECT_EQ(first->wait()->exit_code, 5);
}

TEST(ChildProcess, ASignalReachesItAndItsTimeIsKnown) {
  auto child = ChildProcess::prepare({"sleep", "1000"});
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->start());
  child->signal(SIGTERM);  // SIGINT would be ignored below a shell that runs this in the background
  const auto end = child->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_GT(end->elapsed.count(), 0);
  child->signal(SIGTERM);  // it is gone, and nobody else gets it
}

TEST(ChildProcess, RefusesAnEmptyCommand) {
  EXPECT_FALSE(ChildProcess::prepare({}));
  EXPECT_FALSE(ChildProcess::prepare({""}));
}

}  // namespace
}  // namespace loft
