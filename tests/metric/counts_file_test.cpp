#include "metric/counts_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "metric/compare_counts.hpp"
#include "metric/load.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using sample::Origin;
using testing::ElementsAre;
using testing::HasSubstr;

CountsFile read(const std::string& text) {
  auto file = read_counts("counts.csv", text);
  if (!file) {
    ADD_FAILURE() << to_string(file.error());
    return {};
  }
  return *std::move(file);
}

double number(const CountSet& counts, const char* name) {
  const Quantity* quantity = counts.find(name);
  if (quantity == nullptr || quantity->origin == Origin::missing) {
    ADD_FAILURE() << name << " is missing";
    return -1;
  }
  return quantity->value.as_double();
}

TEST(CountsFile, ReadsWhatLoftStatWrites) {
  const CountsFile file = read(
      "scope,part,event,value,unit,kind,running,why\n"
      "run,,cycles:u,18446744073709551615,,counted,1.0000,\n"
      "thread,12 app,cycles:u,5,,counted,1.0000,\n"
      "run,,instructions:u,200.5,,scaled,0.2500,\n"
      "run,,task-clock,1500,ms,counted,1.0000,\n"
      "run,,branches,,,missing,0.0000,no PMU\n");
  EXPECT_EQ(to_string(file.total.find("cycles")->value), "18446744073709551615");
  EXPECT_EQ(file.total.find("instructions")->origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(number(file.total, "task-clock"), 1.5);
  EXPECT_EQ(file.total.find("branches")->origin, Origin::missing);
  EXPECT_EQ(file.total.find("branches")->why, "no PMU");
}

TEST(CountsFile, ReadsStatJson) {
  const CountsFile file = read(
      R"({"schema":"loft.stat/1","wall_s":2.5,"events":[
        {"name":"cycles","value":18446744073709551615,"unit":"","kind":"counted"},
        {"name":"l1d_misses","value":7,"unit":"","kind":"modelled"},
        {"name":"branches","value":null,"unit":"","kind":"missing","why":"no PMU"}]})");
  EXPECT_EQ(to_string(file.total.find("cycles")->value), "18446744073709551615");
  EXPECT_EQ(file.total.find("l1d_misses")->origin, Origin::modelled);
  EXPECT_EQ(file.total.find("branches")->why, "no PMU");
  EXPECT_DOUBLE_EQ(number(file.total, "time"), 2.5);
}

TEST(CountsFile, ReadsPerfStat) {
  const CountsFile file = read(
      "# started on Sun Nov 15\n\n"
      "1500.25,msec,task-clock:u,1500250000,100.00,0.998,CPUs utilized\n"
      "1000,,cycles:u,750000000,50.00,,\n"
      "<not supported>,,branches:u,0,100.00,,\n"
      "<not counted>,,L1-dcache-loads,0,0.00,,\n"
      "42,,cpu/event=0x3c,umask=0x1/u,1500250000,100.00,,\n"
      "2000000000,ns,duration_time,2000000000,100.00,,\n");
  EXPECT_EQ(file.format, "perf stat");
  EXPECT_DOUBLE_EQ(number(file.total, "task-clock"), 1.50025);
  EXPECT_EQ(file.total.find("cycles")->origin, Origin::scaled);
  EXPECT_DOUBLE_EQ(number(file.total, "cpu/event=0x3c,umask=0x1/u"), 42);
  EXPECT_EQ(file.total.find("branches")->origin, Origin::missing);
  EXPECT_THAT(file.total.find("L1-dcache-loads")->why, HasSubstr("not counted"));
  EXPECT_DOUBLE_EQ(number(file.total, "time"), 2);
}

TEST(CountsFile, IntervalsOfPerfGiveWindowsByGroup) {
  std::string text;
  for (int i = 1; i <= 6; ++i) {
    const std::string stamp = std::to_string(i) + ".000";
    text += stamp + ",100,,cycles,500000000,50.00,,\n";
    text += stamp + ",200,,instructions,500000000,50.00,,\n";
    text += stamp + ",7,,branches,400000000,40.00,,\n";
  }
  const CountsFile file = read(text);
  EXPECT_DOUBLE_EQ(number(file.total, "cycles"), 600);
  EXPECT_DOUBLE_EQ(number(file.total, "time"), 6);
  ASSERT_EQ(file.windows.size(), 2u);
  EXPECT_EQ(file.windows[0].events.size() + file.windows[1].events.size(), 3u);
}

