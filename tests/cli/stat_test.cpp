#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json stat_json(const std::string& arguments) {
  const Said said = run_loft("stat --format json " + arguments);
  return json::parse(said.notes, nullptr, false);
}

TEST(StatCommand, ExitsWithTheProgramsOwnStatus) {
  EXPECT_EQ(run_loft("stat -e task-clock -- true").status, 0);
  EXPECT_EQ(run_loft("stat -e task-clock -- sh -c 'exit 42'").status, 42);
}

TEST(StatCommand, AProgramKilledByASignalGives128PlusN) {
  EXPECT_EQ(run_loft("stat -e task-clock -- sh -c 'kill -9 $$'").status, 137);
}

TEST(StatCommand, TellsNotFoundFromNotExecutableFromItsOwnFailure) {
  EXPECT_EQ(run_loft("stat -- no-such-program-of-loft").status, 127);
  EXPECT_EQ(run_loft("stat -- /etc/passwd").status, 126);
  EXPECT_EQ(run_loft("stat -e no-such-event -- true").status, 125);
  EXPECT_EQ(run_loft("stat --no-such-flag -- true").status, 125);
  EXPECT_EQ(run_loft("stat").status, 125);
}

TEST(StatCommand, LeavesTheProgramsOutputAlone) {
  const Said said = run_loft("stat -e task-clock -- echo hello");
  EXPECT_EQ(said.out, "hello\n");
  EXPECT_THAT(said.notes, HasSubstr("task-clock"));
}

TEST(StatCommand, TakesTheProgramsFlagsForTheProgramsOwn) {
  EXPECT_EQ(run_loft("stat -e task-clock echo -r 5 -e x").out, "-r 5 -e x\n");
  EXPECT_EQ(run_loft("stat -e task-clock -- echo -- --help").out, "-- --help\n");
}

// In the background of a script SIGINT is ignored, and loft leaves it so.
TEST(StatCommand, PrintsTheCountsSoFarWhenInterrupted) {
  const auto before = ::signal(SIGINT, SIG_DFL);
  const Said said = run_loft("stat -e task-clock -- sh -c 'kill -INT $PPID; exec sleep 30'");
  ::signal(SIGINT, before);
  EXPECT_EQ(said.status, 130);
  EXPECT_THAT(said.notes, HasSubstr("task-clock"));
}

TEST(StatCommand, HasTheAgreedJsonShape) {
  const json result = stat_json("-e task-clock,page-faults -- true");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["schema"], "loft.stat/1");
  EXPECT_EQ(result["command"], json::array({"true"}));
  EXPECT_EQ(result["exit"], 0);
  EXPECT_EQ(result["source"], "perf_events");
  EXPECT_GT(result["wall_s"].get<double>(), 0);
  ASSERT_EQ(result["events"].size(), 2u);
  const json& event = result["events"][0];
  EXPECT_EQ(event["name"], "task-clock");
  EXPECT_EQ(event["kind"], "counted");
  EXPECT_EQ(event["unit"], "ns");
  EXPECT_EQ(event["running"], 1.0);
  EXPECT_TRUE(event["value"].is_number_unsigned());
  EXPECT_TRUE(result["metrics"].is_array());
}

// Where there are counters the value is a number, where there are none it is null, with its reason.
TEST(StatCommand, NeverShowsZeroForAnEventThatCannotBeCounted) {
  const json result = stat_json("-e task-clock,cycles -- true");
  const json& cycles = result["events"][1];
  if (cycles["kind"] == "missing") {
    EXPECT_TRUE(cycles["value"].is_null());
    EXPECT_FALSE(cycles["why"].get<std::string>().empty());
    const Said said = run_loft("stat -e task-clock,cycles -- true");
    EXPECT_THAT(said.notes, HasSubstr("not counted  cycles"));
  } else {
    EXPECT_GT(cycles["value"].get<double>(), 0);
  }
}

#ifdef LOFT_HAS_ENGINE
TEST(StatCommand, EachEventComesFromTheSourceThatHasIt) {
  const json result = stat_json("-e cycles,instructions,flops -- true");
  ASSERT_EQ(result["events"].size(), 3u);
  EXPECT_EQ(result["events"][1]["kind"], "counted");
  EXPECT_GT(result["events"][1]["value"].get<double>(), 1000);
  EXPECT_EQ(result["events"][2]["kind"], "counted");
  const json& cycles = result["events"][0];
  if (cycles["kind"] == "missing") {
    EXPECT_THAT(cycles["why"].get<std::string>(), HasSubstr("no hardware counters"));
    EXPECT_EQ(result["source"], "virtual") << "one run is enough";
  }
}

