// A roofline as text, JSON and CSV.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "view/roof.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;
using model::Scope;
using nlohmann::json;
using sample::Origin;
using ::testing::HasSubstr;
using ::testing::Not;

RoofPoint point(Scope scope, const std::string& name, double seconds, double share) {
  RoofPoint point;
  point.subject.scope = scope;
  point.subject.name = name;
  point.subject.seconds = seconds;
  point.subject.share_of_time = share;
  point.subject.work.emplace();
  point.subject.work->flops_dp = 4e9;
  point.subject.work->bytes = 32e9;
  point.subject.work->instructions = 6e9;
  point.intensity = 0.125;
  point.ops_per_second = point.flops_per_second = 4e9 / seconds;
  point.bytes_per_second = 32e9 / seconds;
  point.limit.emplace();
  point.limit->name = "DRAM bandwidth";
  point.limit->share = 0.8;
  return point;
}

RoofReport report() {
  RoofReport report;
  report.command = {"./solver", "input"};
  report.wall_seconds = 2;
  report.cpu_seconds = 3.5;
  report.threads = 2;
  report.counts_from = "virtual PMU, exact";
  report.chart.points = {point(Scope::run, "./solver", 2, 1), point(Scope::function, "dot", 1, 0.5),
                         point(Scope::thread, "solver", 2, 0.5)};
  report.chart.points[2].subject.tid = 42;
  report.chart.shown = {1};
  return report;
}

std::string text_of(const RoofReport& report) { return roof_text({&report, 1}); }
json json_of(const RoofReport& report) { return json::parse(roof_json({&report, 1})); }

TEST(RoofText, HasARowForTheRunItsThreadsAndFunctions) {
  EXPECT_EQ(
      text_of(report()),
      "./solver input   2.00 s on 2 threads   counts: virtual PMU, exact   time: native run\n"
      "                                 GFLOP/s    FLOP/B   limited by                 of roof"
      "    time\n"
      "whole run                           2.00     0.125   below DRAM bandwidth          80 %"
      "   100 %\n"
      "  thread 42 solver                  2.00     0.125   below DRAM bandwidth          80 %"
      "    50 %\n"
      "  dot                               4.00     0.125   below DRAM bandwidth          80 %"
      "    50 %\n");
}

TEST(RoofText, FitsEightyColumnsAndCutsNamesInTheirMiddle) {
  RoofReport run = report();
  run.chart.points.back().subject.name = "solver::assemble_the_matrix_of_all_elements_in_parallel";
  run.chart.points.back().subject.origin = Origin::modelled;
  run.chart.points.back().subject.time_error = 0.1;
  const std::string text = roof_text({&run, 1}, 80);
  const auto table = text.substr(text.find('\n') + 1);
  for (std::size_t start = 0; start < table.size(); start = table.find('\n', start) + 1) {
    const std::string line = table.substr(start, table.find('\n', start) - start);
    const auto columns = std::ranges::count_if(
        line, [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; });
    EXPECT_LE(columns, 80) << line;
  }
  EXPECT_THAT(text, HasSubstr("...")) << text;
  EXPECT_THAT(text, HasSubstr("arallel "));
  EXPECT_THAT(text, HasSubstr("below DRAM bandwidth      80 %"));
}

TEST(RoofText, EstimatesAreMarkedAndTheirErrorShown) {
  RoofReport run = report();
  run.chart.points[1].subject.origin = Origin::modelled;
  run.chart.points[1].subject.work_origin = Origin::modelled;
  run.chart.points[1].subject.time_error = 0.1;
  EXPECT_THAT(text_of(run), HasSubstr("~4.00    ~0.125   below DRAM bandwidth         ~80 %   ~50 "
                                      "% ±5\n"))
      << "a tenth of 50 %";
}

TEST(RoofText, WhatIsNotKnownSaysWhy) {
  RoofReport run = report();
  RoofPoint& dot = run.chart.points[1];
  dot.limit.reset();
  dot.intensity.reset();
  dot.ops_per_second = 0;
  EXPECT_THAT(text_of(run), HasSubstr("         0         -   no floating point"));
  dot.ops_per_second = 400e3;
  EXPECT_THAT(text_of(run), HasSubstr("< 0.001"));
  EXPECT_THAT(text_of(run), Not(HasSubstr("no floating point")));
  dot.subject.work->bytes = 0;
  EXPECT_THAT(text_of(run), HasSubstr("no loads and stores"));
  dot.ops_per_second.reset();
  EXPECT_THAT(text_of(run), HasSubstr("rate not known"));
  dot.subject.seconds = 0;
  EXPECT_THAT(text_of(run), HasSubstr("took no time"));
  dot.subject.work.reset();
  EXPECT_THAT(text_of(run), HasSubstr("not counted"));
}