TEST(CountsFile, ReadsLikwid) {
  const CountsFile file = read(
      "STRUCT,Info,3,,\nCPU name:,Intel,,,\n"
      "TABLE,Group 1 Raw,FLOPS_DP,2,\nEvent,Counter,HWThread 0,HWThread 1\n"
      "INSTR_RETIRED_ANY,FIXC0,100,50\nSTALLS,PMC0:EDGEDETECT,1,-\n"
      "TABLE,Group 1 Raw STAT,FLOPS_DP,2,\nEvent,Counter,Sum\nINSTR_RETIRED_ANY STAT,FIXC0,150\n"
      "TABLE,Group 1 Metric,FLOPS_DP,1,\nMetric,HWThread 0,HWThread 1\nRuntime (RDTSC) "
      "[s],0.5,0.5\n");
  EXPECT_DOUBLE_EQ(number(file.total, "INSTR_RETIRED_ANY"), 150);
  EXPECT_EQ(file.total.find("STALLS:EDGEDETECT")->origin, Origin::missing);
  EXPECT_DOUBLE_EQ(number(file.total, "time"), 0.5);
}

TEST(CountsFile, ReadsTablesWithEmptyCells) {
  const CountsFile file = read("program,cycles,instructions\na,10,20\nb,,40\n");
  EXPECT_EQ(file.rows, 2u);
  EXPECT_THAT(file.find_column("program")->texts, ElementsAre("a", "b"));
  EXPECT_DOUBLE_EQ(file.find_column("instructions")->numbers[1], 40);
  EXPECT_TRUE(std::isnan(file.find_column("cycles")->numbers[1])) << "empty is not 0";
}

TEST(CountsFile, RefusesWhatIsNoTable) {
  EXPECT_FALSE(read_counts("x", ""));
  EXPECT_FALSE(read_counts("x", std::string("a\0b", 3)));
  EXPECT_FALSE(read_counts("x", "a,b\n1,2,3\n"));
  EXPECT_FALSE(read_counts("x", "a,a\n1,2\n"));
  EXPECT_FALSE(read_counts("x", "{\"no\": 1}"));
}

// ---- uncertainty

GroupWindows windows_with(double share, std::size_t count, double deviation, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, deviation);
  GroupWindows group;
  group.events = {"a", "b"};
  for (std::size_t i = 0; i < count; ++i) {
    const double a = 1000 + noise(random);
    group.windows.push_back({0.01 * share, {a, 2 * a}});
  }
  group.enabled = 0.01 * static_cast<double>(count);
  return group;
}

TEST(Uncertainty, AGroupThatRanAllTheTimeHasNone) {
  const auto estimate = estimate_group(windows_with(1, 50, 100, 1));
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->covariance[0], 0);
}

TEST(Uncertainty, TheRatioOfEventsOfOneGroupIsSharperThanEither) {
  Library library;
  library.add(read_loft("t", "metric r = a / b\nmetric s = a * 1\n"), Tier::command);
  const auto estimate = estimate_group(windows_with(0.25, 50, 100, 1));
  ASSERT_TRUE(estimate);
  CountSet counts;
  for (std::size_t i = 0; i < 2; ++i)
    counts.add(estimate->events[i], {Number::real(estimate->totals[i]), Origin::scaled, {}});
  const std::vector<GroupEstimate> groups{*estimate};
  const auto evaluate = [&](const char* name) {
    const auto program = compile(library, name);
    return with_interval(*program, counts, program->evaluate(counts), groups);
  };
  const Value ratio = evaluate("r");
  const Value single = evaluate("s");
  ASSERT_TRUE(ratio.ci95 && single.ci95);
  EXPECT_GT(single.ci95->high - single.ci95->low, 1000);
  EXPECT_LT(ratio.ci95->high - ratio.ci95->low, 1e-9) << "b is always twice a";
  EXPECT_TRUE(exceeds(single, 1e-6));
  EXPECT_FALSE(exceeds(ratio, 0.01));
}