TEST(StatCommand, AProgramThatRunsForTwoSourcesIsHeardOnce) {
  const Said said = run_loft("stat --format json -e task-clock,flops,GFLOPS -- echo hello");
  EXPECT_EQ(said.out, "hello\n");
  const json result = json::parse(said.notes, nullptr, false);
  EXPECT_EQ(result["source"], "perf_events+virtual");
  for (const json& event : result["events"]) EXPECT_EQ(event["kind"], "counted") << event;
  const json& rate = result["metrics"].back();
  EXPECT_EQ(rate["name"], "GFLOPS");
  EXPECT_TRUE(rate["value"].is_number()) << "operations over the time of the native run";
  EXPECT_THAT(result["notes"].dump(), HasSubstr("ran twice"));
}

TEST(StatCommand, AMetricThatCannotBeHadDoesNotTakeAnotherWithIt) {
  const json result = stat_json("--source virtual -e GFLOPS,intensity -- true");
  const json& metrics = result["metrics"];
  ASSERT_EQ(metrics.size(), 2u) << result;
  EXPECT_TRUE(metrics[0]["value"].is_null());
  EXPECT_THAT(metrics[0]["why"].get<std::string>(), HasSubstr("engine"));
  EXPECT_TRUE(metrics[1]["value"].is_number());
}
#endif

TEST(StatCommand, RepeatsGiveMeanAndInterval) {
  const json result = stat_json("-r 3 -e page-faults -- true");
  EXPECT_EQ(result["runs"], 3);
  const json& event = result["events"][0];
  ASSERT_EQ(event["ci95"].size(), 2u);
  EXPECT_LE(event["ci95"][0].get<double>(), event["value"].get<double>());
  EXPECT_GE(event["ci95"][1].get<double>(), event["value"].get<double>());
}

TEST(StatCommand, ShowsThreadsAndIntervalsInJson) {
  const json threads = stat_json("--per-thread -e task-clock -- " LOFT_TEST_THREADS " 2");
  EXPECT_EQ(threads["events"][0]["threads"].size(), 4u);
  const json intervals = stat_json("-I 5 -e task-clock -- " LOFT_TEST_THREADS " 2");
  EXPECT_GT(intervals["intervals"].size(), 1u);
}

TEST(StatCommand, IntervalsAreToldOfEachCpuAndThread) {
  const json cpus = stat_json("-a --per-core -I 5 -e task-clock -- sleep 0.03");
  if (cpus.contains("intervals")) {  // with permission for whole CPUs
    EXPECT_FALSE(cpus["intervals"][0]["cpus"].empty());
    EXPECT_TRUE(cpus["intervals"][0]["cpus"][0]["values"].contains("task-clock"));
  }
  const json threads = stat_json("--per-thread -I 5 -e task-clock -- " LOFT_TEST_THREADS " 2");
  ASSERT_FALSE(threads["intervals"].empty()) << threads;
  EXPECT_FALSE(threads["intervals"].back()["threads"].empty());
}

TEST(StatCommand, ANameThatNoPmuHasIsNotATracepoint) {
  const Said said = run_loft("stat -e NO_SUCH_EVENT:UMASK -- true");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, Not(HasSubstr("tracefs")));
  EXPECT_THAT(said.notes, HasSubstr("nothing here has this name"));
}

TEST(StatCommand, OffersTheNearestNamesForAnUnknownEvent) {
  EXPECT_THAT(run_loft("stat -e page-fualts -- true").notes, HasSubstr("page-faults"));
}

TEST(StatCommand, SaysWhichModifierIsWrong) {
  const Said said = run_loft("stat -e task-clock:z -- true");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("task-clock:z"));
}

TEST(StatCommand, SaysThatAProcessIsGone) {
  const Said said = run_loft("stat -p 999999999");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("no such process"));
}

TEST(StatCommand, WatchesARunningProcessForAsLongAsACommandRuns) {
  const json result = stat_json("-e task-clock -p $$ -- sleep 0.05");
  EXPECT_EQ(result["exit"], 0);
  EXPECT_EQ(result["events"][0]["kind"], "counted");
}

TEST(StatCommand, RefusesFlagsThatContradictEachOther) {
  EXPECT_EQ(run_loft("stat -a -p 1 -- true").status, 125);
  EXPECT_EQ(run_loft("stat -r 3 -I 10 -- true").status, 125);
  EXPECT_EQ(run_loft("stat -a --per-thread -- true").status, 125);
  EXPECT_EQ(run_loft("stat --sharing --model sampled -- true").status, 125);
  EXPECT_EQ(run_loft("stat --by line --per-thread -- true").status, 125);
}

