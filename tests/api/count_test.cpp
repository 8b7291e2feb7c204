#include "loft/count.hpp"

#include <gtest/gtest.h>

namespace {

void spin() {
  volatile double value = 1;
  for (int i = 0; i < 1000000; ++i) value = value * 1.0000001;
}

TEST(Counters, CountOnlyWhileStarted) {
  loft::Counters counters("task-clock");
  counters.start();
  spin();
  counters.stop();
  const double first = counters.values()[0].value;
  EXPECT_GT(first, 0);
  spin();
  EXPECT_EQ(counters.values()[0].value, first);
}

TEST(Counters, SayWhatCannotBeCounted) {
  try {
    loft::Counters counters("no-such-event");
    FAIL();
  } catch (const loft::CountError& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-event"), std::string::npos);
  }
}

TEST(Counters, AMissingEventHasAReasonAndNoValue) {
  loft::Counters counters("task-clock,cycles");
  counters.start();
  spin();
  counters.stop();
  const auto cycles = counters.values()[1];
  if (cycles.is_available()) {
    EXPECT_GT(cycles.value, 0);
  } else {
    EXPECT_FALSE(cycles.why.empty());
  }
}

TEST(Counters, RefuseBadArguments) {
  char why[16];
  EXPECT_EQ(loft_counters_open(nullptr, why, sizeof why), nullptr);
  EXPECT_EQ(loft_counters_open("zzz", why, sizeof why), nullptr);
  EXPECT_EQ(why[15], '\0') << "a short buffer is filled and ended";
  EXPECT_EQ(loft_counters_open("zzz", nullptr, 0), nullptr);
  loft_counters* counters = loft_counters_open("task-clock", nullptr, 0);
  ASSERT_NE(counters, nullptr);
  loft_count count;
  EXPECT_NE(loft_counters_read(counters, 1, &count), 0);
  EXPECT_EQ(loft_counters_name(counters, 1), nullptr);
  loft_counters_close(counters);
}

}  // namespace
