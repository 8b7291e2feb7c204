#include "top/core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "top/fake_counters.hpp"

namespace loft::top {
namespace {

class CoreTest : public testing::Test {
 protected:
  CoreSample sample() { return sample(core_); }
  CoreSample sample(Core& core) {
    EXPECT_TRUE(core.ask(*gate_));
    pollfd waiting{gate_->fd(), POLLIN, 0};
    while (!core.has_answered()) ::poll(&waiting, 1, -1);
    gate_->take();
    return core.take(Nanoseconds(0));
  }

  static int some_cpu() { return allowed_cpus()->front(); }

  std::unique_ptr<Gate> gate_ = Gate::make().value();
  Core core_{some_cpu()};
};

TEST_F(CoreTest, CountsBetweenReadings) {
  core_.change(set_of({"a", "b"}, std::make_unique<FakeCounters>()));
  EXPECT_EQ(sample().why, "counting has just begun");
  const CoreSample first = sample();
  ASSERT_TRUE(first.is_read()) << first.why;
  EXPECT_EQ(first.counts[1].raw, 10u);
  EXPECT_GT(first.end, first.start);
  const CoreSample second = sample();
  EXPECT_EQ(second.start, first.end);  // nothing is counted twice, nothing is left out
  EXPECT_EQ(second.counts[0].raw, 10u);
}

TEST_F(CoreTest, ChangeTakesEffectAtTheBoundary) {
  auto old_counters = std::make_unique<FakeCounters>();
  auto new_counters = std::make_unique<FakeCounters>(7);
  FakeCounters* const before = old_counters.get();
  FakeCounters* const after = new_counters.get();
  core_.change(set_of({"a"}, std::move(old_counters)));
  (void)sample();
  EXPECT_TRUE(before->is_on);
  core_.change(set_of({"x", "y"}, std::move(new_counters)));
  EXPECT_FALSE(after->is_on);
  const CoreSample last_of_old = sample();
  EXPECT_EQ(last_of_old.set->request.events[0].name, "a");
  EXPECT_EQ(last_of_old.counts[0].raw, 10u);
  EXPECT_FALSE(before->is_on);
  EXPECT_TRUE(after->is_on);
  const CoreSample first_of_new = sample();
  EXPECT_EQ(first_of_new.start, last_of_old.end);
  EXPECT_EQ(first_of_new.set->request.events[1].name, "y");
  EXPECT_EQ(first_of_new.counts[1].raw, 7u);
}

TEST_F(CoreTest, ChangeThatCannotStartLeavesTheOldSet) {
  core_.change(set_of({"a"}, std::make_unique<FakeCounters>()));
  (void)sample();
  core_.change(set_of({"x"}, std::make_unique<FakeCounters>(1, false)));
  const CoreSample refused = sample();
  EXPECT_EQ(refused.counts[0].raw, 10u);
  EXPECT_THAT(refused.note, testing::HasSubstr("the old ones stay"));
  const CoreSample next = sample();
  EXPECT_EQ(next.set->request.events[0].name, "a");
  EXPECT_EQ(next.start, refused.end);
  EXPECT_EQ(next.counts[0].raw, 10u);
  EXPECT_EQ(next.note, "");
}

TEST_F(CoreTest, AnswerIsTakenOnce) {
  core_.change(set_of({"a"}, std::make_unique<FakeCounters>()));
  (void)sample();
  (void)sample();
  EXPECT_EQ(core_.take(Nanoseconds(0)).why, "its reader did not get the CPU in time");
}

TEST_F(CoreTest, CpuThatDoesNotExistIsOff) {
  Core core(1023);
  core.change(set_of({"a"}, std::make_unique<FakeCounters>()));
  EXPECT_THAT(sample(core).why, testing::HasSubstr("the CPU is off"));
  EXPECT_TRUE(core.was_moved());
  core.stop();
  EXPECT_FALSE(core.is_running());
}

TEST(FillCounts, TellsCountedScaledAndMissingApart) {
  CoreSet set = set_of({"counted", "scaled", "never", "refused"}, nullptr);
  set.why_missing[3] = "EACCES";
  const Nanoseconds ms = std::chrono::milliseconds(1);
  const std::vector<RawReading> before = {
      {100, 5 * ms, 5 * ms}, {100, 5 * ms, 2 * ms}, {1, 5 * ms, 2 * ms}, {}};
  const std::vector<RawReading> after = {
      {160, 15 * ms, 15 * ms}, {150, 15 * ms, 7 * ms}, {1, 15 * ms, 2 * ms}, {}};
  CoreSample sample;
  sample.set = std::make_shared<CoreSet>(std::move(set));
  sample.end = 10 * ms;
  fill_counts(sample, *sample.set, before, after);
  EXPECT_EQ(sample.counts[0].origin, sample::Origin::counted);
  EXPECT_EQ(sample.counts[0].raw, 60u);
  EXPECT_DOUBLE_EQ(sample.rate(0), 6000);
  EXPECT_EQ(sample.counts[1].origin, sample::Origin::scaled);
  EXPECT_DOUBLE_EQ(sample.rate(1), 10000);  // 50 in half of the time
  EXPECT_EQ(sample.counts[2].origin, sample::Origin::missing);
  EXPECT_EQ(sample.counts[3].why, "EACCES");
}

}  // namespace
}  // namespace loft::top
