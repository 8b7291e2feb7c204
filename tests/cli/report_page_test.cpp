// The page of a recording that is built byte by byte.
#include "view/recording_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/schedule.hpp"

namespace loft::cli {
namespace {

namespace perf = format::perf;
using source::RecordType;
using testing::ElementsAre;

// Two threads of process 1: 10 has three samples, 11 one; 10 ran from 1.0 to 1.5 s on CPU 3.
perf::Bytes recording_bytes() {
  perf::RecordingBuilder file;
  file.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCpu | perf::kPeriod});
  const auto tail = [](format::ByteBuilder& body, std::uint32_t tid, std::uint64_t time) {
    body.u32(1).u32(tid).u64(time).u32(3).u32(0);
  };
  const auto change = [&](std::uint16_t misc, std::uint64_t time) {
    auto body = file.body();
    tail(body, 10, time);
    file.record(RecordType::switch_, misc, body);
  };
  const auto sample = [&](std::uint32_t tid, std::uint64_t time) {
    auto body = file.body();
    body.u64(0x1000).u32(1).u32(tid).u64(time).u32(3).u32(0).u64(1000);
    file.record(RecordType::sample, 2, body);
  };
  change(0, 1'000'000'000);
  sample(10, 1'100'000'000);
  sample(10, 1'200'000'000);
  sample(10, 1'300'000'000);
  change(perf::kMiscSwitchOut, 1'500'000'000);
  sample(11, 2'000'000'000);
  return file.finish();
}

view::PageData page_of(const sample::ProfileFilter& filter = {},
                       std::size_t most_timeline = sample::kMostTimeline,
                       const perf::Bytes& bytes = recording_bytes(),
                       const sample::CallRun* calls = nullptr) {
  const auto recording = source::Recording::of_bytes(bytes);
  EXPECT_TRUE(recording);
  sample::ProfileOptions options;
  options.tree = options.timeline = true;
  options.filter = filter;
  options.most_timeline = most_timeline;
  const auto profiled = source::profile_recording(**recording, options, {}, 1);
  EXPECT_TRUE(profiled);
  const auto report = sample::make_report((*recording)->summary(), profiled->result,
                                          *profiled->locations, (*recording)->history(), {});
  const sample::NamedProfile profile{(*recording)->summary(), profiled->result,
                                     *profiled->locations, (*recording)->history(), report.events};
  return view::recording_page({report, profile, source::read_schedule(**recording),
                               sample::TreeOrder::from_callers, filter, calls});
}

const view::PageColumn& column(const view::PageTable& table, const std::string& name) {
  for (const auto& one : table.columns)
    if (one.name == name) return one;
  ADD_FAILURE() << "no column " << name;
  return table.columns.front();
}

TEST(ReportPage, ShowsWhenThreadsRan) {
  const auto page = page_of();
  ASSERT_TRUE(page.schedule);
  EXPECT_THAT(page.schedule->tid, ElementsAre(10u));
  EXPECT_THAT(page.schedule->cpu, ElementsAre(3u));
  EXPECT_THAT(page.schedule->start_s, ElementsAre(0.0));
  EXPECT_THAT(page.schedule->end_s, ElementsAre(0.5));
}

TEST(ReportPage, CountsTheSamplesOfThreads) {
  const auto page = page_of();
  ASSERT_EQ(page.tables.size(), 2u);
  const auto& threads = page.tables[1];
  EXPECT_THAT(column(threads, "tid").texts, ElementsAre("10", "11"));
  EXPECT_THAT(column(threads, "samples").numbers, ElementsAre(3, 1));
  EXPECT_THAT(column(threads, "share").numbers, ElementsAre(0.75, 0.25));
  EXPECT_THAT(column(threads, "CPUs").numbers, ElementsAre(1, 1));
}

TEST(ReportPage, TimeLinesAddUpToThePeriodsOfTheSamples) {
  const auto page = page_of();
  ASSERT_EQ(page.time_lines.size(), 1u);
  const auto& line = page.time_lines[0];
  double sum = 0;
  for (std::size_t i = 0; i < line.value.size(); ++i)
    sum += line.value[i] * (line.end_s[i] - line.start_s[i]);
  EXPECT_NEAR(sum, 4000e-9, 1e-12);            // of cpu-clock: nanoseconds, shown as seconds
  EXPECT_NEAR(line.start_s.front(), 0, 1e-9);  // with the schedule, before the first sample
  EXPECT_NEAR(line.end_s.back(), 1.0, 1e-9);
}

// Slices of 0.4 s of run time, each a sample at its end, of one thread: never more than one CPU.
TEST(ReportPage, ASliceIsSpreadOverItsTime) {
  perf::RecordingBuilder file;
  file.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCpu | perf::kPeriod});
  for (const std::uint64_t end : {1'400'000'000u, 1'900'000'000u}) {
    auto body = file.body();
    body.u64(0x1000).u32(1).u32(10).u64(end).u32(3).u32(0).u64(400'000'000);
    file.record(RecordType::sample, 2, body);
  }
  const auto page = page_of({}, sample::kMostTimeline, file.finish());
  ASSERT_EQ(page.time_lines.size(), 1u);
  const auto& line = page.time_lines[0];
  EXPECT_EQ(line.unit, "CPUs");
  double busy = 0;
  for (std::size_t i = 0; i < line.value.size(); ++i) {
    EXPECT_LE(line.value[i], 1 + 1e-9) << "at " << line.start_s[i] << " s";
    busy += line.value[i] * (line.end_s[i] - line.start_s[i]);
  }
  EXPECT_NEAR(busy, 0.8, 1e-9) << "the page begins with the run time of the first sample";
  EXPECT_NEAR(line.end_s.back(), 0.9, 1e-9);
}

TEST(ReportPage, FollowsFilters) {
  const auto other_thread = page_of({.tids = {11}});
  EXPECT_FALSE(other_thread.schedule);
  EXPECT_THAT(column(other_thread.tables[1], "tid").texts, ElementsAre("11"));
  const auto later = page_of({.from = 1'250'000'000});
  ASSERT_TRUE(later.schedule);
  EXPECT_THAT(later.schedule->end_s, ElementsAre(0.25));
}

TEST(ReportPage, OfTooManySamplesAnEvenChoiceStandsForAllAndItSaysSo) {
  const auto page = page_of({}, 3);
  ASSERT_EQ(page.warnings.size(), 1u);
  EXPECT_EQ(page.warnings[0].kind, view::WarningKind::estimated);
  EXPECT_NE(page.warnings[0].text.find("1 of "), std::string::npos) << page.warnings[0].text;
  ASSERT_EQ(page.time_lines.size(), 1u);
  EXPECT_EQ(page.time_lines[0].origin, sample::Origin::scaled);
  double sum = 0;
  for (std::size_t i = 0; i < page.time_lines[0].value.size(); ++i)
    sum +=
        page.time_lines[0].value[i] * (page.time_lines[0].end_s[i] - page.time_lines[0].start_s[i]);
  ASSERT_EQ(page.tables.size(), 2u);
  const auto& samples = column(page.tables[1], "samples");
  double counted = 0;
  for (const double number : samples.numbers) counted += number;
  EXPECT_GT(counted, 0);
  EXPECT_NEAR(sum, counted * 1000e-9, 1e-12) << "both are made of the same choice";
  EXPECT_THAT(samples.origins, testing::Each(sample::Origin::scaled));
  EXPECT_EQ(samples.origins.size(), samples.numbers.size());
}

TEST(ReportPage, ShowsCallsBesideSamplesOnOneAxisOfTime) {
  sample::CallRun run;
  run.quantities = {{"time", "ns", 1, sample::Origin::counted, true}};
  run.functions = {{"solve"}};
  run.threads = {{1, 12, "worker"}};
  run.clock = {1, 0, std::chrono::seconds(1)};
  run.nodes = {{sample::kNoCallNode, 0, 1}};
  run.node_values = {{500, 500}};
  run.calls = {{0, 0, 250'000'000, 500}};
  run.values = {{500, 500}};
  run.has_all_calls = true;
  run.statistics = recompute(run);
  const view::PageData page = page_of({}, sample::kMostTimeline, recording_bytes(), &run);
  ASSERT_TRUE(page.calls);
  EXPECT_THAT(page.calls->start_s, ElementsAre(0.25));
  ASSERT_EQ(page.histograms.size(), 1u);
  EXPECT_EQ(page.histograms[0].title, "solve");
  EXPECT_TRUE(page.schedule);
  EXPECT_EQ(page.threads.size(), 3u);
  EXPECT_TRUE(std::ranges::any_of(
      page.tables, [](const view::PageTable& table) { return table.title == "Largest calls"; }));
  EXPECT_TRUE(view::page_html(page));
}

TEST(ReportPage, CanBeWritten) { EXPECT_TRUE(view::page_html(page_of())); }

}  // namespace
}  // namespace loft::cli
