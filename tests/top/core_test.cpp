#include "top/core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace loft::top {
namespace {

// Counts its own calls; each reading is ten more.
class FakeCounters : public CoreCounters {
 public:
  explicit FakeCounters(std::uint64_t step = 10, bool can_start = true)
      : step_(step), can_start_(can_start) {}
  bool start() noexcept override { return is_on = can_start_; }
  bool stop() noexcept override {
    is_on = false;
    return true;
  }
  bool read(std::span<RawReading> readings) noexcept override {
    value_ += step_;
    for (RawReading& reading : readings)
      reading = {value_, std::chrono::milliseconds(value_), std::chrono::milliseconds(value_)};
    return true;
  }
  bool is_on = false;

 private:
  std::uint64_t step_;
  bool can_start_;
  std::uint64_t value_ = 0;
};

CoreSet set_of(std::vector<std::string> names, std::unique_ptr<CoreCounters> counters) {
  CoreSet set;
  for (const std::string& name : names) {
    event::Event event;
    event.name = name;
    set.request.events.push_back(event);
    set.frame.events.push_back(sample::CountedEvent::of(event));
  }
  set.why_missing.resize(names.size());
  set.counters = std::move(counters);
  return set;
}

class CoreTest : public testing::Test {
 protected:
  CoreSample sample() { return sample(core_); }
  CoreSample sample(Core& core) {
    EXPECT_TRUE(core.ask(done_));
    pollfd waiting{done_.get(), POLLIN, 0};
    while (!core.has_answered()) ::poll(&waiting, 1, -1);
    std::uint64_t times = 0;
    EXPECT_GT(::read(done_.get(), &times, sizeof times), 0);
    return core.take(Nanoseconds(0));
  }

  static int some_cpu() { return allowed_cpus()->front(); }

  Fd done_{::eventfd(0, EFD_CLOEXEC)};
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
