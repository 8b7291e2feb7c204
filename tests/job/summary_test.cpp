// The summary of a rank: small, exact, and read only where it is whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "job/rank_file.hpp"
#include "job/summary.hpp"

namespace loft::job {
namespace {

RankSummary example() {
  RankSummary summary;
  summary.rank = {3, 32, 1, "n1", "77", "77.0", "Slurm"};
  summary.state = State::ended;
  summary.command = "./app a\tb\n100%";
  summary.source = "virtual";
  summary.exit_status = 1;
  summary.start_ns = 1234567890123456789;
  summary.wall_ns = 2'000'000'000;
  summary.cpu_ns = 1'900'000'000;
  summary.mpi = MpiTime{500'000'000, 42, 1'900'000'000};
  summary.columns = {{"instructions", "", sample::Origin::counted},
                     {"l1d_misses", "", sample::Origin::missing}};
  summary.totals = {18446744073709551615u, std::nullopt};
  summary.functions = {{"solve(std::map<int, int>)", "/opt/app", false, {70, 1}},
                       {"opal_progress", "/lib/libopen-pal.so.40", true, {30, 0}}};
  summary.notes = {"a note"};
  return summary;
}

TEST(Summary, IsReadBackAsItWasWritten) {
  const auto again = parse_summary(summary_text(example()));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(*again, example());
}

TEST(Summary, HasRoomForAnyNumberOfFunctionsAndLosesNoCount) {
  RankSummary summary = example();
  summary.functions.clear();
  std::uint64_t all[2][2] = {};
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const bool in_mpi = i % 3 == 0;
    summary.functions.push_back(
        {"function_" + std::to_string(i) + std::string(300, 'x'), "/opt/app", in_mpi, {i, 2 * i}});
    all[in_mpi][0] += i;
    all[in_mpi][1] += 2 * i;
  }
  const std::string text = summary_text(summary);
  EXPECT_LE(text.size(), kMostSummaryBytes);
  const auto again = parse_summary(text);
  ASSERT_TRUE(again) << to_string(again.error());
  std::uint64_t found[2][2] = {};
  for (const FunctionRow& row : again->functions)
    for (std::size_t i = 0; i < 2; ++i) found[row.in_mpi][i] += row.values[i];
  EXPECT_EQ(found[0][0], all[0][0]);
  EXPECT_EQ(found[0][1], all[0][1]);
  EXPECT_EQ(found[1][0], all[1][0]);
  EXPECT_EQ(found[1][1], all[1][1]);
  // The largest are there by name, and names that were cut stay apart.
  EXPECT_TRUE(again->functions[0].name.starts_with("function_4999x"));
  EXPECT_TRUE(again->functions[1].name.starts_with("function_4998x"));
}

TEST(Summary, IsRefusedWhereItIsCutOrChanged) {
  const std::string text = summary_text(example());
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_summary(text.substr(0, size))) << size;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return parse_summary(changed).has_value();
  };
  EXPECT_TRUE(with("rank=3", "rank=31"));
  EXPECT_FALSE(with("rank=3", "rank=32"));
  EXPECT_FALSE(with("rank=3", "rank=3x"));
  EXPECT_FALSE(with("18446744073709551615", "18446744073709551616"));
  EXPECT_FALSE(with("\t70\t1\n", "\t70\n"));
  EXPECT_FALSE(with("\t70\t1\n", "\t70\t1\t1\n"));
  EXPECT_FALSE(with("%25", "%2"));
  EXPECT_FALSE(with("state=ended", "state=odd"));
}

class RankFile : public testing::Test {
 protected:
  RankFile() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/3.data";
  }
  ~RankFile() override { std::filesystem::remove_all(folder_); }
  std::string folder_ = "/tmp/loft-job-XXXXXX";
  std::string path_;
};

TEST_F(RankFile, HoldsASummaryInSixteenKilobytes) {
  RankSummary summary = example();
  for (int i = 0; i < 2000; ++i)
    summary.functions.push_back({"f" + std::to_string(i), "/b" + std::to_string(i), false, {1, 1}});
  ASSERT_TRUE(write_rank_file(path_, summary));
  EXPECT_LE(std::filesystem::file_size(path_), 16u * 1024);
  const auto file = SummaryFile::open(path_);
  ASSERT_TRUE(file) << to_string(file.error());
  ASSERT_EQ(file->size(), 1u);
  const auto again = file->summary(0);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->rank, summary.rank);
}

TEST_F(RankFile, IsNoneWhereItIsEmptyCutOrForeign) {
  ASSERT_TRUE(write_rank_file(path_, example()));
  const std::string file = *read_file(path_);
  for (const std::string& bytes :
       {std::string(), std::string("hello"), file.substr(0, 60), std::string(300, 'x')}) {
    ASSERT_TRUE(replace_file(path_, bytes));
    EXPECT_FALSE(SummaryFile::open(path_)) << bytes.size();
  }
  ASSERT_TRUE(replace_file(path_, file.substr(0, file.size() - 1)));
  const auto cut = SummaryFile::open(path_);
  EXPECT_TRUE(!cut || cut->size() == 0 || !cut->summary(0));
}

TEST_F(RankFile, HoldsAllRanksOfANode) {
  std::vector<RankSummary> node(3, example());
  for (std::uint32_t i = 0; i < 3; ++i) node[i].rank.number = i;
  ASSERT_TRUE(write_node_file(path_, {}));
  const auto begun = SummaryFile::open(path_);
  ASSERT_TRUE(begun);
  EXPECT_FALSE(begun->is_recording());
  EXPECT_EQ(begun->size(), 0u);
  ASSERT_TRUE(write_node_file(path_, node));
  const auto file = SummaryFile::open(path_);
  ASSERT_TRUE(file);
  ASSERT_EQ(file->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto again = file->summary(i);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(again->rank, node[i].rank);
  }
}

}  // namespace
}  // namespace loft::job
