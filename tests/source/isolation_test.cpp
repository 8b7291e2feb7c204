// Isolation of a program from others. The cases that change where tasks run do so as a user of
// their own, so that nobody else's tasks are touched; that takes root.
#include "source/scheduler/isolation.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "source/scheduler/cpuset_partition.hpp"
#include "source/scheduler/placement.hpp"

namespace loft::source::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChooseCpus, LeavesTheFirstCoreWithAllItsThreadsToOthers) {
  const std::string folder = ::testing::TempDir() + "loft-isolation-" + std::to_string(::getpid());
  const std::string core = folder + "/sys/devices/system/cpu/cpu0/topology";
  std::filesystem::create_directories(core);
  std::ofstream(core + "/thread_siblings_list") << "0,4\n";
  const auto cpus = choose_cpus({}, {0, 1, 2, 3, 4, 5}, SystemRoot(folder));
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(cpus);
  EXPECT_THAT(*cpus, ElementsAre(1, 2, 3, 5));
}

TEST(ChooseCpus, DividesTheThreadsOfTheOnlyCore) {
  EXPECT_THAT(*choose_cpus({}, {0, 1}, SystemRoot("/nowhere")), ElementsAre(1));
  EXPECT_THAT(*choose_cpus({}, {3}, SystemRoot("/nowhere")), IsEmpty());
}

TEST(ChooseCpus, RefusesToLeaveNothingForOthers) {
  EXPECT_THAT(*choose_cpus({1}, {0, 1}), ElementsAre(1));
  EXPECT_FALSE(choose_cpus({0, 1}, {0, 1}));
  EXPECT_FALSE(choose_cpus({7}, {0, 1}));
}

TEST(TaskStat, ANameMayHoldAnything) {
  const std::string rest =
      " S 17 1 1 0 -1 2097152 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0";
  const auto task = parse_task_stat("42 (a ) S 1 (b)" + rest, 40);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->tid, 42);
  EXPECT_EQ(task->pid, 40);
  EXPECT_EQ(task->parent, 17);
  EXPECT_EQ(task->start, 4711u);
  EXPECT_TRUE(task->is_kernel);
  EXPECT_EQ(task->name, "a ) S 1 (b");
  EXPECT_EQ(task->cpu, 3u);
  EXPECT_FALSE(parse_task_stat("42 (short) S 1", 42));
  EXPECT_FALSE(parse_task_stat("", 42));
}

TEST(CpusetPartition, LeavesNothingBehindWhereTheKernelDoesNotAgree) {
  const std::string folder = ::testing::TempDir() + "loft-cpuset-" + std::to_string(::getpid());
  const std::string top = folder + "/sys/fs/cgroup";
  std::filesystem::create_directories(top);
  EXPECT_FALSE(CpusetPartition::make({1}, {1}, SystemRoot(folder))) << "there is no such thing";
  std::ofstream(top + "/cgroup.controllers") << "cpuset cpu\n";
  std::ofstream(top + "/cgroup.subtree_control") << "cpu\n";
  // A folder in which no files appear by themselves.
  EXPECT_FALSE(CpusetPartition::make({1}, {1}, SystemRoot(folder)));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(top)) ++entries;
  EXPECT_EQ(entries, 2u);
  std::string line;
  std::getline(std::ifstream(top + "/cgroup.subtree_control"), line);
  EXPECT_EQ(line.substr(0, 7), "-cpuset");
  std::filesystem::remove_all(folder);
}

// A user that nobody else is, also when cases run at the same time.
const uid_t kNobodyElse = 100'000 + static_cast<uid_t>(::getpid());

