// Many ranks as one job: sums, imbalance, stragglers, and what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "job/folder.hpp"
#include "job/merge.hpp"
#include "job/rank_file.hpp"
#include "job/read_job.hpp"
#include "job/window.hpp"

namespace loft::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One second of solve in each rank, some more in one, and the rest of the time in MPI.
RankSummary rank(std::uint32_t number, std::uint32_t size, std::uint64_t solve_ms) {
  RankSummary summary;
  summary.rank = {number, size, number % 2, number < 2 ? "n0" : "n1"};
  summary.state = State::ended;
  summary.wall_ns = 2'000'000'000;
  summary.start_ns = 1000 + number;
  summary.columns = {{"task-clock", "ns", sample::Origin::scaled},
                     {"flops", "", sample::Origin::counted},
                     {"bytes", "", sample::Origin::counted}};
  const std::uint64_t inside = 2'000 - solve_ms;
  summary.totals = {2'000'000'000, solve_ms + 1, 3};
  summary.functions = {{"solve", "/app", false, {solve_ms * 1'000'000, solve_ms, 2}},
                       {"progress", "/lib/libmpi.so", true, {inside * 1'000'000, 1, 1}}};
  return summary;
}

TEST(Merge, SumsAsIntegersAndComparesWhatIsOutsideMpi) {
  Merge merge({.load = "task-clock"});
  for (std::uint32_t i = 0; i < 4; ++i) merge.add(rank(i, 4, i == 2 ? 1600 : 800));
  const auto report = std::move(merge).report();
  EXPECT_EQ(report.size, 4u);
  EXPECT_EQ(report.complete, 4u);
  EXPECT_THAT(report.missing, IsEmpty());
  EXPECT_EQ(report.wall_seconds, 2);
  ASSERT_TRUE(report.imbalance);
  EXPECT_DOUBLE_EQ(*report.imbalance, 0.6);  // 1.6 over the mean of 1
  ASSERT_TRUE(report.mpi);
  EXPECT_FALSE(report.mpi->is_measured);
  EXPECT_DOUBLE_EQ(report.mpi->least, 0.2);
  EXPECT_DOUBLE_EQ(report.mpi->median, 0.6);
  ASSERT_THAT(report.columns, SizeIs(3));
  EXPECT_EQ(report.columns[1].sum, 3 * 801u + 1601u);
  ASSERT_THAT(report.stragglers, SizeIs(1));
  EXPECT_EQ(report.stragglers[0].rank, 2u);
  EXPECT_EQ(report.stragglers[0].node, "n1");
  EXPECT_EQ(report.stragglers[0].function, "solve");
  EXPECT_DOUBLE_EQ(report.stragglers[0].factor, 2);
  EXPECT_DOUBLE_EQ(report.stragglers[0].excess, 0.8);
  ASSERT_THAT(report.functions, SizeIs(2));
  EXPECT_EQ(report.functions[0].name, "solve");
  EXPECT_DOUBLE_EQ(report.functions[0].cost, 0.6);
  EXPECT_EQ(report.functions[0].most_rank, 2u);
  EXPECT_TRUE(report.functions[1].in_mpi);
  EXPECT_EQ(report.ranks[2].flops, 1600);  // without MPI's own
}

TEST(Merge, WhatWasNotCountedIsMissingInFunctionsToo) {
  RankSummary summary = rank(0, 1, 800);
  summary.columns[1].origin = sample::Origin::missing;
  summary.totals[1].reset();
  summary.functions[0].values[1] = 0;
  Merge merge({.load = "task-clock"});
  merge.add(summary);
  const auto report = std::move(merge).report();
  EXPECT_FALSE(report.functions[0].sums[1]);
  EXPECT_FALSE(report.ranks[0].flops);
}

TEST(Merge, LeavesOutRanksThatDidNotEnd) {
  Merge merge({.load = "task-clock"});
  merge.add(rank(0, 4, 800));
  RankSummary killed = rank(1, 4, 100);
  killed.exit_status = 137;
  EXPECT_EQ(state_of(killed), model::RankState::killed);
  killed.exit_status = 195;  // no signal has this number
  EXPECT_EQ(state_of(killed), model::RankState::failed);
  killed.exit_status = 137;
  merge.add(killed);
  RankSummary running = rank(3, 4, 0);
  running.state = State::running;
  merge.add(running);
  const auto report = std::move(merge).report();
  EXPECT_EQ(report.complete, 1u);
  EXPECT_EQ(report.columns[0].ranks, 1u);
  EXPECT_EQ(report.columns[0].sum, 2'000'000'000u);
  EXPECT_THAT(report.missing, ElementsAre(2u));
  EXPECT_EQ(report.ranks[1].state, model::RankState::killed);
  EXPECT_FALSE(report.ranks[2].wall_seconds) << "nobody saw its end";
  EXPECT_EQ(report.ranks[2].state, model::RankState::unfinished);
}

TEST(Merge, NamesNoStragglerByAFewSamples) {
  for (const std::uint64_t sample_ms : {0, 1, 40}) {
    Merge merge({.load = "task-clock"});
    for (std::uint32_t i = 0; i < 4; ++i) {
      RankSummary summary = rank(i, 4, i == 2 ? 1200 : 800);
      if (sample_ms != 0) summary.sample_ns = sample_ms * 1'000'000;
      const auto again = parse_summary(summary_text(summary));
      ASSERT_TRUE(again);
      merge.add(*again);
    }
    EXPECT_THAT(std::move(merge).report().stragglers, SizeIs(sample_ms == 40 ? 0 : 1));
  }
}

TEST(Merge, GivesNoSumThatDoesNotFit) {
  Merge merge({.load = ""});
  for (std::uint32_t i = 0; i < 2; ++i) {
    RankSummary summary = rank(i, 2, 800);
    summary.totals[1] = std::uint64_t{1} << 63;
    merge.add(summary);
  }
  const auto report = std::move(merge).report();
  EXPECT_FALSE(report.columns[1].sum);
  EXPECT_EQ(report.columns[2].sum, 6u);
  EXPECT_FALSE(report.imbalance);
}

TEST(Merge, TakesAMeasuredTimeInMpiBeforeAnEstimate) {
  Merge merge({.load = "task-clock"});
  RankSummary summary = rank(0, 1, 800);
  summary.mpi = MpiTime{250'000'000, 7, 1'000'000'000};
  merge.add(summary);
  const auto report = std::move(merge).report();
  ASSERT_TRUE(report.mpi);
  EXPECT_TRUE(report.mpi->is_measured);
  EXPECT_DOUBLE_EQ(report.mpi->median, 0.25);
}

class Job : public testing::Test {
 protected:
  Job() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~Job() override { std::filesystem::remove_all(folder_); }

  std::string write(const RankSummary& summary) {
    const auto path = claim_file(folder_, summary.rank);
    EXPECT_TRUE(path && write_rank_file(*path, summary));
    return *path;
  }

  std::string folder_ = "/tmp/loft-job-XXXXXX";
};

TEST_F(Job, SkipsAndNamesWhatItCannotRead) {
  for (std::uint32_t i = 0; i < 4; ++i) write(rank(i, 4, 800));
  ASSERT_TRUE(replace_file(folder_ + "/n1/3.data", "damaged"));
  ASSERT_TRUE(replace_file(folder_ + "/n0/readme.txt", "foreign"));
  const auto report = read_job(folder_, {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->complete, 3u);
  EXPECT_EQ(report->size, 4u);
  EXPECT_THAT(report->missing, ElementsAre(3u));
  ASSERT_THAT(report->skipped, SizeIs(2));
  EXPECT_THAT(report->skipped[0].path, HasSubstr("readme.txt"));
  EXPECT_THAT(report->skipped[1].path, HasSubstr("3.data"));
}

TEST_F(Job, HasAStepForEachLaunch) {
  for (std::uint32_t i = 0; i < 2; ++i) write(rank(i, 2, 800));
  // Of the second run rank 1 never started: what its launcher calls it keeps the steps apart.
  RankSummary second = rank(0, 2, 1600);
  second.start_ns = 5000;
  second.rank.launch = "2";
  write(second);
  const auto last = read_job(folder_, {});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->step, 2u);
  EXPECT_EQ(last->steps, 2u);
  EXPECT_THAT(last->missing, ElementsAre(1u));
  ReadOptions options;
  options.step = 1;
  const auto first = read_job(folder_, options);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->complete, 2u);
  options.step = 3;
  EXPECT_FALSE(read_job(folder_, options));
}

TEST_F(Job, JoinsTwoPassesByRank) {
  for (std::uint32_t i = 0; i < 2; ++i) {
    RankSummary time = rank(i, 2, 800);
    time.pass = "time";
    time.columns = {{"task-clock", "ns", sample::Origin::scaled}};
    time.totals = {2'000'000'000};
    for (FunctionRow& row : time.functions) row.values.resize(1);
    write(time);
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    RankSummary counts = rank(i, 2, 800);
    counts.pass = "counts";
    counts.start_ns = 9000;
    counts.wall_ns = 60'000'000'000;
    counts.columns.erase(counts.columns.begin());
    counts.totals.erase(counts.totals.begin());
    for (FunctionRow& row : counts.functions) row.values.erase(row.values.begin());
    write(counts);
  }
  const auto report = read_job(folder_, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->complete, 2u);
  EXPECT_EQ(report->wall_seconds, 2);
  EXPECT_EQ(report->ranks[1].flops, 800);
  EXPECT_EQ(report->ranks[1].bytes, 2);
  EXPECT_EQ(report->ranks[1].seconds, 0.8);
  EXPECT_EQ(report->functions[0].ranks, 2u);
}

// Two nodes with two ranks each, whose launcher gave the job no name; then a second run.
TEST_F(Job, ReadsTheRanksOfWholeNodesStepByStep) {
  for (const std::uint64_t start : {1000, 9000})
    for (const std::uint32_t node : {0, 1}) {
      std::vector<RankSummary> ranks{rank(2 * node, 4, 800), rank(2 * node + 1, 4, 800)};
      for (RankSummary& each : ranks) each.start_ns = start;
      if (start == 9000 && node == 1) {
        ranks[0].state = State::running;
        ranks[1].exit_status = kUnknownStatus;
      }
      const auto path = claim_node_file(folder_, ranks[0].rank.node);
      ASSERT_TRUE(path && write_node_file(*path, ranks));
    }
  EXPECT_TRUE(file_exists(folder_ + "/n1/node.2.data"));
  const auto last = read_job(folder_, {});
  ASSERT_TRUE(last) << to_string(last.error());
  EXPECT_EQ(last->steps, 2u);
  EXPECT_EQ(last->size, 4u);
  EXPECT_EQ(last->complete, 3u);  // how one of them ended nobody could ask
  EXPECT_EQ(last->ranks[2].state, model::RankState::unfinished);
  ReadOptions options;
  options.step = 1;
  const auto first = read_job(folder_, options);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->complete, 4u);
  EXPECT_EQ(first->columns[1].sum, 4 * 801u);
}

TEST_F(Job, NamesANodeWhoseRecorderMetNobodyAndKeepsItsReadableRanks) {
  write(rank(0, 4, 800));
  const auto empty = claim_node_file(folder_, "n2");
  ASSERT_TRUE(empty && write_node_file(*empty, {}));
  const auto cut = claim_node_file(folder_, "n1");
  const std::vector<RankSummary> ranks{rank(2, 4, 800), rank(3, 4, 800)};
  ASSERT_TRUE(cut && write_node_file(*cut, ranks));
  std::string bytes = *read_file(*cut);
  const std::size_t second = bytes.rfind("rank=3");
  bytes.replace(second, 6, "rank=x");
  ASSERT_TRUE(replace_file(*cut, bytes));
  const auto report = read_job(folder_, {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_THAT(report->missing, ElementsAre(1u, 3u));
  ASSERT_THAT(report->skipped, SizeIs(2));
  EXPECT_THAT(report->skipped[0].why, HasSubstr("damaged"));
  EXPECT_THAT(report->skipped[1].why, HasSubstr("no rank"));
}

TEST_F(Job, KeepsTheLastWindowsOfANode) {
  Window window;
  window.summary = rank(0, 1, 800);
  for (int minute = 10; minute < 15; ++minute) {
    window.name = "20240229T23" + std::to_string(minute) + "00Z";
    window.summary.start_ns = static_cast<std::uint64_t>(minute);
    window.summary.rank.launch = window.name;
    ASSERT_TRUE(keep_window(folder_, window, "a profile"));
  }
  ASSERT_TRUE(replace_file(folder_ + "/n0.prom", "# EOF\n"));
  ASSERT_TRUE(replace_file(folder_ + "/n0/notes.txt", "not loft's"));
  const auto removed = remove_old_windows(folder_, "n0", 3);
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, 2u);
  EXPECT_THAT(*list_directory(folder_ + "/n0"),
              ElementsAre("20240229T231200Z.data", "20240229T231200Z.pb.gz",
                          "20240229T231300Z.data", "20240229T231300Z.pb.gz",
                          "20240229T231400Z.data", "20240229T231400Z.pb.gz", "notes.txt"));
  const auto report = read_job(folder_, {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->steps, 3u);
  EXPECT_THAT(report->skipped, SizeIs(1));
  EXPECT_FALSE(is_window_name("20240229T231400"));
  EXPECT_FALSE(is_window_name("2024022xT231400Z"));
}

}  // namespace
}  // namespace loft::job
