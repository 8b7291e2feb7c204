// What is shown of a job, and the tables that other programs read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "view/job.hpp"
#include "view/job_compare.hpp"
#include "view/job_table.hpp"
#include "view/parquet.hpp"

namespace loft::view {
namespace {

using testing::HasSubstr;
using testing::Not;

model::JobReport example() {
  model::JobReport report;
  report.folder = "results";
  report.command = "./app";
  report.source = "perf_events";
  report.size = 4;
  report.complete = report.counted = 3;
  report.wall_seconds = 2;
  report.load = "task-clock";
  report.load_unit = "s";
  report.load_origin = sample::Origin::scaled;
  report.imbalance = 0.25;
  report.mpi = model::MpiShares{0.1, 0.2, 0.4, true, 3};
  report.missing = {3};
  report.missing_count = 1;
  for (std::uint32_t i = 0; i < 3; ++i)
    report.ranks.push_back({i, "n0", model::RankState::complete, 0, 2.0});
  report.columns = {{"task-clock", "ns", sample::Origin::scaled, 5'000'000'000, 3},
                    {"flops", "", sample::Origin::missing, std::nullopt, 0}};
  report.functions = {{"solve", "/app", false, 3, 1.5, 2, 1, 0.5, {4'500'000'000, std::nullopt}}};
  report.stragglers = {{1, "n0", 1.5, "solve", "/app", 0.5}};
  report.skipped = {{"results/n0/x", "it is no file of a rank"}};
  return report;
}

TEST(JobText, SaysWhatTheJobIsAndOfHowManyRanks) {
  EXPECT_EQ(job_text(example(), {}),
            "results: 4 ranks on 1 node\n"
            "  ./app\n"
            "  wall 2.00 s, imbalance 25.0 % (task-clock outside MPI, sampled)\n"
            "  MPI 10.0 % to 40.0 %, median 20.0 % (timed call by call)\n"
            "  all figures are of 3 of 4 ranks\n"
            "  no file of rank 3\n"
            "stragglers\n"
            "  rank 1 on n0: 1.50 times the median; solve takes 500 ms more than in the median "
            "rank\n"
            "functions by what their imbalance costs\n"
            "        cost         mean         most in rank   ranks  function\n"
            "      500 ms       1.50 s       2.00 s       1       3  solve\n"
            "sums over ranks\n"
            "           5,000,000,000 ns task-clock  (3 of 4 ranks)\n"
            "               not known flops  (0 of 4 ranks)\n"
            "skipped results/n0/x: it is no file of a rank\n");
}

TEST(JobText, MarksAnEstimatedShareOfMpi) {
  model::JobReport report = example();
  report.mpi->is_measured = false;
  EXPECT_THAT(job_text(report, {}), HasSubstr("~MPI 10.0 %"));
  report.mpi.reset();
  EXPECT_THAT(job_text(report, {}), HasSubstr("MPI: not known"));
}

TEST(JobOpenMetrics, HasNoSeriesForWhatIsNotKnown) {
  const std::string text = job_openmetrics(example());
  EXPECT_THAT(text, HasSubstr("loft_job_imbalance_ratio{folder=\"results\",job=\"\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("loft_rank_wall_seconds{folder=\"results\",job=\"\",node=\"n0\",rank="
                              "\"2\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("loft_rank_flops{")));
  EXPECT_THAT(text, testing::EndsWith("# EOF\n"));
}

TEST(JobCompare, ShowsMeanRanksSideBySide) {
  model::JobReport after = example();
  after.folder = "later";
  after.columns[0].sum = 6'000'000'000;
  after.functions[0].mean = 3;
  const std::string text = job_compare_text(model::compare_jobs(example(), after));
  EXPECT_THAT(text, HasSubstr("+20.0 %  task-clock, mean rank"));
  EXPECT_THAT(text, HasSubstr("+100.0 %  solve"));
  EXPECT_THAT(text, HasSubstr("not known"));
}

std::string table(std::unique_ptr<JobTableWriter> (*make)(TableSink), const std::string& function) {
  std::string text;
  const auto writer = make([&](std::string_view piece) {
    text += piece;
    return true;
  });
  model::JobTableRow row;
  row.node = "n'1";
  row.state = "complete";
  row.function = function;
  row.metric = "flops";
  row.kind = "counted";
  row.value = 18446744073709551615u;
  writer->add(row);
  row.kind = "missing";
  row.value.reset();
  writer->add(row);
  EXPECT_TRUE(writer->finish());
  return text;
}

TEST(JobTable, KeepsEveryDigitAndEscapesNames) {
  const std::string csv = table(job_csv, "f(a, \"b\")");
  EXPECT_THAT(csv, HasSubstr(",\"f(a, \"\"b\"\")\",,0,flops,,counted,18446744073709551615\n"));
  EXPECT_THAT(csv, HasSubstr(",flops,,missing,\n"));
  const std::string sql = table(job_sql, "x'); DROP TABLE job;--");
  EXPECT_THAT(sql, HasSubstr("'n''1'"));
  EXPECT_THAT(sql, HasSubstr("'x''); DROP TABLE job;--'"));
  EXPECT_THAT(sql, HasSubstr(",'missing',NULL);\nCOMMIT;\n"));
}

std::string unpacked(std::string_view gzip) {
  std::string out(1 << 16, '\0');
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  return out;
}

// Two rows, of which the second has no value: one run of each level, then the number.
TEST(Parquet, WritesPagesAsTheFormatHasThem) {
  std::string file;
  ParquetWriter writer({{"value", ParquetType::optional_unsigned}}, [&](std::string_view piece) {
    file += piece;
    return true;
  });
  writer.add_unsigned(0, 7);
  writer.end_row();
  writer.add_unsigned(0, std::nullopt);
  writer.end_row();
  ASSERT_TRUE(writer.finish());
  EXPECT_TRUE(file.starts_with("PAR1"));
  EXPECT_TRUE(file.ends_with("PAR1"));
  const std::size_t page = file.find("\x1f\x8b");
  ASSERT_NE(page, std::string::npos);
  using namespace std::string_literals;
  EXPECT_EQ(unpacked(std::string_view(file).substr(page)),
            "\4\0\0\0\2\1\2\0"s + "\7\0\0\0\0\0\0\0"s);
}

}  // namespace
}  // namespace loft::view
