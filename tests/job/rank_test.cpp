// Who a process is, by the environment of its launcher; and the files that ranks write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "job/folder.hpp"
#include "job/launcher.hpp"
#include "job/node_ranks.hpp"
#include "job/rank.hpp"
#include "job/rank_run.hpp"

namespace loft::job {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

std::optional<Rank> rank_in(const std::map<std::string, std::string>& environment) {
  return rank_of(
      [&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      "host");
}

TEST(Rank, IsWhatEachLauncherSays) {
  const auto open_mpi = rank_in({{"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_COMM_WORLD_SIZE", "32"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                 {"PMIX_NAMESPACE", "185794561"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(*open_mpi, (Rank{3, 32, 1, "host", "", "185794561", "Open MPI"}));
  const auto hydra = rank_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}});
  ASSERT_TRUE(hydra);
  EXPECT_EQ(*hydra, (Rank{0, 2, 0, "host", "", "", "PMI"}));
  const auto slurm = rank_in({{"SLURM_PROCID", "5"},
                              {"SLURM_STEP_NUM_TASKS", "16"},
                              {"SLURM_LOCALID", "2"},
                              {"SLURM_JOB_ID", "77"},
                              {"SLURM_STEP_ID", "4"},
                              {"SLURMD_NODENAME", "n2"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(*slurm, (Rank{5, 16, 2, "n2", "77", "77.4", "Slurm"}));
}

// mpirun starts a daemon on each node with srun: its ranks inherit the daemon's variables.
TEST(Rank, OfTheInnerLauncherCounts) {
  const auto rank = rank_in({{"SLURM_PROCID", "1"},
                             {"SLURM_NTASKS", "2"},
                             {"SLURM_STEP_ID", "0"},
                             {"SLURM_JOB_ID", "77"},
                             {"SLURMD_NODENAME", "n2"},
                             {"OMPI_COMM_WORLD_RANK", "6"},
                             {"OMPI_COMM_WORLD_SIZE", "8"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->number, 6u);
  EXPECT_EQ(rank->node, "n2");
  EXPECT_EQ(rank->job, "77");
}

TEST(Rank, IsNoneInABatchScriptOrFromNonsense) {
  EXPECT_FALSE(rank_in({}));
  EXPECT_FALSE(rank_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}}));
  EXPECT_FALSE(rank_in({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}));
  EXPECT_FALSE(rank_in({{"PMI_RANK", "-1"}, {"PMI_SIZE", "4"}}));
  EXPECT_FALSE(rank_in({{"PMI_RANK", "1"}}));
}

class Folder : public testing::Test {
 protected:
  Folder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~Folder() override { std::filesystem::remove_all(path_); }
  std::string path_ = "/tmp/loft-job-XXXXXX";
};

TEST_F(Folder, GivesEachRunOfARankAFileOfItsOwn) {
  const Rank rank{3, 4, {}, "n1"};
  EXPECT_EQ(*claim_file(path_ + "/new", rank), path_ + "/new/n1/3.data");
  EXPECT_EQ(*claim_file(path_ + "/new", rank), path_ + "/new/n1/3.2.data");
  EXPECT_EQ(*claim_file(path_ + "/new", rank), path_ + "/new/n1/3.3.data");
  const auto contents = rank_files(path_ + "/new");
  ASSERT_TRUE(contents);
  ASSERT_EQ(contents->files.size(), 3u);
  EXPECT_TRUE(is_job_folder(path_ + "/new"));
  EXPECT_FALSE(is_job_folder(path_));
}

TEST_F(Folder, IsNotLeftByTheNameOfANode) {
  EXPECT_EQ(*claim_file(path_, {0, 1, {}, "../../etc"}), path_ + "/_.._.._etc/0.data");
}

TEST_F(Folder, NamesWhatIsNoFileOfARank) {
  ASSERT_TRUE(claim_file(path_, {0, 1, {}, "n"}));
  for (const char* name : {"/n/notes.txt", "/n/0.1.data", "/n/x.data", "/n/123456789.data", "/log"})
    ASSERT_TRUE(replace_file(path_ + name, "x"));
  const auto contents = rank_files(path_);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->files.size(), 1u);
  EXPECT_EQ(contents->foreign.size(), 5u);
}

TEST(FileOfRank, KeepsRanksApartAndDevicesAsTheyAre) {
  const Rank rank{3, 4, {}, "n"};
  EXPECT_EQ(file_of_rank("perf.data", rank), "perf.3.data");
  EXPECT_EQ(file_of_rank("a.b/x.pb.gz", rank), "a.b/x.3.pb.gz");
  EXPECT_EQ(file_of_rank("./out", rank), "./out.3");
  EXPECT_EQ(file_of_rank("/dev/null", rank), "/dev/null");
  EXPECT_EQ(file_of_rank("-", rank), "-");
  EXPECT_EQ(file_of_rank("perf.data", {0, 1, {}, "n"}), "perf.data");
}

TEST(Launcher, GetsLoftBetweenItAndItsProgram) {
  const auto srun = launched_by({"/usr/bin/srun", "-n", "4", "--mpi=pmi2", "/bin/true", "-n", "x"});
  ASSERT_TRUE(srun);
  EXPECT_FALSE(srun->ranks_are_children);
  EXPECT_EQ(srun->per_rank("loft stat"),
            "/usr/bin/srun -n 4 --mpi=pmi2 loft stat --job DIR -- /bin/true -n x");
  const auto unknown = launched_by({"mpirun", "./no-such-program"});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->per_rank("loft roof --once"),
            "mpirun ... loft roof --once --job DIR -- PROGRAM");
  EXPECT_FALSE(launched_by({"/bin/true"}));
  EXPECT_FALSE(launched_by({"flux", "submit"}));
}

TEST(FullRanks, AreAListOrAll) {
  EXPECT_TRUE(*is_full({"d", "0,17"}, {17, 20, {}, "n"}));
  EXPECT_FALSE(*is_full({"d", "0,17"}, {1, 20, {}, "n"}));
  EXPECT_TRUE(*is_full({"d", "all"}, {1, 20, {}, "n"}));
  EXPECT_FALSE(*is_full({"d", ""}, {1, 20, {}, "n"}));
  EXPECT_FALSE(is_full({"d", "some"}, {1, 20, {}, "n"}));
}

ProcessFacts process(const std::string& rank, const std::string& job,
                     const std::string& cgroups = "") {
  return {{{"SLURM_STEP_ID", "1"},
           {"SLURM_PROCID", rank},
           {"SLURM_STEP_NUM_TASKS", "4"},
           {"SLURM_JOB_ID", job},
           {"SLURMD_NODENAME", "n1"}},
          cgroups,
          "./app " + rank,
          1000};
}

// Numbers that no process of a test has.
constexpr pid_t kFirst = 1 << 29;

TEST(NodeRanks, AreThoseOfTheJobOnThisNodeAndWhatTheyStart) {
  std::map<pid_t, ProcessFacts> running{{kFirst, process("0", "7")},
                                        {kFirst + 1, process("1", "7")},
                                        {kFirst + 2, process("2", "8")},
                                        {kFirst + 3, process("3", "7")},
                                        {kFirst + 4, {}}};
  running[kFirst + 3].environment.back().second = "n2";
  NodeRanks ranks({"n1", "7", "", "7.0", 0, std::nullopt}, [&](pid_t pid) {
    return running.contains(pid) ? std::optional(running[pid]) : std::nullopt;
  });
  ranks.take_fork(kFirst + 1, kFirst + 4, 50);
  for (pid_t pid = kFirst; pid < kFirst + 6; ++pid) ranks.look_at(pid, 100);
  ASSERT_EQ(ranks.ranks().size(), 2u);  // the others: of another job, of another node, of none
  EXPECT_EQ(ranks.ranks()[0].begin, 100u);
  EXPECT_EQ(ranks.ranks()[1].begin, 50u);  // its birth was seen
  EXPECT_EQ(ranks.ranks()[1].command, "./app 1");
  ranks.take_fork(kFirst + 20, kFirst + 1, 120);
  EXPECT_EQ(ranks.rank_of(kFirst + 20), 1u);
  EXPECT_FALSE(ranks.rank_of(kFirst + 2));
  ranks.take_exit(kFirst + 20, 130);
  ranks.take_exit(kFirst, 140);
  EXPECT_FALSE(ranks.have_all_ended());  // rank 1 outlives its child
  ranks.take_exit(kFirst + 1, 150);
  EXPECT_TRUE(ranks.have_all_ended());
  EXPECT_EQ(ranks.rank_of(kFirst + 20), 1u);  // samples of the past have to be given to somebody
  ranks.take_fork(kFirst + 20, kFirst + 4, 160);
  EXPECT_FALSE(ranks.rank_of(kFirst + 20));
  EXPECT_TRUE(ranks.ranks()[1].lost_samples);
}

// Rings of CPUs are read one after the other, so that a child may be met first.
TEST(NodeRanks, EndWithTheirFirstProcessHoweverItIsMet) {
  NodeRanks ranks({"n1", "7", "", "", 0, std::nullopt}, [](pid_t) { return process("1", "7"); });
  ranks.take_fork(kFirst, kFirst + 9, 10);
  ranks.take_fork(kFirst + 1, kFirst, 20);
  ranks.look_at(kFirst + 1, 30);
  ranks.take_exit(kFirst + 1, 40);
  EXPECT_TRUE(ranks.have_all_ended());
  ranks.look_at(kFirst, 50);
  ASSERT_EQ(ranks.ranks().size(), 1u);
  EXPECT_EQ(ranks.ranks()[0].pid, kFirst);
  EXPECT_EQ(ranks.ranks()[0].begin, 10u);
  EXPECT_FALSE(ranks.have_all_ended());
  ranks.take_exit(kFirst, 60);
  EXPECT_EQ(ranks.ranks()[0].end, 60u);
}

TEST(NodeRanks, HaveTheChildrenThatEndedBeforeTheyWereMet) {
  NodeRanks ranks({"n1", "7", "", "", 0, std::nullopt}, [](pid_t pid) {
    return pid == kFirst ? std::optional(process("1", "7")) : std::nullopt;
  });
  ranks.take_fork(kFirst, kFirst + 9, 10);
  ranks.take_fork(kFirst + 1, kFirst, 20);
  ranks.look_at(kFirst, 30);
  ranks.adopt(kFirst, kFirst + 9);
  ranks.adopt(kFirst + 1, kFirst);
  EXPECT_EQ(ranks.rank_of(kFirst), 0u);
  EXPECT_EQ(ranks.rank_of(kFirst + 1), 0u);
  EXPECT_FALSE(ranks.ranks()[0].lost_samples);
}

// The kernel tells of an exec before the new environment is in its place.
TEST(NodeRanks, AreLookedAtAgainWhileTheyHaveNoEnvironment) {
  bool is_there = false;
  NodeRanks ranks({"n1", "7", "", "", 0, std::nullopt},
                  [&](pid_t) { return is_there ? process("1", "7") : ProcessFacts(); });
  ranks.look_at(kFirst, 10);
  ranks.look_again(20);
  EXPECT_TRUE(ranks.ranks().empty());
  is_there = true;
  ranks.look_again(30);
  ASSERT_EQ(ranks.ranks().size(), 1u);
  EXPECT_EQ(ranks.ranks()[0].begin, 10u);
  is_there = false;
  ranks.look_at(kFirst + 1, 40);  // one that is given none
  ranks.look_again(10'000'000'000);
  is_there = true;
  ranks.look_again(10'000'000'001);
  EXPECT_EQ(ranks.ranks().size(), 1u);
}

TEST(NodeRanks, AreInTheCgroupOfTheJobWhereThereIsOne) {
  const std::string own = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n";
  EXPECT_EQ(cgroup_of_job(own, "7"), "/system.slice/slurmstepd.scope/job_7");
  EXPECT_EQ(cgroup_of_job("9:name=systemd:/\n4:memory:/slurm/uid_1/job_7\n", "7"),
            "/slurm/uid_1/job_7");
  EXPECT_EQ(cgroup_of_job(own, "70"), "");
  EXPECT_EQ(cgroup_of_job("0::/job_70/x\n", "7"), "");
  EXPECT_EQ(cgroup_of_job("", "7"), "");
  NodeRanks ranks({"n1", "7", cgroup_of_job(own, "7"), "", 0, std::nullopt}, [&](pid_t pid) {
    return process(std::to_string(pid - kFirst), "7", pid == kFirst ? own : "0::/elsewhere\n");
  });
  ranks.look_at(kFirst, 1);
  ranks.look_at(kFirst + 1, 1);  // says that it is of the job, and is not
  ASSERT_EQ(ranks.ranks().size(), 1u);
  EXPECT_EQ(ranks.ranks()[0].rank.number, 0u);
}

TEST(NodeRanks, AreBelowTheCommandWhereThereIsOneAndAreNoRecorders) {
  const auto reader = [](pid_t pid) { return process(std::to_string(pid - kFirst), "7"); };
  NodeRanks below({"n1", "7", "", "", 0, kFirst + 9}, reader);
  below.look_at(kFirst, 1);  // somebody else's
  below.take_fork(kFirst + 1, kFirst + 9, 2);
  below.look_at(kFirst + 1, 3);
  ASSERT_EQ(below.ranks().size(), 1u);
  EXPECT_EQ(below.ranks()[0].rank.number, 1u);
  NodeRanks beside({"n1", "7", "", "7.1", 0, std::nullopt}, reader);
  beside.look_at(kFirst, 1);
  EXPECT_TRUE(beside.ranks().empty());  // of the step of the recorder itself
}

}  // namespace
}  // namespace loft::job
