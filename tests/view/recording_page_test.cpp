// A recording of two threads and two events, whose every number is known: its page, and what other
// tools get of it.
#include "view/recording_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <protozero/pbf_reader.hpp>

#include "view/stacks.hpp"

namespace loft::view {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

class TwoThreads : public testing::Test {
 protected:
  void SetUp() override {
    const char* names[] = {"main", "work"};
    for (std::uint64_t i = 0; i < 2; ++i)
      history.add_map({0,
                       7,
                       {0x1000 * (i + 1), 0x1000 * (i + 2), 0,
                        history.intern({.path = "/bin/app", .only_symbol = names[i]})}});
    history.add_comm({0, 7, 7, "app", false});
    history.add_comm({0, 7, 8, "helper", false});
    summary.path = "perf.data";
    summary.bytes = 3072;
    summary.metadata.events.resize(2);
    for (auto& event : summary.metadata.events) event.attr.sample_type = 0x1FF;
    summary.metadata.events[0].name = "cpu-clock";
    summary.metadata.events[0].attr.type = 1;
    summary.metadata.events[1].name = "page-faults";
    summary.metadata.events[1].attr.type = 1;
    summary.metadata.events[1].attr.config = 2;
    locations = std::make_unique<sample::Locations>(history, store, sample::Locations::Options{});
  }

  // The first thread runs its first second in main, the second one half a second in work.
  void read_samples() {
    sample::ProfileOptions options;
    options.inclusive = options.tree = options.timeline = true;
    sample::Profile profile(history, *locations, summary.metadata.events, options);
    add(profile, 0, 7, 2, 11 * kSecond, kSecond, 0x1000);
    add(profile, 0, 8, 3, 12 * kSecond, kSecond / 2, 0x2000);
    add(profile, 1, 8, 3, 12 * kSecond, 40, 0x2000);
    result = profile.finish();
    report = sample::make_report(summary, result, *locations, history, {});
    named.emplace(sample::NamedProfile{summary, result, *locations, history, report.events});
  }

  static void add(sample::Profile& profile, std::uint32_t event, std::uint32_t tid,
                  std::uint32_t cpu, std::uint64_t time, std::uint64_t period, std::uint64_t ip) {
    sample::Sample made;
    made.event = event;
    made.pid = 7;
    made.tid = tid;
    made.cpu = cpu;
    made.time = time;
    made.period = period;
    made.ip = ip;
    made.mode = sample::CpuMode::user;
    profile.worker(0)->add(made);
  }

  template <class Write>
  std::string whole(const Write& write) {
    std::string out;
    write(*named, [&](std::string_view piece) {
      out += piece;
      return true;
    });
    return out;
  }

