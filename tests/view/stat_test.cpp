#include "view/stat.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample/repeat.hpp"
#include "view/checks.hpp"
#include "view/csv.hpp"
#include "view/sharing.hpp"
#include "view/stat_bars.hpp"
#include "view/two_sources.hpp"

namespace loft::view {
namespace {

using sample::Count;
using std::chrono::milliseconds;

sample::RunCounts example() {
  sample::RunCounts run;
  run.command = {"./solver", "input"};
  run.target = "./solver input";
  run.wall = milliseconds(500);
  run.user = milliseconds(900);
  run.system = milliseconds(50);
  run.events = {
      {"task-clock", "kernel", "ns", 1, false, Count::exact(950'000'000)},
      {"cycles", "kernel", "", 1, false, Count::exact(3'000'000'000)},
      {"instructions", "kernel", "", 1, false,
       Count::of_reading(1'500'000'000, milliseconds(950), milliseconds(475))},
      {"cache-misses", "kernel", "", 1, false, Count::missing("no counter left")},
      {"power/energy-pkg/", "sysfs", "Joules", 0.5, true, Count::exact(40)},
  };
  for (auto& event : run.events) event.id.meaning = event::meaning_of(event.name);
  return run;
}

TEST(StatText, ShowsCountsRatiosAndWhatIsMissing) {
  EXPECT_EQ(
      stat_text(example()),
      "\n"
      "./solver input   (source: perf_events)\n"
      "\n"
      "         950.00 ms  task-clock                  1.90 CPUs busy\n"
      "     3,000,000,000  cycles                      3.16 GHz\n"
      "   ~ 3,000,000,000  instructions                ~1.00 per cycle           counted 50.0 % of "
      "the time\n"
      "     20.000 Joules  power/energy-pkg/           40.00 W                   whole machine\n"
      "       not counted  cache-misses\n"
      "           because  no counter left\n"
      "\n"
      "            500 ms  wall time\n"
      "            900 ms  user, 50.0 ms system\n");
}

TEST(StatCsv, LeavesUnknownValuesEmpty) {
  EXPECT_EQ(stat_csv(example()),
            "scope,part,event,value,unit,kind,running,why,binary,low,high\n"
            "run,,task-clock,950000000,ns,counted,1.0000,,,,\n"
            "run,,cycles,3000000000,,counted,1.0000,,,,\n"
            "run,,instructions,3000000000,,scaled,0.5000,,,,\n"
            "run,,cache-misses,,,missing,0.0000,no counter left,,,\n"
            "run,,power/energy-pkg/,20,Joules,counted,1.0000,,,,\n");
}

TEST(StatJson, SurvivesNamesThatAreNotUtf8) {
  sample::RunCounts run = example();
  run.command = {"\xff\xfe"};
  EXPECT_NE(stat_json(run).find("\"command\""), std::string::npos);
}

TEST(StatText, RepeatedRunsShowTheirSpread) {
  std::vector<sample::RunCounts> runs{example(), example()};
  runs[1].events[1].total = Count::exact(3'300'000'000);
  const std::string text = stat_text(sample::merge_runs(runs));
  EXPECT_NE(text.find("3,150,000,000  cycles"), std::string::npos);
  EXPECT_NE(text.find("+- 6.73 %"), std::string::npos);
  EXPECT_NE(text.find("over 2 runs"), std::string::npos);
}

sample::RunCounts divided_example() {
  sample::RunCounts run;
  run.target = "./solver";
  run.source = sample::Source::virtual_pmu;
  run.wall = milliseconds(500);
  run.events = {{"instructions", "virtual", "", 1, false, Count::exact(1000)},
                {"load_bytes", "virtual", "B", 1, false, Count::exact(162'167'557)}};
  run.functions = {{"small", "/bin/solver", {Count::exact(300), Count::exact(0)}},
                   {"large", "/bin/solver", {Count::exact(700), Count::exact(162'167'557)}}};
  return run;
}

TEST(StatText, ShowsFunctionsByTheirCountsAndBytesToTheLastDigit) {
  EXPECT_EQ(stat_text(divided_example()),
            "\n"
            "./solver   (source: virtual PMU, exact)\n"
            "\n"
            "             1,000  instructions\n"
            "     162,167,557 B  load_bytes\n"
            "\n"
            "            500 ms  wall time under the engine, longer than the program alone\n"
            "\n"
            "      instructions          load_bytes  function\n"
            "               700       162,167,557 B  large  /bin/solver\n"
            "               300                 0 B  small  /bin/solver\n");
}

TEST(StatText, SumsUpTheFunctionsThatItDoesNotShow) {
  sample::RunCounts run = divided_example();
  for (std::uint64_t i = 0; i < 40; ++i)
    run.functions.push_back({"f", "b", {Count::exact(i), Count::exact(1)}});
  // 30 of 42 are shown: large, small and those of 39 down to 12. The others have 0 to 11.
  EXPECT_NE(stat_text(run).find("                66                12 B  (12 others)\n"),
            std::string::npos);
}

TEST(StatCsv, NamesTheBinaryOfAFunction) {
  EXPECT_NE(stat_csv(divided_example())
                .find("function,large,load_bytes,162167557,B,counted,1.0000,,/bin/solver,,\n"),
            std::string::npos);
}

TEST(StatJson, HasFunctionsInEachEventAndSaysWhoseTimeItIs) {
  const std::string text = stat_json(divided_example());
  EXPECT_NE(text.find("\"time_of\": \"engine\""), std::string::npos);
  EXPECT_NE(text.find("\"functions\": ["), std::string::npos);
  EXPECT_NE(text.find("\"value\": 162167557"), std::string::npos);
  EXPECT_EQ(stat_json(example()).find("time_of"), std::string::npos);
}

// A metric of the run, of a thread, and of an interval in which it has no value.
metric::RunMetrics example_metrics(sample::RunCounts& run) {
  const std::vector<Count> counts(run.events.size(), Count::exact(1));
  run.threads = {{7, 8, "worker", counts}};
  run.intervals = {{milliseconds(0), milliseconds(250), counts}};
  const auto value = [](double number) {
    metric::Value made;
    made.number = metric::Number::real(number);
    made.kind = sample::Origin::scaled;
    return made;
  };
  metric::Evaluated metric;
  metric.name = "share";
  metric.unit = *metric::parse_unit("%");
  metric.value = value(0.5);
  metric.value.ci95 = metric::Interval{0.4, 0.6};
  metric::RunMetrics metrics;
  metrics.total = {metric};
  metrics.events.resize(run.events.size());
  metrics.events[2] = metric::Interval{2'900'000'000, 3'100'000'000};
  metrics.threads = {{value(0.25)}};
  metric::Value missing;
  missing.why = "no counter left";
  metrics.intervals = {{missing}};
  return metrics;
}

TEST(StatText, ShowsMetricsOfEachThread) {
  sample::RunCounts run = example();
  const auto metrics = example_metrics(run);
  const std::string text = stat_text(run, metrics);
  EXPECT_NE(text.find("share  ~50 % ± 20 %"), std::string::npos) << text;
  EXPECT_NE(text.find("± 3.3 %, counted 50.0 % of the time"), std::string::npos) << text;
  const auto row = text.find("8 worker");
  ASSERT_NE(row, std::string::npos);
  EXPECT_NE(text.find("~25 %", row), std::string::npos) << text;
}

TEST(StatCsv, HasMetricsOfEachPartWithTheirInterval) {
  sample::RunCounts run = example();
  const auto metrics = example_metrics(run);
  const std::string text = stat_csv(run, metrics);
  EXPECT_NE(text.find("metric,,share,50,%,scaled,,,,40,60\n"), std::string::npos) << text;
  EXPECT_NE(text.find("thread,8 worker,share,25,%,scaled,,,,,\n"), std::string::npos) << text;
  EXPECT_NE(text.find("interval,0.000000..0.250000,share,,%,missing,,no counter left,,,\n"),
            std::string::npos)
      << text;
}

TEST(StatJson, HasMetricsOfEachPart) {
  sample::RunCounts run = example();
  const auto metrics = example_metrics(run);
  const auto json = nlohmann::json::parse(stat_json(run, metrics));
  const auto& share = json["metrics"].back();
  EXPECT_EQ(share["name"], "share");
  EXPECT_EQ(share["threads"][0]["value"], 25);
  EXPECT_EQ(share["threads"][0]["tid"], 8);
  EXPECT_TRUE(json["intervals"][0]["values"]["share"].is_null());
  EXPECT_EQ(json["intervals"][0]["kinds"]["share"], "missing");
  EXPECT_EQ(json["events"][2]["ci95"][0], 2'900'000'000.0);
}

TEST(CsvField, IsHarmlessToTerminalsAndSpreadsheets) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_field("a\nb\x1b"), "a\\x0ab\\x1b");
  EXPECT_EQ(csv_field("=cmd()"), "'=cmd()");
}

TEST(ChecksText, PutsTheFixBelowWhatIsBroken) {
  const std::vector<Check> checks{{"a", "alpha", Check::Status::ok, "works", ""},
                                  {"b", "beta", Check::Status::missing, "EPERM", "do this"}};
  const std::string text = checks_text(checks, false);
  EXPECT_NE(text.find("ok       alpha"), std::string::npos);
  EXPECT_NE(text.find("fix: do this"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(StatText, SaysWhichCpusAndHowBusyTheyWere) {
  sample::RunCounts run;
  run.target = "CPUs 1";
  run.watched_cpus = "1";
  run.wall = milliseconds(1000);
  run.busy = milliseconds(30);
  run.events = {{"task-clock", "kernel", "ns", 1, true, Count::exact(1'000'000'000)}};
  run.events[0].id = {{"software", event::kTypeSoftware, 1}, {}, event::Meaning::task_clock};
  const std::string text = stat_text(run);
  EXPECT_NE(text.find("0.03 CPUs busy"), std::string::npos) << text;
  EXPECT_EQ(text.find("whole machine"), std::string::npos) << text;
  EXPECT_NE(stat_json(run).find("\"busy_s\": 0.03"), std::string::npos);
}

TEST(StatText, ShowsTheEnergyOfEachMeter) {
  sample::RunCounts run = example();
  run.energy = {{"package-0", 12.5, {}, false, sample::Origin::counted},
                {"gpu", 3, {}, true, sample::Origin::modelled}};
  const std::string text = stat_text(run);
  EXPECT_NE(text.find("12.500 J  energy of package-0         25.00 W"), std::string::npos) << text;
  EXPECT_NE(text.find("~ 3.000 J  energy of gpu"), std::string::npos) << text;
  EXPECT_NE(stat_csv(run).find("energy,package-0,energy,12.5,J,counted"), std::string::npos);
  EXPECT_NE(stat_json(run).find("\"joules\": 12.5"), std::string::npos);
}

TEST(StatText, AnIntervalHasTheCountsOfEachCpu) {
  sample::RunCounts run;
  run.events = {{"page-faults", "kernel", "", 1, false, Count::exact(30)}};
  const sample::IntervalCounts interval{milliseconds(0),
                                        milliseconds(100),
                                        {Count::exact(30)},
                                        {},
                                        {{0, {Count::exact(10)}}, {1, {Count::exact(20)}}}};
  run.intervals = {interval};
  EXPECT_EQ(interval_text(run, interval),
            "    0.1000 s                  30  page-faults\n"
            "    0.1000 s                  10  page-faults  cpu 0\n"
            "    0.1000 s                  20  page-faults  cpu 1\n");
  EXPECT_NE(stat_csv(run).find("interval cpu,0.000000..0.100000 1,page-faults,20,"),
            std::string::npos);
  EXPECT_NE(stat_json(run).find("\"cpus\""), std::string::npos);
}

metric::Evaluated part(const char* name, std::optional<double> value) {
  metric::Evaluated part;
  part.name = name;
  part.unit.text = "cycle/instr";
  part.value.kind = value ? sample::Origin::modelled : sample::Origin::missing;
  if (value) part.value.number = metric::Number::real(*value);
  if (!value) part.value.why = "no latency";
  return part;
}

// The paper's categories: 0.5 of branches and 1.5 of data, so that the whole run is half as wide as
// the function, whose bar of 4 goes from 280 to 870.
TEST(StatBars, PartsStandBesideEachOtherOnOneScale) {
  sample::RunCounts run;
  run.target = "./app";
  run.events = {{"instructions", "", "", 1, false, Count::exact(100)}};
  run.functions = {{"few", "", {Count::exact(10)}}, {"many", "", {Count::exact(90)}}};
  metric::RunMetrics metrics;
  metrics.total = {part("Branch_cat", 0.5), part("FP_cat", std::nullopt),
                   part("Data_mem_cat", 1.5)};
  metrics.functions = {{part("", 1).value, part("", {}).value, part("", 3).value},
                       {part("", 0.25).value, part("", {}).value, part("", {}).value}};
  const auto bars = stacked_bars(run, metrics);
  ASSERT_TRUE(bars) << to_string(bars.error());
  ASSERT_EQ(bars->rows.size(), 3u);
  EXPECT_EQ(bars->rows[0].sum(), 2.0);
  EXPECT_EQ(bars->rows[1].name, "many");
  EXPECT_FALSE(bars->rows[1].sum()) << "a sum that lacks a part would be wrong";
  EXPECT_EQ(bars->rows[2].sum(), 4.0);
  const std::string svg = bars_svg(*bars);
  const auto has = [&](const char* text) { return svg.find(text) != std::string::npos; };
  EXPECT_TRUE(has("x=\"280.00\" y=\"80.0\" width=\"73.75\"")) << svg;
  EXPECT_TRUE(has("x=\"353.75\" y=\"80.0\" width=\"221.25\"")) << svg;
  EXPECT_TRUE(has("<title>few, Data_mem_cat: ~3 cycle/instr</title>")) << svg;
  EXPECT_TRUE(has(">not all known</text>")) << svg;
  EXPECT_TRUE(has("FP_cat is not known: no latency")) << svg;
  EXPECT_FALSE(stacked_bars(run, {}));
}

TEST(TwoSourcesText, HasTheRatioWhereBothCounted) {
  TwoSources both;
  both.command = {"./app"};
  both.rows.resize(2);
  both.rows[0].name = "instructions";
  both.rows[0].native = {metric::Number::of(1000), sample::Origin::counted, {}, {}, false};
  both.rows[0].virtual_pmu = {metric::Number::of(1040), sample::Origin::counted, {}, {}, false};
  both.rows[1].name = "l1d_misses";
  both.rows[1].native.why = "no such event";
  both.rows[1].virtual_pmu = {metric::Number::of(7), sample::Origin::modelled, {}, {}, false};
  EXPECT_EQ(both.rows[0].ratio(), 1.04);
  EXPECT_FALSE(both.rows[1].ratio());
  const std::string text = two_sources_text(both);
  EXPECT_NE(text.find("1.04  instructions\n"), std::string::npos) << text;
  EXPECT_NE(text.find("not counted                    ~7           -  l1d_misses\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("l1d_misses not by counters: no such event\n"), std::string::npos) << text;
  EXPECT_EQ(two_sources_csv(both),
            "event,unit,perf_events,perf_events_kind,virtual,virtual_kind,ratio\n"
            "instructions,,1000,counted,1040,counted,1.04\n"
            "l1d_misses,,,missing,7,modelled,\n");
}

TEST(SharingText, SaysWhoUsesWhichBytesOfALine) {
  sample::LineSharing sharing;
  EXPECT_NE(sharing_text(sharing).find("no line"), std::string::npos);
  sharing.line_count = 1;
  sharing.transfers = 199;
  sample::SharedLine& line = sharing.lines.emplace_back();
  line.address = 0x1000;
  line.variable = "counters";
  line.transfers = line.false_transfers = 199;
  line.kind = sample::SharingKind::false_sharing;
  line.uses = {{7, "app", "add", "/bin/app", "app.c:3", 0, 1000, 100, 0, 8},
               {8, "app", "add", "/bin/app", "", 5, 1000, 99, 8, 16}};
  const std::string text = sharing_text(sharing);
  EXPECT_NE(text.find("counters (0x1000): ~199 transfers, false sharing"), std::string::npos)
      << text;
  EXPECT_NE(text.find("~100               0           1,000      0-7  7 app  add  app.c:3\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("~100 % of the transfers"), std::string::npos) << text;
  EXPECT_EQ(sharing_json(sharing)["lines"][0]["uses"][1]["first_byte"], 8);
}

}  // namespace
}  // namespace loft::view
