#include "top/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "top/fake_counters.hpp"
#include "top/openmetrics.hpp"
#include "top/screen.hpp"

namespace loft::top {
namespace {

using testing::HasSubstr;

constexpr int kNoSuchCpu = 1023;

MonitorOptions options_for(CpuList cores) {
  MonitorOptions options;
  options.cores = std::move(cores);
  options.cpu = allowed_cpus()->front();
  options.interval = std::chrono::milliseconds(2);
  options.open = [](const metric::Request& request, int) -> Result<CoreSet> {
    if (!request.events.empty() && request.events[0].name == "refused")
      return failure(ErrorKind::unsupported, "count 'refused'", "nobody can");
    CoreSet set = set_of({"a"}, std::make_unique<FakeCounters>());
    if (!request.events.empty())
      set = set_of({request.events[0].name}, std::make_unique<FakeCounters>());
    return set;
  };
  return options;
}

metric::Request request_for(const std::string& name) {
  metric::Request request;
  request.events.emplace_back();
  request.events[0].name = name;
  return request;
}

class MonitorTest : public testing::Test {
 protected:
  void SetUp() override { before_ = *allowed_cpus(); }
  void TearDown() override { ASSERT_TRUE(set_allowed_cpus(0, before_)); }
  CpuList before_;
};

TEST_F(MonitorTest, SamplesFollowEachOtherWithoutGaps) {
  const int cpu = before_.front();
  auto monitor = Monitor::start(options_for({cpu, kNoSuchCpu}), {});
  ASSERT_TRUE(monitor) << to_string(monitor.error());
  std::uint64_t number = 0;
  int read = 0;
  Nanoseconds end{};
  ASSERT_TRUE(monitor->run({.samples = 10'000, .on_frame = [&](const Frame& frame) {
                              EXPECT_EQ(frame.number, ++number);
                              // It goes on with what is left.
                              EXPECT_FALSE(frame.cores[1].is_read());
                              EXPECT_TRUE(frame.cores[1].counts.empty());
                              const CoreSample& core = frame.cores[0];
                              if (!core.is_read()) return true;  // late, on a busy machine
                              if (read++ > 0) {
                                EXPECT_EQ(core.start, end);
                              }
                              end = core.end;
                              EXPECT_EQ(core.counts[0].raw, 10u);
                              return read < 5;
                            }}));
  EXPECT_EQ(read, 5);
}

TEST_F(MonitorTest, ChangeIsRefusedOrTakesEffect) {
  const int cpu = before_.front();
  auto monitor = Monitor::start(options_for({cpu}), request_for("a"));
  ASSERT_TRUE(monitor);
  EXPECT_THAT(monitor->change(kNoSuchCpu, request_for("b")).error().why, HasSubstr("not watched"));
  std::vector<std::string> names;
  ASSERT_TRUE(monitor->run({.on_frame = [&](const Frame& frame) {
    if (!frame.cores[0].set) return true;  // its reader is late, on a busy machine
    names.push_back(frame.cores[0].set->frame.events[0].name);
    if (names.size() == 2) {
      EXPECT_FALSE(monitor->change(cpu, request_for("refused")));
    }
    if (names.size() == 4) {
      EXPECT_TRUE(monitor->change(cpu, request_for("b")));
    }
    return names.back() != "b" && names.size() < 10'000;
  }}));
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "b");
  ASSERT_GE(names.size(), 5u);
  for (std::size_t i = 0; i + 1 < names.size(); ++i) EXPECT_EQ(names[i], "a");
}

// The threads of this process that may run on `cpu` alone: its readers.
std::vector<pid_t> readers_on(int cpu) {
  std::vector<pid_t> readers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const auto tid = static_cast<pid_t>(std::stol(entry.path().filename().string()));
    cpu_set_t set;
    CPU_ZERO(&set);
    if (tid != ::getpid() && ::sched_getaffinity(tid, sizeof set, &set) == 0 &&
        CPU_COUNT(&set) == 1 && CPU_ISSET(static_cast<std::size_t>(cpu), &set))
      readers.push_back(tid);
  }
  return readers;
}