TEST(RoofText, LoopsStandBelowTheirFunctionInTheOrderOfTheCode) {
  RoofReport run = report();
  for (const std::uint64_t start : {0x40u, 0x10u}) {
    RoofPoint loop = point(Scope::loop, "dot", 0, 0);
    loop.subject.loop.emplace();
    loop.subject.loop->start = loop.subject.loop->offset = start;
    loop.subject.loop->iterations = 2e9;
    loop.subject.loop->cycles = 5;
    loop.subject.loop->vector_bits = 256;
    loop.subject.share_of_time = 0.2;
    run.chart.points.push_back(loop);
  }
  run.chart.points.back().subject.loop->trips = 1000;
  const std::string text = text_of(run);
  const auto first = text.find("loop +0x10");
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(first, text.find("loop +0x40"));
  const std::string each =
      "2.00 G × 3.00 instructions, ~5.00 cycles, 16.0 B, 2.00 FLOP, 256 bits wide";
  EXPECT_THAT(text, HasSubstr(each + "; 1.00 k per entry\n"));
  EXPECT_THAT(text, HasSubstr(each + "\n")) << "entries that are not all known";
  run.chart.points.back().subject.share_of_time = 0.01;
  EXPECT_THAT(text_of(run), Not(HasSubstr("loop +0x10"))) << "it takes hardly any time";
}

TEST(RoofText, EnergyIsGivenPerOperationWhereTheCpuDidIt) {
  RoofReport run = report();
  run.energy = {{"package-0", 8, {}, false, Origin::counted},
                {"GPU", 8, {}, true, Origin::counted}};
  EXPECT_THAT(text_of(run),
              HasSubstr("energy: 8.00 J, 4.00 W, 2.00 nJ a FLOP   (package-0, whole machine)\n"));
  EXPECT_THAT(text_of(run), HasSubstr("energy: 8.00 J, 4.00 W   (GPU, whoever used it)\n"));
}

TEST(RoofJson, APointHasItsWorkRatesAndLimit) {
  const json run = json_of(report());
  EXPECT_EQ(run["schema"], "loft.roof/1");
  const json& whole = run["points"][0];
  EXPECT_EQ(whole["scope"], "run");
  EXPECT_EQ(whole["flops"], 4e9);
  EXPECT_EQ(whole["bytes"], 32e9);
  EXPECT_EQ(whole["gflops"], 2.0);
  EXPECT_EQ(whole["gbytes_per_s"], 16.0);
  EXPECT_EQ(whole["intensity"], 0.125);
  EXPECT_EQ(whole["bound_by"], "DRAM bandwidth");
  EXPECT_EQ(whole["share_of_roof"], 0.8);
  EXPECT_EQ(whole["kind"], "counted");
  EXPECT_EQ(run["points"][2]["tid"], 42);
  EXPECT_FALSE(whole.contains("tid"));
}

TEST(RoofJson, WhatIsNotKnownIsNull) {
  RoofReport run = report();
  RoofPoint& dot = run.chart.points[1];
  dot = RoofPoint{};
  dot.subject.scope = Scope::function;
  const json shown = json_of(run)["points"][1];
  for (const char* name : {"flops", "bytes", "instructions", "seconds", "share_of_time", "gflops",
                           "gops", "gbytes_per_s", "intensity", "bound_by", "share_of_roof"})
    EXPECT_TRUE(shown[name].is_null()) << name;
  EXPECT_EQ(shown["work_kind"], "missing");
}

TEST(RoofJson, TheIntervalOfATimeIsItsErrorOnBothSides) {
  RoofReport run = report();
  run.chart.points[1].subject.time_error = 0.25;
  const json shown = json_of(run)["points"][1];
  EXPECT_EQ(shown["seconds_ci95"], (json{0.75, 1.25}));
  EXPECT_FALSE(json_of(run)["points"][0].contains("seconds_ci95"));
}