TEST(StatCommand, TheExtensionPicksTheFormatAndAnUnknownOneIsRefusedBeforeRunning) {
  const Said csv = run_loft(
      "stat -e task-clock -o /tmp/loft-cli-test.csv -- echo ran && cat /tmp/loft-cli-test.csv");
  EXPECT_THAT(csv.out, HasSubstr("scope,part,event,value"));
  const Said refused = run_loft("stat -e task-clock -o /tmp/loft-cli-test.xyz -- echo ran");
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.out, Not(HasSubstr("ran")));
}

#ifdef LOFT_HAS_ENGINE
// Each thread has half of one line, and both count in another one.
TEST(StatCommand, LinesThatThreadsShareAreNamedWithWhoSharesThem) {
  const json run = stat_json("--sharing -- " LOFT_TEST_THREADS " share 200000");
  ASSERT_TRUE(run.contains("sharing")) << run;
  const auto line_of = [&](const std::string& variable) -> json {
    for (const json& line : run["sharing"]["lines"])
      if (line["variable"].is_string() &&
          line["variable"].get<std::string>().find(variable) != std::string::npos)
        return line;
    return {};
  };
  const json apart = line_of("neighbours");
  ASSERT_FALSE(apart.is_null()) << run["sharing"];
  EXPECT_EQ(apart["sharing"], "false");
  EXPECT_EQ(apart["true_transfers"], 0);
  EXPECT_GE(apart["uses"].size(), 2u);
  for (const json& use : apart["uses"]) {
    EXPECT_THAT(use["function"].get<std::string>(), HasSubstr("count_beside"));
    EXPECT_EQ(use["end_byte"].get<int>() - use["first_byte"].get<int>(), 8) << use;
  }
  const json together = line_of("together");
  ASSERT_FALSE(together.is_null()) << run["sharing"];
  EXPECT_EQ(together["sharing"], "true") << together;
  EXPECT_EQ(run["events"][0]["kind"], "modelled");
}

TEST(StatCommand, LinesOfSourceAddUpToTheWhole) {
  const json run = stat_json(
      "--by line --model full -e instructions,flops,l1d_misses -- " LOFT_TEST_KERNELS " triad 20");
  for (const json& event : run["events"]) {
    double sum = 0;
    for (const json& line : event["lines"]) sum += line["value"].get<double>();
    EXPECT_EQ(sum, event["value"].get<double>()) << event["name"];
  }
  const json& flops = run["events"][1]["lines"];
  const auto kernel = std::ranges::find_if(flops, [](const json& line) {
    return line["file"].is_string() && line["value"] == 20 * 4096 * 2;
  });
  ASSERT_NE(kernel, flops.end()) << flops;
  EXPECT_THAT((*kernel)["file"].get<std::string>(), HasSubstr("kernels.cpp"));
}

TEST(StatCommand, TwoSourcesStandSideBySide) {
  const Said said = run_loft(
      "stat --format json --source counters,virtual -e instructions,flops,page-faults -- echo ran");
  EXPECT_EQ(said.out, "ran\n");
  const json run = json::parse(said.notes, nullptr, false);
  ASSERT_EQ(run["compared"].size(), 3u) << said.notes;
  EXPECT_GT(run["compared"][0]["virtual"]["value"].get<double>(), 1000);
  EXPECT_EQ(run["compared"][1]["virtual"]["value"], 0);
  for (const auto& [row, side] : {std::pair(1, "perf_events"), std::pair(2, "virtual")}) {
    EXPECT_TRUE(run["compared"][row][side]["value"].is_null()) << said.notes;
    EXPECT_NE(run["compared"][row][side]["why"], "");
    EXPECT_TRUE(run["compared"][row]["ratio"].is_null());
  }
  EXPECT_EQ(run_loft("stat --source counters,virtual --by function -- true").status, 125);
}

TEST(StatCommand, TheVirtualPmuRunsUnderItself) {
  const Said said = run_loft("stat --source virtual -e instructions -- " LOFT_PROGRAM
                             " stat --source virtual -e syscalls -- sh -c 'exit 7'");
  EXPECT_EQ(said.status, 7) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("  syscalls\n"));
  EXPECT_THAT(said.notes, HasSubstr("  instructions\n"));
  EXPECT_THAT(said.notes, HasSubstr("another loft counts what it runs"));
}
#endif

TEST(StatCommand, EscapesHostileNames) {
  const Said said = run_loft("stat -e \"$(printf 'a\\033[2Jb')\" -- true");
  EXPECT_EQ(said.notes.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace loft
