// Ranks of a job, as their launcher's environment makes them, without any MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "cli/run_loft.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class JobCommand : public testing::Test {
 protected:
  JobCommand() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~JobCommand() override {
    ::unsetenv("PMI_RANK");
    ::unsetenv("PMI_SIZE");
    std::filesystem::remove_all(folder_);
  }

  static Said as_rank(int rank, int size, const std::string& arguments) {
    ::setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
    ::setenv("PMI_SIZE", std::to_string(size).c_str(), 1);
    return run_loft(arguments);
  }
  [[nodiscard]] json report() const {
    return json::parse(run_loft("report " + folder_ + "/job --format json").out, nullptr, false);
  }

  std::string folder_ = "/tmp/loft-job-XXXXXX";
};

#ifdef __x86_64__
TEST_F(JobCommand, AddsRanksUpAndNamesTheStraggler) {
  for (int rank = 0; rank < 4; ++rank) {
    const Said said =
        as_rank(rank, 5,
                "stat --source virtual -e instructions,flops_dp --job " + folder_ +
                    "/job -- " LOFT_TEST_KERNELS " triad " + (rank == 2 ? "400" : "100"));
    ASSERT_EQ(said.status, 0) << said.notes;
  }
  const json job = report();
  ASSERT_TRUE(job.is_object());
  EXPECT_EQ(job["schema"], "loft.job/1");
  EXPECT_EQ(job["ranks"], 5);
  EXPECT_EQ(job["complete"], 4);
  EXPECT_EQ(job["missing"], json({4}));
  ASSERT_EQ(job["stragglers"].size(), 1u);
  EXPECT_EQ(job["stragglers"][0]["rank"], 2);
  EXPECT_EQ(job["stragglers"][0]["function"], "triad_kernel");
  // 2,000 multiply-adds a round, which are twice as many operations.
  ASSERT_EQ(job["functions"][0]["name"], "triad_kernel");
  const std::int64_t rounds = 3 * 100 + 400;
  EXPECT_EQ(job["functions"][0]["sums"]["flops_dp"].get<std::int64_t>() % rounds, 0);
  const std::string text = run_loft("report " + folder_ + "/job").out;
  EXPECT_THAT(text, HasSubstr("all figures are of 4 of 5 ranks"));
  EXPECT_THAT(text, HasSubstr("no file of rank 4"));
  const std::string table = run_loft("report " + folder_ + "/job --format csv").out;
  EXPECT_THAT(table, HasSubstr(",triad_kernel,"));
}
#endif

#ifdef __x86_64__
TEST_F(JobCommand, CountsTheCallsOfRanksAndNamesTheOneWithMost) {
  for (int rank = 0; rank < 4; ++rank) {
    const Said said =
        as_rank(rank, 4,
                "call triad_kernel --source virtual -e instructions --job " + folder_ +
                    "/job -- " LOFT_TEST_KERNELS " triad " + (rank == 1 ? "300" : "100"));
    ASSERT_EQ(said.status, 0) << said.notes;
  }
  const json job = report();
  ASSERT_TRUE(job.is_object());
  EXPECT_EQ(job["complete"], 4);
  ASSERT_EQ(job["functions"].size(), 1u);
  EXPECT_EQ(job["functions"][0]["name"], "triad_kernel");
  EXPECT_EQ(job["functions"][0]["sums"]["calls"], 600);
  EXPECT_EQ(job["load"], "instructions");  // not the engine's time
  ASSERT_EQ(job["stragglers"].size(), 1u);
  EXPECT_EQ(job["stragglers"][0]["rank"], 1);
  const Said twice =
      as_rank(0, 4, "call triad_kernel -e instructions -- touch " + folder_ + "/ran");
  EXPECT_EQ(twice.status, 125);
  EXPECT_FALSE(file_exists(folder_ + "/ran"));
}
#endif

TEST_F(JobCommand, KeepsTimesOfRanksAndFullRecordings) {
  for (int rank = 0; rank < 2; ++rank) {
    const Said said = as_rank(
        rank, 2, "record --job " + folder_ + "/job --full 1 -- " LOFT_TEST_KERNELS " triad 2000");
    if (said.status == 125) GTEST_SKIP() << said.notes;  // nothing may be sampled here
    ASSERT_EQ(said.status, 0) << said.notes;
  }
  const json job = report();
  ASSERT_TRUE(job.is_object());
  EXPECT_EQ(job["complete"], 2);
  EXPECT_EQ(job["load"], "task-clock");
  EXPECT_TRUE(job["skipped"].empty());
}

