#include "top/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "top/fake_counters.hpp"

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

TEST_F(MonitorTest, WithoutCoresThereIsNothingToWatch) {
  EXPECT_FALSE(Monitor::start(options_for({}), {}));
}

}  // namespace
}  // namespace loft::top
