#include "sample/task_history.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

Mapping mapping(TaskHistory& history, std::uint64_t start, std::uint64_t end, const char* path) {
  return {start, end, 0, history.intern({.path = path})};
}

std::string path_at(const TaskHistory& history, std::uint32_t pid, std::uint64_t time,
                    std::uint64_t address) {
  const Mapping* found = history.find(history.space_at(pid, time), address);
  return found == nullptr ? "" : history.binaries()[found->binary].path;
}

TEST(TaskHistory, AChildStartsWithItsParentsMappings) {
  TaskHistory history;
  history.add_map({1, 10, mapping(history, 0, 100, "old")});
  history.add_fork({5, 20, 20, 10, 10});
  history.add_map({6, 10, mapping(history, 0, 100, "new")});
  EXPECT_EQ(path_at(history, 20, 7, 50), "old");
  EXPECT_EQ(path_at(history, 10, 7, 50), "new");
  EXPECT_EQ(path_at(history, 10, 5, 50), "old");
  EXPECT_EQ(path_at(history, 20, 4, 50), "") << "it did not exist yet";
}

TEST(TaskHistory, AnExecForgetsTheMappings) {
  TaskHistory history;
  history.add_map({1, 10, mapping(history, 0, 100, "shell")});
  history.add_comm({5, 10, 10, "app", true});
  EXPECT_EQ(path_at(history, 10, 4, 50), "shell");
  EXPECT_EQ(path_at(history, 10, 5, 50), "");
}

TEST(TaskHistory, ANameHoldsFromItsMomentOn) {
  TaskHistory history;
  history.add_comm({1, 10, 10, "first", false});
  history.add_comm({5, 10, 10, "second", false});
  history.add_fork({6, 10, 11, 10, 10});
  EXPECT_EQ(history.names()[history.comm_at(10, 4)], "first");
  EXPECT_EQ(history.names()[history.comm_at(10, 5)], "second");
  EXPECT_EQ(history.names()[history.comm_at(11, 9)], "second") << "a thread inherits its name";
  EXPECT_EQ(history.comm_at(12, 9), TaskHistory::kNoName);
}

TEST(TaskHistory, AProcessNumberUsedAgainIsAnotherProcess) {
  TaskHistory history;
  history.add_fork({1, 20, 20, 10, 10});
  history.add_exit({5, 20, 20, 10, 10});
  history.add_fork({8, 20, 20, 10, 10});
  int found = 0;
  for (const auto& process : history.processes()) found += process.pid == 20;
  EXPECT_EQ(found, 2);
}

TEST(TaskHistory, AKernelSymbolThatGoesAwayIsGone) {
  TaskHistory history;
  history.add_kernel_map(1, mapping(history, 1000, 2000, "[bpf]"));
  history.remove_kernel_map(5, 1000, 2000);
  EXPECT_NE(history.find(history.kernel_space_at(4), 1500), nullptr);
  EXPECT_EQ(history.find(history.kernel_space_at(5), 1500), nullptr);
}

}  // namespace
}  // namespace loft::sample