// The kernel moves the threads of a core that goes off to others. Here somebody else does.
TEST_F(MonitorTest, CoreThatGoesOffIsWatchedAgainWhenItIsBack) {
  if (before_.size() < 2) GTEST_SKIP() << "a single CPU cannot go off";
  const int stays = before_.front();
  const int goes = before_.back();
  std::string root = "/tmp/loft-monitor-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const std::string online = root + "/sys/devices/system/cpu/online";
  std::filesystem::create_directories(root + "/sys/devices/system/cpu");
  ASSERT_TRUE(replace_file(online, std::to_string(stays) + "\n"));
  MonitorOptions options = options_for({stays, goes});
  options.root = SystemRoot(root);
  options.retry = std::chrono::milliseconds(1);
  auto monitor = Monitor::start(std::move(options), {});
  ASSERT_TRUE(monitor);
  enum { kOn, kMoved, kOff, kBack } phase = kOn;
  Nanoseconds off_since{};
  ASSERT_TRUE(monitor->run({.samples = 100'000, .on_frame = [&](const Frame& frame) {
                              const CoreSample& core = frame.cores[1];
                              if (phase == kOn && core.is_read()) {
                                for (const pid_t reader : readers_on(goes))
                                  EXPECT_TRUE(set_allowed_cpus(reader, {stays}));
                                phase = kMoved;
                              } else if (phase == kMoved && !core.set) {
                                EXPECT_THAT(core.why, HasSubstr("off"));
                                EXPECT_TRUE(core.counts.empty());
                                EXPECT_TRUE(readers_on(goes).empty()) << "it has no reader";
                                off_since = frame.time;
                                phase = kOff;
                              } else if (phase == kOff) {
                                const CpuList both{stays, goes};
                                EXPECT_TRUE(replace_file(online, format_cpu_list(both) + "\n"));
                                phase = kBack;
                              } else if (phase == kBack && core.is_read()) {
                                EXPECT_GE(core.start, off_since) << "nothing of before it was off";
                                EXPECT_EQ(core.counts[0].raw, 10u);
                                return false;
                              }
                              return true;
                            }}));
  EXPECT_EQ(phase, kBack);
  std::filesystem::remove_all(root);
}

std::size_t bytes_in_use() { return ::mallinfo2().uordblks; }

// A day at ten samples a second is 864,000: what a sample left behind would be seen after some
// hundred. Each is due at a multiple of the interval, however late the one before was.
TEST_F(MonitorTest, ManySamplesNeitherTakeMemoryNorDrift) {
  std::string root = "/tmp/loft-monitor-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  std::filesystem::create_directories(root + "/proc");
  ASSERT_TRUE(replace_file(root + "/proc/schedstat", "cpu0 0 0 0 0 0 0 1000 2000 3\n"));
  MonitorOptions options = options_for({before_.front()});
  options.root = SystemRoot(root);
  options.interval = std::chrono::milliseconds(1);
  auto monitor = Monitor::start(std::move(options), {});
  ASSERT_TRUE(monitor);
  constexpr std::uint64_t kEarly = 100;
  constexpr std::uint64_t kLast = 500;
  Screen screen({});
  Exposition exposition;
  std::size_t before = 0;
  std::size_t after = 0;
  ASSERT_TRUE(monitor->run({.samples = kLast, .on_frame = [&](const Frame& frame) {
                              // Shown often enough that no window of history still fills up.
                              for (int i = 0; i < 10; ++i) {
                                screen.add(frame);
                                exposition.add(frame);
                              }
                              if (frame.number == kEarly) before = bytes_in_use();
                              if (frame.number == kLast) after = bytes_in_use();
                              const auto number =
                                  static_cast<Nanoseconds::rep>(frame.number + frame.cost.skipped);
                              const Nanoseconds due = std::chrono::milliseconds(1) * number;
                              EXPECT_GE(frame.time, due) << frame.number;
                              return true;
                            }}));
  EXPECT_LE(after, before + 1024);
  std::filesystem::remove_all(root);
}

TEST_F(MonitorTest, WithoutCoresThereIsNothingToWatch) {
  EXPECT_FALSE(Monitor::start(options_for({}), {}));
}

}  // namespace
}  // namespace loft::top
