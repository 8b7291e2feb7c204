// Reports of a small profile: what is printed, and that no name can break any output.
#include "view/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>

#include "base/file.hpp"
#include "sample/named_profile.hpp"
#include "view/page.hpp"
#include "view/recording_tables.hpp"
#include "view/records.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kEvil = "evil\x1b[31m\n</script><b>\"a\",b;c\xFF";

class ReportViews : public testing::Test {
 protected:
  void SetUp() override {
    const char* names[] = {"main", kEvil};
    for (std::uint64_t i = 0; i < 2; ++i)
      history.add_map({0,
                       7,
                       {0x1000 * (i + 1), 0x1000 * (i + 2), 0,
                        history.intern({.path = "/bin/app", .only_symbol = names[i]})}});
    history.add_comm({0, 7, 7, kEvil, false});
    summary.path = "perf.data";
    summary.bytes = 2048;
    summary.records = {{"SAMPLE", 3}, {"MMAP", 2}};
    summary.metadata.events.resize(1);
    auto& event = summary.metadata.events[0];
    event.name = "cpu-clock";
    event.attr.type = 1;
    event.attr.sample_type = 0x1FF;
    locations = std::make_unique<sample::Locations>(history, store, sample::Locations::Options{});
    sample::ProfileOptions options;
    options.inclusive = options.tree = options.timeline = true;
    sample::Profile profile(history, *locations, summary.metadata.events, options);
    for (std::uint64_t i = 0; i < 3; ++i) profile.worker(0)->add(sample(i));
    result = profile.finish();
    report = sample::make_report(summary, result, *locations, history, {});
    named.emplace(sample::NamedProfile{summary, result, *locations, history, report.events});
  }

  sample::Sample sample(std::uint64_t i) {
    sample::Sample made;
    made.ip = i == 0 ? 0x1000 : 0x2000;
    made.time = 1'000'000'000 + i * 1'000'000;
    made.period = 1'000'000;
    made.pid = made.tid = 7;
    made.mode = sample::CpuMode::user;
    if (i != 0) made.call_chain = {reinterpret_cast<const std::byte*>(chain), 3, false};
    return made;
  }

  const std::uint64_t chain[3] = {perf_data::kContextUser, 0x2000, 0x1010};
  sample::TaskHistory history;
  symbols::SymbolStore store;
  sample::RecordingSummary summary;
  std::unique_ptr<sample::Locations> locations;
  sample::ProfileResult result;
  sample::Report report;
  std::optional<sample::NamedProfile> named;
};

void expect_harmless(const std::string& text) {
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\xFF")));
}

TEST_F(ReportViews, EnergyIsInJoules) {
  summary.metadata.events[0].name = "energy package-0";
  summary.metadata.events[0].attr.config = 9;  // a software event that only has samples
  report = sample::make_report(summary, result, *locations, history, {});
  EXPECT_THAT(report_text(report, {}), HasSubstr("3 J")) << "three samples of 1,000,000 uJ";
  EXPECT_THAT(report_json(report), HasSubstr("\"uJ\""));
}

TEST_F(ReportViews, TheTableShowsSharesSamplesAndTime) {
  const std::string text = report_text(report, {});
  EXPECT_THAT(text, HasSubstr("3 samples of 1 thread, 2.00 ms"));
  EXPECT_THAT(text, HasSubstr("cpu-clock: 3 samples, period 3.00 ms"));
  EXPECT_THAT(text, HasSubstr("100.00 %  33.33 %        1  1.00 ms  main"));
  expect_harmless(text);
}

TEST_F(ReportViews, TheEventThatWasSampledForTimeComesFirstEverywhere) {
  auto& events = summary.metadata.events;
  events.resize(3, events[0]);
  events[0].name = "page-faults";
  events[0].attr.config = 2;
  events[1].name = "task-clock";
  events[0].attr.sample_type = events[1].attr.sample_type = 0x1FF & ~0x20u;  // no call chains
  sample::ProfileOptions options;
  options.tree = true;
  sample::Profile profile(history, *locations, events, options);
  for (std::uint32_t event = 0; event < 3; ++event) {
    auto made = sample(1);
    made.event = event;
    profile.worker(0)->add(made);
  }
  result = profile.finish();
  report = sample::make_report(summary, result, *locations, history, {});
  const sample::NamedProfile all{summary, result, *locations, history, report.events};
  EXPECT_EQ(all.used_events(), (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_THAT(report_csv(report), testing::ContainsRegex("share[^\n]*\ncpu-clock,"));
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["events"][0]["name"], "cpu-clock");
  EXPECT_EQ(json["rows"][0]["event"], "cpu-clock");
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  for (const std::string& text : {report_text(report, {}), tree_text({all, tree, 0})}) {
    EXPECT_LT(text.find("\ncpu-clock:"), text.find("\ntask-clock:"));
    EXPECT_LT(text.find("\ntask-clock:"), text.find("\npage-faults:"));
    EXPECT_NE(text.find("\npage-faults:"), std::string::npos);
  }
}

TEST_F(ReportViews, JsonKeepsItsPromisedFields) {
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["schema"], "loft.report/1");
  EXPECT_EQ(json["file"], "perf.data");
  EXPECT_EQ(json["events"][0]["name"], "cpu-clock");
  EXPECT_EQ(json["events"][0]["samples"], 3);
  EXPECT_EQ(json["records"]["SAMPLE"], 3);
  EXPECT_EQ(json["lost"], 0);
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][1]["function"], "main");
  EXPECT_EQ(json["rows"][1]["binary"], "/bin/app");
  EXPECT_EQ(json["rows"][1]["file"], nullptr);
  EXPECT_EQ(json["rows"][1]["period"], 1000000);
  EXPECT_NEAR(json["rows"][1]["share"].get<double>(), 1.0 / 3, 1e-9);
}

