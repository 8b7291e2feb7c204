#include "source/perf_events/open.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>

#include "base/file.hpp"

namespace loft::source::perf_events {
namespace {

event::Event cycles() {
  event::Event event;
  event.name = "cycles";
  event.encoding = {"cpu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
  return event;
}

class Machine : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/loft-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  void paranoid(const std::string& level) {
    ASSERT_TRUE(replace_file(path_ + "/proc/sys/kernel/perf_event_paranoid", level + "\n"));
  }
  void pmu(const std::string& name) {
    std::filesystem::create_directories(path_ + "/sys/bus/event_source/devices/" + name);
  }
  Error explain(int number, Place place = {0, -1}, bool in_group = false) const {
    return explain_open_failure(number, cycles(), place, in_group, SystemRoot(path_));
  }

  std::string path_;
};

using OpenFailure = Machine;

TEST_F(OpenFailure, SaysThatThereAreNoCountersWhereThereIsNoPmu) {
  pmu("software");
  const Error error = explain(ENOENT);
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_NE(error.why.find("no hardware counters"), std::string::npos);
}

TEST_F(OpenFailure, SaysThatThePmuLacksTheEventWhereThereIsOne) {
  pmu("cpu");
  EXPECT_NE(explain(ENOENT).why.find("does not have this event"), std::string::npos);
}

TEST_F(OpenFailure, OffersACapabilityBeforeASysctlAndNeverMinusOne) {
  paranoid("3");
  const Error error = explain(EACCES);
  EXPECT_EQ(error.kind, ErrorKind::permission);
  EXPECT_LT(error.hint.find("cap_perfmon"), error.hint.find("sysctl"));
  EXPECT_EQ(error.hint.find("-1"), std::string::npos);
  EXPECT_NE(error.why.find("perf_event_paranoid is 3"), std::string::npos);
}

TEST_F(OpenFailure, ExplainsEachLimitByItself) {
  pmu("cpu");
  EXPECT_NE(explain(EMFILE).why.find("file descriptor"), std::string::npos);
  EXPECT_NE(explain(EINVAL, {0, -1}, true).why.find("more events than"), std::string::npos);
  EXPECT_NE(explain(EINVAL).why.find("refuses this encoding"), std::string::npos);
  EXPECT_NE(explain(ESRCH, {4711, -1}).why.find("no process 4711"), std::string::npos);
  EXPECT_NE(explain(EBUSY).why.find("exclusively"), std::string::npos);
  EXPECT_NE(explain(ENOSYS).why.find("without perf_event_open"), std::string::npos);
}

TEST_F(OpenFailure, ReadsNegativeParanoidLevels) {
  paranoid("-1");
  EXPECT_EQ(paranoid_level(SystemRoot(path_)), -1);
  paranoid("nonsense");
  EXPECT_EQ(paranoid_level(SystemRoot(path_)), std::nullopt);
}

}  // namespace
}  // namespace loft::source::perf_events