class IsolationOfTasks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be a user of its own";
    const auto allowed = allowed_cpus();
    ASSERT_TRUE(allowed);
    if (allowed->size() < 2) GTEST_SKIP() << "there is only one CPU";
    all_ = *allowed;
  }
  void TearDown() override {
    for (const pid_t pid : started_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    // The guardians still at work would take the tasks of the next case for their own.
    if (!started_.empty()) {
      EXPECT_TRUE(wait_until([] { return nobody_is_left(); }));
    }
  }
  static bool nobody_is_left() {
    for (const LivingTask& task : living_tasks())
      if (owner_of(task.pid) == kNobodyElse) return false;
    return true;
  }

  template <class Work>
  pid_t start_as_nobody_else(Work work) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::setresuid(kNobodyElse, kNobodyElse, kNobodyElse) != 0) ::_exit(1);
      work();
      ::_exit(0);
    }
    started_.push_back(pid);
    return pid;
  }
  pid_t start_sleeper() {
    const pid_t pid = start_as_nobody_else([] { ::pause(); });
    wait_until([&] { return owner_of(pid) == kNobodyElse; });
    return pid;
  }
  static uid_t owner_of(pid_t pid) {
    std::error_code ignored;
    struct stat status {};
    return ::stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 ? status.st_uid : 0;
  }
  template <class Condition>
  static bool wait_until(Condition condition) {
    for (int i = 0; i < 3000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  [[nodiscard]] static CpuList cpus_of(pid_t pid) { return allowed_cpus(pid).value_or(CpuList()); }

  CpuList all_;
  std::vector<pid_t> started_;
};

// The one that isolates is killed, as nothing else would let it go without a chance to clean up.
TEST_F(IsolationOfTasks, IsUndoneWhenItsOwnerIsKilled) {
  const CpuList own{all_.back()};
  const CpuList others(all_.begin(), all_.end() - 1);
  const pid_t program = start_sleeper();
  const pid_t bystander = start_sleeper();
  const pid_t owner = start_as_nobody_else([&] {
    const auto isolation = Isolation::begin({program}, {own, false});
    if (isolation) ::pause();
  });
  EXPECT_TRUE(wait_until([&] { return cpus_of(program) == own && cpus_of(bystander) == others; }));
  ::kill(owner, SIGKILL);
  EXPECT_TRUE(wait_until([&] { return cpus_of(program) == all_ && cpus_of(bystander) == all_; }));
}

TEST_F(IsolationOfTasks, TasksThatWereBornMeanwhileGetTheCpusOfTheirParents) {
  const CpuList own{all_.back()};
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* numbers = static_cast<std::atomic<pid_t>*>(shared);  // go on, then the child's number
  const pid_t program = start_sleeper();
  const pid_t parent = start_as_nobody_else([&] {
    while (numbers[0] == 0) ::usleep(1000);
    const pid_t child = ::fork();
    if (child == 0) ::pause();
    numbers[1] = child;
    ::pause();
  });
  const pid_t owner = start_as_nobody_else([&] {
    auto isolation = Isolation::begin({program}, {own, false});
    while (numbers[2] == 0) ::usleep(1000);
    if (isolation) ::_exit(isolation->end().empty() ? 0 : 1);
  });
  ASSERT_TRUE(wait_until([&] { return cpus_of(parent) != all_; }));
  numbers[0] = 1;
  ASSERT_TRUE(wait_until([&] { return numbers[1] != 0; }));
  const pid_t child = numbers[1];
  EXPECT_EQ(cpus_of(child), CpuList(all_.begin(), all_.end() - 1));
  numbers[2] = 1;
  int status = 0;
  ::waitpid(owner, &status, 0);
  started_.pop_back();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cpus_of(child), all_);
  EXPECT_EQ(cpus_of(parent), all_);
  ::kill(child, SIGKILL);
  ::munmap(shared, 4096);
}

TEST_F(IsolationOfTasks, ATaskThatChoseOtherCpusMeanwhileKeepsThem) {
  const CpuList own{all_.back()};
  const CpuList chosen{all_.front()};
  const pid_t program = start_sleeper();
  const pid_t bystander = start_sleeper();
  const pid_t pinned = start_sleeper();
  ASSERT_TRUE(set_allowed_cpus(pinned, {all_.front()}));
  const pid_t owner = start_as_nobody_else([&] {
    const auto isolation = Isolation::begin({program}, {own, false});
    if (isolation) ::pause();
  });
  ASSERT_TRUE(wait_until([&] { return cpus_of(bystander) != all_; }));
  ASSERT_TRUE(set_allowed_cpus(program, chosen));
  ::kill(owner, SIGKILL);
  EXPECT_TRUE(wait_until([&] { return cpus_of(bystander) == all_; }));
  EXPECT_EQ(cpus_of(program), chosen);
  EXPECT_THAT(cpus_of(pinned), ElementsAre(all_.front()));
}

TEST_F(IsolationOfTasks, SaysWhatItCouldDoAndWhatNot) {
  const pid_t program = start_sleeper();
  int words[2];
  ASSERT_EQ(::pipe(words), 0);
  start_as_nobody_else([&] {
    const auto isolation = Isolation::begin({program}, {{all_.back()}, false});
    if (!isolation) return;
    for (const std::string& line : isolation->report())
      if (::write(words[1], (line + "\n").data(), line.size() + 1) < 0) return;
  });
  ::close(words[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(words[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(words[0]);
  EXPECT_THAT(text, ::testing::HasSubstr("isolated: the program on CPU"));
  EXPECT_THAT(text, ::testing::HasSubstr("tasks of other users may come"));
  EXPECT_THAT(text, ::testing::HasSubstr("CAP_SYS_NICE"));
}

}  // namespace
}  // namespace loft::source::scheduler