// The interval must hold the true total about as often as it says.
TEST(Uncertainty, TheIntervalCoversTheTruth) {
  Library library;
  library.add(read_loft("t", "metric s = a * 1\n"), Tier::command);
  const auto program = compile(library, "s");
  std::size_t covered = 0;
  constexpr std::size_t kTrials = 400;
  std::mt19937_64 random(5);
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    // 200 slots of the same length, 50 of them seen.
    std::normal_distribution<double> noise(1000, 200);
    GroupWindows group;
    group.events = {"a"};
    double truth = 0;
    for (int slot = 0; slot < 200; ++slot) {
      const double count = noise(random);
      truth += count;
      if (slot % 4 == static_cast<int>(random() % 4) || slot % 4 == 0)
        if (group.windows.size() * 4 <= static_cast<std::size_t>(slot))
          group.windows.push_back({0.01, {count}});
    }
    group.enabled = 2;
    const auto estimate = estimate_group(group);
    ASSERT_TRUE(estimate);
    CountSet counts;
    counts.add("a", {Number::real(estimate->totals[0]), Origin::scaled, {}});
    const std::vector<GroupEstimate> groups{*estimate};
    const Value value = with_interval(*program, counts, program->evaluate(counts), groups);
    ASSERT_TRUE(value.ci95);
    EXPECT_FALSE(value.unreliable);
    if (value.ci95->low <= truth && truth <= value.ci95->high) ++covered;
  }
  EXPECT_GT(covered, kTrials * 88 / 100);
  EXPECT_LT(covered, kTrials * 99 / 100);
}

TEST(Uncertainty, RareEventsAreFlagged) {
  Library library;
  library.add(read_loft("t", "metric s = a * 1\n"), Tier::command);
  GroupWindows group;
  group.events = {"a"};
  for (int i = 0; i < 20; ++i) group.windows.push_back({0.01, {i == 3 ? 5.0 : 0.0}});
  group.enabled = 0.8;
  const std::vector<GroupEstimate> groups{*estimate_group(group)};
  CountSet counts;
  counts.add("a", {Number::of(20), Origin::scaled, {}});
  const auto program = compile(library, "s");
  EXPECT_TRUE(with_interval(*program, counts, program->evaluate(counts), groups).unreliable);
}

TEST(Uncertainty, FewWindowsGiveNoInterval) {
  Library library;
  library.add(read_loft("t", "metric s = a * 1\n"), Tier::command);
  const std::vector<GroupEstimate> groups{*estimate_group(windows_with(0.25, 3, 100, 1))};
  CountSet counts;
  counts.add("a", {Number::of(20), Origin::scaled, {}});
  const auto program = compile(library, "s");
  EXPECT_FALSE(with_interval(*program, counts, program->evaluate(counts), groups).ci95);
}

TEST(CountsFile, PlainLinesOfNameAndValueNeedNoHeader) {
  const auto file = read_counts("p.csv", "# from a script\ninstructions,100\ncycles, 50\nlost,\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->rows, 0u) << "no table";
  EXPECT_EQ(file->total.find("instructions")->value.as_double(), 100);
  EXPECT_EQ(file->total.find("cycles")->value.as_double(), 50);
  EXPECT_EQ(file->total.find("lost")->origin, Origin::missing);
  const auto one = read_counts("p.csv", "cycles,7\n");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->total.find("cycles")->value.as_double(), 7);
  const auto table = read_counts("t.csv", "cycles,instructions\n5,7\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows, 1u);
}

sample::Comparison compared(const std::string& before, const std::string& after) {
  sample::Comparison comparison;
  const auto a = read_counted_run("a.json", before);
  const auto b = read_counted_run("b.json", after);
  if (a && b) add_counts(*a, *b, comparison);
  EXPECT_TRUE(a && b);
  return comparison;
}

std::string stat_json(const std::string& source, const std::string& event) {
  return R"({"schema":"loft.stat/1","source":")" + source + R"(","events":[)" + event + "]}";
}

TEST(CompareCounts, OnlyWhatTheVirtualPmuCountedIsExact) {
  const std::string one = R"({"name":"instructions","value":100,"kind":"counted"})";
  const std::string two = R"({"name":"instructions","value":101,"kind":"counted"})";
  using sample::Change;
  const auto change = [&](const char* source) {
    return compared(stat_json(source, one), stat_json(source, two))
        .tables.at(0)
        .rows.at(0)
        .change();
  };
  EXPECT_EQ(change("virtual"), Change::more);
  EXPECT_EQ(change("perf_events"), Change::unknown);
}

TEST(CompareCounts, SeveralRunsHaveTheIntervalOfTheirMean) {
  const auto event = [](const char* value) {
    return std::string(R"({"name":"cycles","value":)") + value +
           R"(,"kind":"counted","deviation":10,"runs":4})";
  };
  const auto row =
      compared(stat_json("perf_events", event("1000")), stat_json("perf_events", event("1030")))
          .tables.at(0)
          .rows.at(0);
  EXPECT_NEAR(*row.before->error, 5.84 * 10 / 2, 1e-9) << "Student, three degrees of freedom";
  EXPECT_EQ(row.change(), sample::Change::none);
}

TEST(CompareCounts, EventsAndFunctionsOfOneFileAreNotTakenForZeroOrMissing) {
  const auto a = stat_json("virtual", R"({"name":"flops","value":7,"kind":"counted","functions":[
      {"name":"f.part.0","binary":"/x","value":3,"kind":"counted"},
      {"name":"f","binary":"/x","value":4,"kind":"counted"}]},
      {"name":"loads","value":1,"kind":"counted"})");
  const auto b = stat_json("virtual", R"({"name":"flops","value":9,"kind":"counted","functions":[
      {"name":"g","binary":"/x","value":9,"kind":"counted"}]})");
  const auto comparison = compared(a, b);
  EXPECT_THAT(comparison.notes, ElementsAre("loads is only in the first file"));
  ASSERT_EQ(comparison.tables.size(), 2u);
  const auto& rows = comparison.tables[1].rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "g");
  EXPECT_EQ(*rows[0].difference(), 9);
  EXPECT_EQ(rows[1].name, "f");
  EXPECT_EQ(*rows[1].difference(), -7) << "its clones are one";
}

