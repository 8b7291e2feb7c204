#include "loft/count.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/temporary_folder.hpp"

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

class ApiMetrics : public loft::TemporaryFolder {
 protected:
  [[nodiscard]] std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }
};

TEST_F(ApiMetrics, OfAFileThatIsLoadedLaterAreCounted) {
  EXPECT_THROW(loft::Counters("api_busy"), loft::CountError);
  loft::load_metrics(written("good.metrics",
                             "event task-clock [s]\nevent time [s]\n"
                             "metric api_busy [%] = share_of_it * 'task-clock' / time\n"
                             "metric api_none = 'task-clock' / (1 - share_of_it)\n"));
  loft::define_constant("share_of_it", 1);
  loft::Counters counters("page-faults,api_busy,api_none");
  counters.start();
  spin();
  counters.stop();
  const auto values = counters.values();
  ASSERT_EQ(values.size(), 3u) << "an operand that was not named is not shown";
  EXPECT_EQ(values[1].name, "api_busy");
  EXPECT_EQ(values[1].unit, "%");
  ASSERT_TRUE(values[1].is_available()) << values[1].why;
  EXPECT_GT(values[1].value, 0);
  EXPECT_LE(values[1].value, 101);
  EXPECT_FALSE(values[2].is_available());
  EXPECT_NE(values[2].why.find("division by zero"), std::string::npos) << values[2].why;
}

TEST_F(ApiMetrics, OfAFileWithAMistakeAreRefusedWithItsPlace) {
  const std::string path = written("bad.metrics", "metric fine = 1\nmetric broken = 1 +\n");
  try {
    loft::load_metrics(path);
    FAIL();
  } catch (const loft::CountError& error) {
    EXPECT_NE(std::string(error.what()).find("bad.metrics:2"), std::string::npos) << error.what();
  }
  EXPECT_THROW(loft::Counters("fine"), loft::CountError) << "nothing of it is used";
  EXPECT_THROW(loft::load_metrics("/nowhere"), loft::CountError);
  EXPECT_THROW(loft::define_constant("", 1), loft::CountError);
  EXPECT_NE(loft_metrics_load(nullptr, nullptr, 0), 0);
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