TEST(RoofJson, SeveralRunsAreElementsAndPointsSayWhichIsTheirs) {
  std::vector<RoofReport> runs{report(), report()};
  runs[0].label = "before";
  runs[1].label = "after";
  const json both = json::parse(roof_json(runs));
  ASSERT_EQ(both["runs"].size(), 2u);
  EXPECT_EQ(both["points"].size(), 6u);
  EXPECT_EQ(both["points"][0]["run"], "before");
  EXPECT_EQ(both["points"][5]["run"], "after");
}

TEST(RoofCsv, HasALineForEachPointAndAnEmptyFieldForWhatIsNotKnown) {
  RoofReport run = report();
  run.chart.points.resize(2);
  run.chart.points[0].subject.name = "a,b";
  run.chart.points[0].subject.work->levels = {.l2 = 64, .l3 = {}, .dram = 16};
  RoofPoint& dot = run.chart.points[1];
  dot.subject.work.reset();
  dot.subject.seconds = 0;
  dot.intensity.reset();
  dot.ops_per_second = dot.flops_per_second = {};
  dot.limit.reset();
  EXPECT_EQ(roof_csv({&run, 1}),
            "run,scope,name,binary,tid,start_s,end_s,flops,bytes,seconds,gflops,intensity,bound_by,"
            "share_of_roof,kind,ops,gops,l2_bytes,l3_bytes,dram_bytes\n"
            ",run,\"a,b\",,,,,4000000000,32000000000,2,2,0.125,DRAM bandwidth,0.8,counted,flops,2,"
            "64,,16\n"
            ",function,dot,,,,,,,,,,,,counted,flops,,,,\n");
}

// One rate, an intensity at each level: text, JSON, drawing and page have the same numbers.
TEST(RoofLevels, AreALinePerLevelInTextAndOneOfPointsInTheDrawing) {
  RoofReport run = report();
  run.chart.roofline.slopes = {{"L1", "L1 bandwidth", 200e9}, {"DRAM", "DRAM bandwidth", 20e9}};
  run.chart.roofline.ceilings = {{"avx2", "fma", "FMA, 256 bit", 50e9}};
  RoofPoint& whole = run.chart.points[0];
  whole.levels = {{"L1", 32e9, 0.125, 16e9, 25e9, 0.08, sample::Origin::counted},
                  {"DRAM", 16e9, 0.25, 8e9, 5e9, 0.4, sample::Origin::modelled}};
  const std::string text = roof_text({&run, 1});
  EXPECT_THAT(text, HasSubstr("whole run                         L1    32.0 GB     0.125    "
                              "16.0 GB/s       8 %\n"));
  EXPECT_THAT(text, HasSubstr("DRAM   ~16.0 GB    ~0.250   ~8.00 GB/s     ~40 %\n"));
  const json levels = json_of(run)["points"][0]["levels"];
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[1]["kind"], "modelled");
  EXPECT_EQ(levels[1]["attainable_gops"], 5.0);
  EXPECT_FALSE(json_of(run)["points"][1].contains("levels"));
  const std::string svg = roof_svg({&run, 1});
  EXPECT_THAT(svg, HasSubstr("<line class=\"levels\""));
  EXPECT_THAT(svg, HasSubstr("whole run at DRAM: ~0.25 FLOP/B, ~40 % of its bandwidth"));
  EXPECT_THAT(svg, HasSubstr("FLOP per byte at each level"));
}

TEST(RoofSvg, HasThePointsOfTheRunAndOfTheShownFunctions) {
  RoofReport run = report();
  run.chart.roofline.slopes = {{"DRAM", "DRAM bandwidth", 20e9}};
  run.chart.roofline.ceilings = {{"avx2", "fma", "FMA, 256 bit", 50e9}};
  const std::string svg = roof_svg({&run, 1});
  EXPECT_THAT(svg, HasSubstr("<title>whole run: 2.00 GFLOP/s, 0.125 FLOP/B"));
  EXPECT_THAT(svg, HasSubstr("<title>dot: 4.00 GFLOP/s"));
  EXPECT_THAT(svg, Not(HasSubstr("<title>solver"))) << "threads are not drawn";
}

}  // namespace
}  // namespace loft::view