// A rank waits until the recorder has met it; then how fast the machine is makes no difference.
TEST_F(JobCommand, RecordsAllRanksOfANodeInOneFile) {
  const std::string job = folder_ + "/job";
  ASSERT_TRUE(replace_file(folder_ + "/rank", LOFT_TEST_KERNELS " triad $1\n"
                                                                "until grep -qa ^rank=$PMI_RANK " +
                                                  job +
                                                  "/*/node.data; do sleep 0.01; done\n"
                                                  "exit $2\n"));
  ASSERT_TRUE(replace_file(folder_ + "/launch",
                           "cd " + folder_ +
                               "\nexport PMI_SIZE=4\n"
                               "PMI_RANK=0 sh ./rank 100000 0 &\nPMI_RANK=1 sh ./rank 100000 3 &\n"
                               "PMI_RANK=2 sh ./rank 100000 0 &\nwait\n"));
  const Said said = run_loft("record --job " + job + " --node -- sh " + folder_ + "/launch");
  if (said.status == 125 && said.notes.find("CAP_PERFMON") != std::string::npos)
    GTEST_SKIP() << said.notes;
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("node.data: 3 ranks"));
  const json report_of_job = report();
  ASSERT_TRUE(report_of_job.is_object());
  EXPECT_EQ(report_of_job["ranks"], 4);
  EXPECT_EQ(report_of_job["missing"], json({3}));
  EXPECT_EQ(report_of_job["load"], "task-clock");
  const json& ranks = report_of_job["rank_list"];
  ASSERT_EQ(ranks.size(), 3u);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(ranks[i]["rank"], i);
    EXPECT_GT(ranks[i]["wall_s"].get<double>(), 0);
    if (ranks[i]["exit"].is_null()) continue;  // this kernel does not tell
    EXPECT_EQ(ranks[i]["exit"], i == 1 ? 3 : 0);
  }
  // Samples are few on a busy machine: it is among the functions, not always first.
  std::vector<std::string> functions;
  for (const json& function : report_of_job["functions"])
    functions.push_back(function["name"].get<std::string>());
  EXPECT_THAT(functions, testing::Contains("triad_kernel"));
  EXPECT_EQ(run_loft("record --node -- true").status, 125);
}

TEST_F(JobCommand, KeepsWindowsOfTheMachineUntilItIsStopped) {
  const std::string job = folder_ + "/job";
  const std::string record =
      "exec " LOFT_PROGRAM " record -a -F 5000 --window 50ms --every 100ms -o " + job;
  ASSERT_TRUE(replace_file(
      folder_ + "/watch", "sh -c '" + record + "' 2>" + folder_ + "/notes &\n" + "until ls " + job +
                              "/*.prom; do kill -0 $! || exit 1; sleep 0.01; done\n" +
                              "kill -INT $!\nwait $!\n"));
  // loft runs it only to have its output and status here.
  const Said said = run_loft("stat -e task-clock -- sh " + folder_ + "/watch");
  const std::string notes = *read_file(folder_ + "/notes");
  if (notes.find("CAP_PERFMON") != std::string::npos) GTEST_SKIP() << notes;
  ASSERT_EQ(said.status, 0) << notes;
  const json report_of_window = report();
  ASSERT_TRUE(report_of_window.is_object());
  EXPECT_EQ(report_of_window["ranks"], 1);
  EXPECT_EQ(report_of_window["load"], "task-clock");
  EXPECT_TRUE(report_of_window["skipped"].empty());
  EXPECT_THAT(notes, HasSubstr("Z.pb.gz"));
  EXPECT_EQ(run_loft("record --window 1s -- true").status, 125);
  EXPECT_EQ(run_loft("record -a --window 2s --every 1s -o " + job).status, 125);
}

// Outermost calls between MPI_Init and MPI_Finalize; arguments and results pass unchanged.
TEST_F(JobCommand, TimesTheCallsOfAnyMpiInCAndFortran) {
  const Said said =
      as_rank(0, 2, "stat -e task-clock --job " + folder_ + "/job -- " LOFT_TEST_MPI_CALLS);
  ASSERT_EQ(said.status, 0) << said.notes;
  const std::string table = run_loft("report " + folder_ + "/job --format csv").out;
  EXPECT_THAT(table, HasSubstr(",mpi-calls,,counted,5\n"));
  EXPECT_THAT(table, HasSubstr(",mpi-span,ns,counted,"));
}

TEST_F(JobCommand, KeepsTheFilesOfRanksApart) {
  const std::string file = folder_ + "/counts.json";
  for (int rank = 0; rank < 2; ++rank)
    ASSERT_EQ(as_rank(rank, 2, "stat -e task-clock -o " + file + " -- true").status, 0);
  EXPECT_FALSE(file_exists(file));
  EXPECT_TRUE(file_exists(folder_ + "/counts.0.json"));
  EXPECT_TRUE(file_exists(folder_ + "/counts.1.json"));
}

TEST_F(JobCommand, RefusesWhatARankCannotDoBeforeItStarts) {
  const Said twice = as_rank(0, 2, "stat -r 3 -- touch " + folder_ + "/ran");
  EXPECT_EQ(twice.status, 125);
  const Said pass = as_rank(0, 2, "roof --pass time -- touch " + folder_ + "/ran");
  EXPECT_EQ(pass.status, 125);
  EXPECT_THAT(pass.notes, HasSubstr("--job"));
  const Said stacks =
      as_rank(0, 2, "record -g fp --job " + folder_ + " -- touch " + folder_ + "/ran");
  EXPECT_EQ(stacks.status, 125);
  EXPECT_THAT(stacks.notes, HasSubstr("--full"));
  EXPECT_FALSE(file_exists(folder_ + "/ran"));
}

TEST_F(JobCommand, SaysWhatALauncherHides) {
  ASSERT_TRUE(replace_file(folder_ + "/srun", "#!/bin/sh\nexit 0\n"));
  std::filesystem::permissions(folder_ + "/srun", std::filesystem::perms::owner_all);
  const Said said = run_loft("stat -e task-clock -- " + folder_ + "/srun -n 4 /bin/true");
  EXPECT_THAT(said.notes, HasSubstr("srun -n 4 loft stat --job DIR -- /bin/true"));
}

}  // namespace
}  // namespace loft
