// Ranks of a job as points under roofs.
#include "job/roofline.hpp"

#include <gtest/gtest.h>

namespace loft::job {
namespace {

model::JobReport two_ranks() {
  model::JobReport report;
  report.folder = "results";
  report.command = "./app";
  report.size = 3;
  for (std::uint32_t i = 0; i < 2; ++i) {
    model::JobRank rank;
    rank.rank = i;
    rank.node = "n0";
    rank.seconds = 1 + i;
    rank.flops = 4e9;
    rank.bytes = 8e9;
    report.ranks.push_back(rank);
  }
  return report;
}

TEST(JobRoofline, HasAPointForEachRankThatWasMeasured) {
  model::JobReport job = two_ranks();
  job.ranks.push_back({2, "n1"});  // nothing is known of it
  const auto report = roofline_of(job, {});
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_EQ(report->chart.points.size(), 3u);
  EXPECT_EQ(report->chart.points[0].subject.scope, model::Scope::run);
  EXPECT_DOUBLE_EQ(report->chart.points[0].subject.seconds, 2);
  EXPECT_DOUBLE_EQ(report->chart.points[0].subject.work->flops(), 8e9);
  EXPECT_EQ(report->chart.points[2].subject.name, "rank 1 on n0");
  EXPECT_STREQ(report->task_word(), "rank");
  EXPECT_EQ(report->thread_names[1].node, "n0");
  EXPECT_DOUBLE_EQ(*report->chart.points[2].intensity, 0.5);
  EXPECT_DOUBLE_EQ(*report->chart.points[2].ops_per_second, 2e9);
  EXPECT_EQ(report->notes.back(), "2 of 3 ranks, each without the code of MPI");
  const auto ranks = rooflines_of_ranks(*report, {}, 1);
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].label, "rank 1 on n0");
}

TEST(JobRoofline, IsNoneWithoutBytes) {
  model::JobReport job = two_ranks();
  for (model::JobRank& rank : job.ranks) rank.bytes.reset();
  EXPECT_FALSE(roofline_of(job, {}));
}

}  // namespace
}  // namespace loft::job