TEST_F(ReportViews, CsvQuotesNames) {
  const std::string text = report_csv(report);
  EXPECT_THAT(text, HasSubstr("\"\"a\"\",b;c"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  expect_harmless(text);
  EXPECT_EQ(stat_table(summary), "type,records\nMMAP,2\nSAMPLE,3\n");
  EXPECT_THAT(processes_table(history, result, report.events),
              HasSubstr(",2,,,3,3000000,cpu-clock\n"));
  EXPECT_THAT(results_table(report), HasSubstr("1000000,1,main,,/bin/app,cpu-clock\n"));
}

TEST_F(ReportViews, FoldedStacksGoFromCallerToCallee) {
  const std::string text = folded_stacks(*named);
  EXPECT_THAT(text, HasSubstr("main;evil"));
  EXPECT_THAT(text, HasSubstr(" 2\n"));
  EXPECT_THAT(text, HasSubstr("main 1\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  expect_harmless(text);
}

TEST_F(ReportViews, TheFlameGraphHasNoMarkupFromNames) {
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  const std::string text = flame_graph(*named, tree);
  EXPECT_THAT(text, HasSubstr("<title>main (3 samples, 100.00 %)</title>"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  EXPECT_EQ(text.find("</script>"), text.rfind("</script>"));
  expect_harmless(text);
}

TEST_F(ReportViews, TheTreeIndentsCallees) {
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  const std::string text = tree_text({*named, tree, 0});
  EXPECT_THAT(text, HasSubstr("100.00 %   33.33 %  main\n"));
  EXPECT_THAT(text, HasSubstr(" 66.67 %   66.67 %    evil"));
  expect_harmless(text);
}

TEST_F(ReportViews, TheTreeIsATreeInJsonAndHasDepthsInCsv) {
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  const auto json = nlohmann::json::parse(report_json(report, {*named, tree, 0}));
  EXPECT_EQ(json["schema"], "loft.report/1");
  EXPECT_FALSE(json["rows"].empty());
  ASSERT_EQ(json["tree"].size(), 1u);
  EXPECT_EQ(json["tree"][0]["event"], "cpu-clock");
  ASSERT_EQ(json["tree"][0]["children"].size(), 1u);
  const auto& main = json["tree"][0]["children"][0];
  EXPECT_EQ(main["function"], "main");
  EXPECT_EQ(main["binary"], "/bin/app");
  EXPECT_EQ(main["samples"], 1);
  EXPECT_EQ(main["inclusive_samples"], 3);
  EXPECT_EQ(main["inclusive_period"], 3000000);
  ASSERT_EQ(main["children"].size(), 1u);
  EXPECT_EQ(main["children"][0]["samples"], 2);
  EXPECT_FALSE(main["children"][0].contains("children"));
  const std::string csv = tree_csv({*named, tree, 0});
  EXPECT_THAT(csv, HasSubstr("cpu-clock,0,main,/bin/app,1,1000000,0.333333,3,3000000,1.000000\n"));
  EXPECT_THAT(csv, HasSubstr("cpu-clock,1,\"evil"));
}

TEST_F(ReportViews, BranchesThatAreLeftOutOfATreeAreCounted) {
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  const auto json = nlohmann::json::parse(report_json(report, {*named, tree, 0.7}));
  const auto& main = json["tree"][0]["children"][0];
  EXPECT_EQ(main["left_out"], 1);
  EXPECT_FALSE(main.contains("children"));
  EXPECT_THAT(tree_text({*named, tree, 0.7}), HasSubstr(" 66.67 %              (1 more)\n"));
}

// What a view that is written piece by piece comes to.
std::string whole(void (*view)(const sample::NamedProfile&, const TextSink&),
                  const sample::NamedProfile& profile) {
  std::string text;
  view(profile, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

TEST_F(ReportViews, SpeedscopeSaysOnceWhatSeveralSamplesInARowShow) {
  const auto speedscope = nlohmann::json::parse(whole(speedscope_json, *named));
  ASSERT_EQ(speedscope["profiles"].size(), 1u);
  const auto& thread = speedscope["profiles"][0];
  EXPECT_EQ(thread["samples"].size(), thread["weights"].size());
  EXPECT_EQ(thread["samples"].size(), 2u);
  EXPECT_EQ(thread["weights"][0].get<int>() + thread["weights"][1].get<int>(), 3000000);
  EXPECT_EQ(thread["endValue"], 3000000);
}

TEST_F(ReportViews, FirefoxIsJsonWithEverySample) {
  const auto firefox = nlohmann::json::parse(whole(firefox_json, *named));
  ASSERT_EQ(firefox["threads"].size(), 1u);
  const auto& thread = firefox["threads"][0];
  EXPECT_EQ(thread["samples"]["length"], 3);
  EXPECT_EQ(thread["samples"]["threadCPUDelta"], nlohmann::json({1000000, 1000000, 1000000}));
  EXPECT_EQ(thread["stackTable"]["prefix"][1], 0);
  EXPECT_EQ(thread["stringArray"][0], "main");
}

TEST_F(ReportViews, PerfettoHasOneSamplePacketPerSample) {
  const std::string trace = whole(perfetto_trace, *named);
  protozero::pbf_reader packets(trace);
  int samples = 0;
  while (packets.next(1)) {
    auto packet = packets.get_message();
    while (packet.next())
      if (packet.tag() == 66) {
        ++samples;
        packet.skip();
      } else {
        packet.skip();
      }
  }
  EXPECT_EQ(samples, 3);
}

// Readers show the counter itself over time, under the name that the sequence of packets gives it.
TEST_F(ReportViews, PerfettoNamesTheEventAndCountsOn) {
  const std::string trace = whole(perfetto_trace, *named);
  protozero::pbf_reader packets(trace);
  std::vector<std::string> names;
  std::vector<std::uint64_t> counts;
  const auto inner = [](protozero::pbf_reader in, protozero::pbf_tag_type tag) {
    return in.next(tag) ? in.get_message() : protozero::pbf_reader();
  };
  while (packets.next(1)) {
    const auto packet = packets.get_message();
    auto timebase = inner(inner(inner(packet, 59), 12), 1);
    if (timebase.next(10)) names.push_back(timebase.get_string());
    auto sample = inner(packet, 66);
    if (sample.next(6)) counts.push_back(sample.get_uint64());
  }
  EXPECT_THAT(names, testing::ElementsAre("cpu-clock"));
  EXPECT_THAT(counts, testing::UnorderedElementsAre(1000000, 2000000, 3000000));
}

TEST_F(ReportViews, PprofIsGzipped) {
  const auto packed = pprof_profile(*named);
  ASSERT_TRUE(packed);
  ASSERT_GT(packed->size(), 20u);
  EXPECT_EQ(packed->substr(0, 2), "\x1f\x8b");
}

TEST_F(ReportViews, GoToolPprofReadsTheProfile) {
  if (std::system("go tool pprof -help >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "'go tool pprof' is not installed";
  std::string name = testing::TempDir() + "/loft-view-XXXXXX";
  const int file = ::mkstemp(name.data());
  ASSERT_GE(file, 0);
  ::close(file);
  ASSERT_TRUE(replace_file(name, *pprof_profile(*named)));
  FILE* pipe = ::popen(("go tool pprof -raw " + name + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> chunk;
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe))
    text.append(chunk.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << text;
  ::unlink(name.c_str());
  EXPECT_THAT(text, HasSubstr("samples/count cpu-clock/nanoseconds"));
  EXPECT_THAT(text, testing::ContainsRegex("2 +2000000: +[0-9]+ +[0-9]+")) << text;
  EXPECT_THAT(text, HasSubstr("/bin/app"));
}

void describe(sample::FieldSink& sink) {
  sink.begin({.number = 3,
              .offset = 40,
              .type = "SAMPLE",
              .time = 1'500'000'000,
              .pid = 7,
              .tid = 8,
              .comm = kEvil,
              .event = "cycles"});
  sink.address("ip", 0xABC);
  sink.number("period", 12);
  sink.begin_list("values");
  sink.begin_group("");
  sink.number("value", 1);
  sink.end_group();
  sink.end_list();
  sink.begin_list("call_chain");
  sink.frame({0x10, kEvil, "/bin/app"});
  sink.end_list();
  sink.end();
}

TEST(RecordViews, LinesAreReadable) {
  RecordLines lines;
  describe(lines);
  const std::string text(lines.written());
  EXPECT_THAT(text, HasSubstr("#3 1.500000000 SAMPLE cycles evil"));
  EXPECT_THAT(text, HasSubstr(" 7/8 ip=0xabc period=12 values=[{value=1}]\n    0x10 evil"));
  expect_harmless(text);
}

TEST(RecordViews, JsonIsOneObjectPerLine) {
  RecordJson lines;
  describe(lines);
  const std::string text(lines.written());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["ip"], "0xabc");
  EXPECT_EQ(json["values"][0]["value"], 1);
  EXPECT_EQ(json["call_chain"][0]["address"], "0x10");
}

// Nanoseconds of one event and counts of another are not to be added.
TEST_F(ReportViews, EachProcessHasARowForEachOfItsEvents) {
  sample::ProfileResult two;
  const std::uint32_t pid = history.processes().front().pid;
  two.processes = {{pid, 0, {3, 3000000}}, {pid, 1, {2, 7}}, {77777, 1, {1, 5}}};
  std::vector<sample::ReportEvent> events(2);
  events[0].name = "task-clock";
  events[1].name = "page-faults";
  events[0].period_is_known = events[1].period_is_known = true;
  const std::string text = processes_table(history, two, events);
  EXPECT_THAT(text, HasSubstr(",3,3000000,task-clock\n"));
  EXPECT_THAT(text, HasSubstr(",2,7,page-faults\n"));
  EXPECT_THAT(text, HasSubstr("77777,"));
  EXPECT_THAT(text, HasSubstr(",1,5,page-faults\n"));
}

TEST(RecordViews, TheTableNamesTheTaskThatARecordIsAbout) {
  RecordTable table;
  sample::RecordHead head;
  head.type = "FORK";
  head.pid = 5;  // the parent wrote it
  head.tid = 6;
  table.begin(head);
  table.number("task_pid", 50);
  table.number("task_tid", 51);
  table.number("parent_pid", 5);
  table.end();
  head.type = "MMAP2";
  head.pid = head.tid = 0;
  table.begin(head);
  table.signed_number("map_pid", 70);
  table.number("map_tid", 71);
  table.end();
  EXPECT_THAT(std::string(table.written()), HasSubstr(",FORK,50,51,,parent_pid=5\n"));
  EXPECT_THAT(std::string(table.written()), HasSubstr(",MMAP2,70,71,,"));
}

TEST(RecordViews, TheTableHasReadperfsColumns) {
  RecordTable table;
  describe(table);
  EXPECT_EQ(RecordTable::header(), "nr,type,pid,tid,time,info\n");
  EXPECT_EQ(table.written(), "3,SAMPLE,7,8,1500000000,ip=0xabc period=12\n");
}

// Three samples of main, two of them in what it called: two thirds of 1180 pixels.
TEST_F(ReportViews, AFrameIsAsWideAsItsShareAndStandsOnItsCaller) {
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  const std::string svg = flame_graph(*named, tree);
  EXPECT_THAT(svg, HasSubstr("<title>all (3 samples, 100.00 %)</title><rect x=\"10.00\" y=\"72\" "
                             "width=\"1180.00\" height=\"16\" fill=\"#ddd\"/>"));
  EXPECT_THAT(svg, HasSubstr("<title>main (3 samples, 100.00 %)</title><rect x=\"10.00\" y=\"55\" "
                             "width=\"1180.00\""));
  EXPECT_THAT(svg, HasSubstr("(2 samples, 66.67 %)</title><rect x=\"10.00\" y=\"38\" "
                             "width=\"786.67\""));
}

TEST_F(ReportViews, FlamesOfThePageAreInSecondsAndCallersComeFirst) {
  const auto tree =
      sample::make_call_tree(result.tree, *locations, sample::TreeOrder::from_callers);
  const auto flames = page_flames(*named, tree);
  ASSERT_EQ(flames.size(), 1u);
  EXPECT_EQ(flames[0].unit, "s");
  EXPECT_THAT(flames[0].parent, testing::ElementsAre(0u, 0u, 1u));
  EXPECT_THAT(flames[0].total,
              testing::ElementsAre(testing::DoubleEq(0.003), testing::DoubleEq(0.003),
                                   testing::DoubleEq(0.002)));
  EXPECT_THAT(flames[0].self,
              testing::ElementsAre(0.0, testing::DoubleEq(0.001), testing::DoubleEq(0.002)));
}

}  // namespace
}  // namespace loft::view
