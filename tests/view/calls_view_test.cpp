// Views of calls, of a small run whose numbers are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample/call_filter.hpp"
#include "view/calls.hpp"
#include "view/calls_exports.hpp"
#include "view/calls_page.hpp"

namespace loft::view {
namespace {

using sample::CallRun;
using testing::HasSubstr;
using testing::Not;

// main takes 100 and calls f twice: 60, with a recursion of 20 inside, and 7, ended by longjmp.
CallRun small_run() {
  CallRun run;
  run.route = "virtual";
  run.quantities = {{.name = "instructions", .unit = "instructions", .scale = 1},
                    {.name = "time", .unit = "ns", .scale = 0.5, .is_time = true}};
  for (const char* name : {"main", "f", "never"}) {
    run.functions.emplace_back().name = name;
    run.functions.back().dso = "/usr/bin/app";
  }
  run.functions[2].why_not = "too short";
  run.functions[2].hint = "use --source virtual";
  run.threads = {{10, 11, "app"}};
  run.calls = {{1, 0, 2000, 40, 2, 1, sample::kRecursive},
               {1, 0, 1000, 120, 1, 0, 0},
               {1, 0, 8000, 14, 1, 0, sample::kEndedEarly},
               {0, 0, 500, 9000, 0, sample::kNoFunction, 0}};
  run.values = {{20, 20}, {40, 40}, {60, 40}, {120, 80}, {7, 7}, {14, 14}, {100, 33}, {9000, 8866}};
  run.has_all_calls = true;
  run.seen = 4;
  run.nodes = {{sample::kNoCallNode, 0, 1}, {0, 1, 2}, {1, 1, 1}};
  run.node_values = {{100, 33}, {9000, 8866}, {67, 47}, {134, 94}, {20, 20}, {40, 40}};
  run.statistics = recompute(run);
  return run;
}

TEST(CallsText, HasFunctionsTheLargestCallsAndCallers) {
  const std::string text = calls_text(small_run());
  EXPECT_THAT(text, HasSubstr("4 calls of 2 functions (3 chosen)"));
  EXPECT_THAT(text, HasSubstr("           3         67         67         29"));
  EXPECT_THAT(text, HasSubstr("f (1 ended early)"));
  EXPECT_THAT(text, HasSubstr("main -> f"));
  EXPECT_THAT(text, HasSubstr("never: too short; use --source virtual"));
  EXPECT_THAT(calls_text(small_run(), {CallTables::tree, 20}), HasSubstr("  f\n"));
  EXPECT_THAT(calls_text(small_run(), {CallTables::list, 1}), HasSubstr("... 3 more calls"));
}

TEST(CallsText, UnknownIsNoNumber) {
  CallRun run = small_run();
  run.statistics[0].calls = 0;
  run.statistics[0].open = 1;
  run.statistics[0].of[0].calls = 0;
  run.statistics[0].of[0].histogram = {};
  const std::string text = calls_text(run, {CallTables::functions, 20});
  EXPECT_THAT(text,
              HasSubstr("0        100         33          -          -          -          -"));
  EXPECT_THAT(text, HasSubstr("main (1 open)"));
}

TEST(CallsCsv, HasARowForEachQuantity) {
  const std::string text = calls_csv(small_run());
  EXPECT_THAT(text, HasSubstr("f,/usr/bin/app,0x0,instructions,instructions,3,0,1,0,67,67,29,7,"));
  EXPECT_THAT(text, HasSubstr("f,/usr/bin/app,0x0,time,ns,3,0,1,0,67,67,29,7,"));
  EXPECT_THAT(text,
              HasSubstr("never,/usr/bin/app,0x0,instructions,instructions,0,0,0,0,0,0,,,,,,,"));
  EXPECT_THAT(calls_csv(small_run(), {CallTables::list, 20}),
              HasSubstr("f,/usr/bin/app,10,11,8000,1,main,ended_early,7,7,7,7\n"));
}

TEST(CallsJson, HasEverything) {
  const auto json = nlohmann::json::parse(calls_json(small_run()));
  EXPECT_EQ(json["schema"], "loft.call/1");
  EXPECT_EQ(json["seen"], 4);
  EXPECT_EQ(json["functions"][1]["quantities"][0]["total"], 67);
  EXPECT_EQ(json["functions"][1]["quantities"][1]["max"], 60.0);
  EXPECT_TRUE(json["functions"][2]["quantities"][0]["min"].is_null());
  EXPECT_EQ(json["calls"][2]["flags"][0], "ended_early");
  EXPECT_EQ(json["tree"][1]["parent"], 0);
}

TEST(CallsFolded, AddsUpSelfsByPath) {
  EXPECT_EQ(calls_folded(small_run()), "main 33\nmain;f 47\nmain;f;f 20\n");
}

// A begin and an end of each call, and one track.
TEST(CallsPerfetto, HasASliceForEachCall) {
  std::string trace;
  calls_perfetto(small_run(), [&](std::string_view piece) {
    trace += piece;
    return true;
  });
  std::size_t packets = 0;
  for (std::size_t at = 0; at + 1 < trace.size(); ++packets) {
    ASSERT_EQ(trace[at], 0x0A) << "a packet";
    std::size_t size = 0;
    unsigned shift = 0;
    do {
      size |= static_cast<std::size_t>(trace[++at] & 0x7F) << shift;
      shift += 7;
    } while ((trace[at] & 0x80) != 0);
    at += 1 + size;
  }
  EXPECT_EQ(packets, 1u + 2 * 4);
  EXPECT_THAT(trace, HasSubstr("instructions"));
}

TEST(CallsPage, HoldsTogether) {
  const PageData page = calls_page(small_run());
  ASSERT_EQ(page.flames.size(), 2u);
  EXPECT_EQ(page.flames[0].total[0], 100);
  EXPECT_EQ(page.flames[0].self[2], 47);
  ASSERT_TRUE(page.calls);
  EXPECT_EQ(page.calls->texts.all()[page.calls->name[0]], "main") << "the longest first";
  EXPECT_DOUBLE_EQ(page.calls->start_s[1], 1000e-9);
  EXPECT_EQ(page.calls->depth[1], 1u);
  ASSERT_EQ(page.histograms.size(), 2u);
  EXPECT_EQ(page.histograms[0].title, "f") << "most of its own";
  EXPECT_EQ(page.histograms[0].count, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(page.histograms[0].low[0], 7);
  EXPECT_EQ(page.histograms[0].high[0], 8);
  const auto html = page_html(page);
  ASSERT_TRUE(html) << to_string(html.error());
  EXPECT_TRUE(page_html(calls_page(CallRun{{small_run().quantities}})));
}

TEST(CallFilter, ChoosesCallsAndTheirStatistics) {
  const CallRun run = small_run();
  auto part = select(run, {.processes = {}, .threads = {}, .binaries = {}, .functions = {"f"}});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->calls.size(), 3u);
  EXPECT_EQ(part->statistics[0].calls, 0u);
  EXPECT_EQ(part->statistics[1], run.statistics[1]);
  sample::CallFilter late;
  late.from = Nanoseconds(4000);
  part = select(run, late);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->statistics[1].calls, 1u);
  EXPECT_EQ(part->statistics[1].of[0].total, 7u);
  sample::CallFilter nobody;
  nobody.threads = {12};
  EXPECT_EQ(select(run, nobody)->calls.size(), 0u);
}

TEST(CallFilter, RefusesWhatOnlySingleCallsTell) {
  CallRun run = small_run();
  run.has_all_calls = false;
  sample::CallFilter filter;
  filter.threads = {11};
  EXPECT_FALSE(select(run, filter));
  filter = {};
  filter.functions = {"f"};
  EXPECT_TRUE(select(run, filter));
}

}  // namespace
}  // namespace loft::view