  sample::TaskHistory history;
  symbols::SymbolStore store;
  sample::RecordingSummary summary;
  std::unique_ptr<sample::Locations> locations;
  sample::ProfileResult result;
  sample::Report report;
  std::optional<sample::NamedProfile> named;
};

TEST_F(TwoThreads, FiguresAreSumsOfTheSamples) {
  read_samples();
  const PageData page = recording_page({report, *named, {}});
  const auto has = [&](const char* label, const char* value) {
    EXPECT_THAT(page.figures,
                Contains(testing::AllOf(Field(&PageFigure::label, label),
                                        Field(&PageFigure::value, HasSubstr(value)))));
  };
  has("samples", "3");
  has("from first to last", "1.00 s");
  has("threads", "2");
  has("cpu-clock", "1.50 s");
  has("page-faults", "40.0");
  EXPECT_THAT(page.verdict, Contains("66.7 % of cpu-clock is in main itself."));
  EXPECT_EQ(page.source, "recording of 3 KiB");
  EXPECT_FALSE(page.schedule);
}

// A sample of a clock stands for the time before it: the lines begin with the first second.
TEST_F(TwoThreads, TimeLinesSpreadASampleOverTheTimeThatItCounts) {
  read_samples();
  const PageData page = recording_page({report, *named, {}});
  ASSERT_EQ(page.time_lines.size(), 2u);
  const PageTimeLine& clock = page.time_lines[0];
  EXPECT_EQ(clock.name, "cpu-clock");
  EXPECT_EQ(clock.unit, "CPUs");
  EXPECT_EQ(clock.origin, sample::Origin::scaled);
  EXPECT_EQ(clock.start_s.front(), 0);
  EXPECT_NEAR(clock.end_s.back(), 2, 1e-9);
  const std::size_t steps = clock.value.size();
  EXPECT_NEAR(clock.value[0], 1, 1e-9) << "one CPU in the first second";
  EXPECT_NEAR(clock.value[steps / 2 + steps / 8], 0, 1e-9)
      << "nobody until half a second before the end";
  EXPECT_NEAR(clock.value[steps - 1], 1, 1e-9);
  const double width = clock.end_s[0] - clock.start_s[0];
  EXPECT_NEAR(std::accumulate(clock.value.begin(), clock.value.end(), 0.0) * width, 1.5, 1e-6);
  const PageTimeLine& faults = page.time_lines[1];
  EXPECT_EQ(faults.unit, "1/s");
  EXPECT_NEAR(std::accumulate(faults.value.begin(), faults.value.end(), 0.0) * width, 40, 1e-6);
  EXPECT_EQ(faults.value[0], 0);
}

TEST_F(TwoThreads, WarningsSayWhatIsNotThere) {
  summary.lost = 1234;
  summary.unreadable_samples = 2;
  summary.damaged_bytes = 3;
  summary.notes = {"a word"};
  read_samples();
  report.filtered_out = 5;
  const PageData page = recording_page({report, *named, {}});
  std::vector<std::string> texts;
  for (const PageWarning& warning : page.warnings) texts.push_back(warning.text);
  EXPECT_THAT(texts,
              ElementsAre("1,234 records that the recorder could not keep",
                          "2 samples of no known event or too short", "3 bytes that are no record",
                          "5 samples left out by filters", "a word"));
}

TEST_F(TwoThreads, TheScheduleFollowsTheFilter) {
  read_samples();
  sample::ProfileFilter filter;
  filter.tids = {8};
  filter.from = 11 * kSecond;
  filter.until = 12 * kSecond;
  const std::vector<sample::RunSlice> slices = {
      {.tid = 7, .cpu = 2, .start = 10 * kSecond, .end = 11 * kSecond},
      {.tid = 8, .cpu = 3, .start = 10 * kSecond, .end = 20 * kSecond},
      {.tid = 8, .cpu = 3, .start = 5 * kSecond, .end = 6 * kSecond},
  };
  ShownRecording shown{report, *named, slices};
  shown.filter = filter;
  const PageData page = recording_page(shown);
  ASSERT_TRUE(page.schedule);
  EXPECT_THAT(page.schedule->tid, ElementsAre(8));
  EXPECT_THAT(page.schedule->cpu, ElementsAre(3));
  EXPECT_NEAR(page.schedule->end_s[0] - page.schedule->start_s[0], 1, 1e-6) << "cut at both ends";
}

TEST_F(TwoThreads, FirefoxHasAThreadForEach) {
  read_samples();
  const std::string json = whole(firefox_json);
  EXPECT_THAT(json, HasSubstr("\"name\":\"app\",\"processName\":\"app\",\"isMainThread\":true,"
                              "\"pid\":\"7\",\"tid\":7,"));
  EXPECT_THAT(json, HasSubstr("\"name\":\"helper\",\"processName\":\"helper\","
                              "\"isMainThread\":false,\"pid\":\"7\",\"tid\":8,"));
  // Times in milliseconds from the first sample on; a fault says nothing of CPU time.
  EXPECT_THAT(json, HasSubstr("\"time\":[0],\"threadCPUDelta\":[1000000000],\"length\":1"));
  EXPECT_THAT(json, testing::AnyOf(HasSubstr("\"threadCPUDelta\":[500000000,null],\"length\":2"),
                                   HasSubstr("\"threadCPUDelta\":[null,500000000],\"length\":2")));
  EXPECT_THAT(json, HasSubstr("\"stringArray\":[\"work\"]"));
}

// Where the recording says how its clock stood to the calendar, the profile has the true moment.
TEST_F(TwoThreads, FirefoxStartsAtTheWallClock) {
  summary.metadata.clock.emplace();
  summary.metadata.clock->wall_clock_ns = 1'700'000'000 * kSecond;
  summary.metadata.clock->clock_ns = 10 * kSecond;
  read_samples();
  EXPECT_THAT(whole(firefox_json), HasSubstr("\"startTime\":1700000001000"));
}

TEST_F(TwoThreads, AWriterThatIsRefusedStops) {
  read_samples();
  for (const auto write : {firefox_json, perfetto_trace, speedscope_json}) {
    int calls = 0;
    write(*named, [&](std::string_view) {
      ++calls;
      return false;
    });
    EXPECT_EQ(calls, 1);
  }
}

// Each event is a sequence of packets with names of its own, and counts on per CPU.
TEST_F(TwoThreads, PerfettoTellsEventsThreadsAndCpusApart) {
  read_samples();
  const std::string trace = whole(perfetto_trace);
  protozero::pbf_reader packets(trace);
  std::vector<std::uint32_t> sequences, cpus, tids;
  std::vector<std::uint64_t> counts;
  std::vector<std::string> threads;
  const auto inner = [](protozero::pbf_reader in, protozero::pbf_tag_type tag) {
    return in.next(tag) ? in.get_message() : protozero::pbf_reader();
  };
  while (packets.next(1)) {
    const auto packet = packets.get_message();
    auto tree = inner(packet, 2);
    while (tree.next(2)) {
      auto name = tree.get_message();
      if (name.next(2)) threads.push_back(name.get_string());
    }
    auto sample = inner(packet, 66);
    if (!sample.next(1)) continue;
    cpus.push_back(sample.get_uint32());
    if (sample.next(3)) tids.push_back(sample.get_uint32());
    if (sample.next(6)) counts.push_back(sample.get_uint64());
    auto sequence = packet;
    if (sequence.next(10)) sequences.push_back(sequence.get_uint32());
  }
  EXPECT_THAT(threads, ElementsAre("app", "helper"));
  EXPECT_THAT(cpus, ElementsAre(2, 3, 3));
  EXPECT_THAT(tids, ElementsAre(7, 8, 8));
  EXPECT_THAT(sequences, testing::UnorderedElementsAre(2, 2, 3));
  EXPECT_THAT(counts, testing::UnorderedElementsAre(kSecond, kSecond / 2, 40));
}

}  // namespace
}  // namespace loft::view