std::string roof_json(const char* counts, const char* seconds, const char* bytes,
                      const char* other_function) {
  return std::string(R"({"schema":"loft.roof/1","counts":")") + counts + R"(","points":[
      {"scope":"run","name":"app","flops":64,"bytes":)" +
         bytes + R"(,"seconds":2,"instructions":5,"work_kind":"counted"},
      {"scope":"function","name":"solve","binary":"/x","flops":64,"bytes":)" +
         bytes + R"(,"seconds":)" + seconds + R"(,"seconds_ci95":[0.9,1.1],"work_kind":"counted"},
      {"scope":"function","name":")" +
         other_function +
         R"(","binary":"/x","flops":null,"seconds":0.5,"seconds_ci95":[0.4,0.6]}]})";
}

TEST(CompareCounts, RooflinesHaveSampledTimeAndExactWork) {
  const auto comparison = compared(roof_json("virtual PMU, exact", "1.0", "128", "init"),
                                   roof_json("virtual PMU, exact", "1.5", "129", "fini"));
  std::map<std::string, const sample::ComparedTable*> tables;
  for (const auto& table : comparison.tables) tables[table.metric] = &table;
  ASSERT_TRUE(tables.contains("time") && tables.contains("bytes"));
  EXPECT_EQ(tables["time"]->unit, "s");
  const auto& rows = tables["time"]->rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "solve");
  EXPECT_EQ(rows[0].change(), sample::Change::more);
  EXPECT_NEAR(*rows[0].before->error, 0.1 * 2.576 / 1.96, 1e-9);
  for (const auto& row : {rows[1], rows[2]})
    EXPECT_EQ(row.change(), sample::Change::unknown) << "no sample is not no time: " << row.name;
  EXPECT_EQ(tables["time"]->whole.change(), sample::Change::unknown) << "one run each";
  EXPECT_EQ(tables["bytes"]->rows.at(0).change(), sample::Change::more);
  EXPECT_EQ(tables["operations"]->rows.at(0).change(), sample::Change::none);
}

TEST(CompareCounts, ModelledBytesOfARooflineAreNotExact) {
  const char* counts = "virtual PMU, exact; bytes of memory modelled";
  const auto comparison =
      compared(roof_json(counts, "1", "128", "init"), roof_json(counts, "1", "129", "init"));
  for (const auto& table : comparison.tables)
    if (table.metric == "bytes") {
      EXPECT_EQ(table.whole.change(), sample::Change::unknown);
    }
  EXPECT_FALSE(read_counted_run("two.json", R"({"schema":"loft.roof/1","runs":[],"points":[]})"));
}

}  // namespace
}  // namespace loft::metric
