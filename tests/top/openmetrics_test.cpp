#include "top/openmetrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "top/some_frame.hpp"

namespace loft::top {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OpenMetrics, CountersAreSumsOverSamples) {
  Exposition exposition;
  exposition.add(frame_of_two_cores());
  exposition.add(frame_of_two_cores());
  const std::string text = exposition.text(ExpositionFormat::openmetrics);
  EXPECT_THAT(text, HasSubstr("# TYPE loft_core_events counter\n"
                              "loft_core_events_total{cpu=\"0\",event=\"switches\"} 1400\n"));
  EXPECT_THAT(text, HasSubstr("loft_energy_joules_total{domain=\"package-0\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("loft_power_watts{domain=\"package-0\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("loft_core_busy_ratio{cpu=\"0\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("loft_core_up{cpu=\"0\"} 1\nloft_core_up{cpu=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("loft_samples_total 2\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(OpenMetrics, WhatIsMissingHasNoValue) {
  Exposition exposition;
  exposition.add(frame_of_two_cores());
  const std::string text = exposition.text(ExpositionFormat::prometheus);
  EXPECT_THAT(text, Not(HasSubstr("loft_core_events_total{cpu=\"0\",event=\"cycles\"}")));
  EXPECT_THAT(text, HasSubstr("loft_core_event_available{cpu=\"0\",event=\"cycles\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("domain=\"psys\"")));
  EXPECT_THAT(text, Not(HasSubstr("loft_core_waiting_tasks{")));
  EXPECT_THAT(text, HasSubstr("# TYPE loft_core_events_total counter\n"));
  EXPECT_FALSE(text.ends_with("# EOF\n"));
}

TEST(OpenMetrics, SeriesAreBoundedAndLabelsAreEscaped) {
  Frame frame = frame_of_two_cores();
  frame.energy[0].domain = "a\"b\\c\nd";
  Exposition exposition(9);
  exposition.add(frame);
  const std::string text = exposition.text(ExpositionFormat::openmetrics);
  EXPECT_THAT(text, HasSubstr("domain=\"a\\\"b"));
  std::size_t series = 0;
  for (const std::string_view line : split(text, '\n'))
    series += !line.empty() && !line.starts_with('#');
  EXPECT_EQ(series, 10u);  // and the one that says how many there are not
  EXPECT_THAT(text, Not(HasSubstr("loft_series_dropped 0\n")));
}

TEST(OpenMetrics, EventsThatAreNoLongerCountedGo) {
  Exposition exposition;
  exposition.add(frame_of_two_cores());
  Frame changed = frame_of_two_cores();
  auto set = std::make_shared<CoreSet>();
  changed.cores[0].set = set;
  changed.cores[0].counts.clear();
  exposition.add(changed);
  EXPECT_THAT(exposition.text(ExpositionFormat::openmetrics), Not(HasSubstr("switches")));
}

TEST(OpenMetrics, FormatIsWhatTheClientAccepts) {
  EXPECT_EQ(format_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            ExpositionFormat::openmetrics);
  EXPECT_EQ(format_for("*/*"), ExpositionFormat::prometheus);
}

}  // namespace
}  // namespace loft::top
