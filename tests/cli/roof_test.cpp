#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/child_process.hpp"
#include "cli/run_loft.hpp"
#include "machine/file.hpp"
#include "view/unpack_page.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

model::Roof roof(model::RoofKind kind, const char* name, double best) {
  model::Roof roof;
  roof.kind = kind;
  roof.isa = kind == model::RoofKind::integer ? "scalar" : "avx2";
  roof.op = kind == model::RoofKind::bandwidth ? "load" : name;
  if (kind == model::RoofKind::flops) roof.precision = "dp";
  if (kind == model::RoofKind::bandwidth) roof.level = name;
  roof.cpus = {0};
  roof.best = roof.median = best;
  roof.verdict = model::Verdict::stable;
  return roof;
}

// A user with a machine file, so that nothing needs to be measured.
class RoofCommand : public testing::Test {
 protected:
  void SetUp() override {
#ifndef LOFT_HAS_ENGINE
    GTEST_SKIP() << "there is no virtual PMU on this architecture";
#endif
    home_ = testing::TempDir() + "loft-roof-XXXXXX";
    ASSERT_NE(::mkdtemp(home_.data()), nullptr);
    model::Machine machine;
    machine.identity = "0123456789abcdef";
    machine.cpu = "Test CPU";
    machine.architecture = "x86_64";
    machine.mode = "quick";
    machine.roofs = {roof(model::RoofKind::flops, "fma", 50e9),
                     roof(model::RoofKind::integer, "add", 12e9),
                     roof(model::RoofKind::bandwidth, "L1", 200e9),
                     roof(model::RoofKind::bandwidth, "DRAM", 20e9)};
    ASSERT_TRUE(replace_file(home_ + "/machine.json", machine::to_json(machine)));
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  [[nodiscard]] Said roof_of(const std::string& arguments) const {
    return run_loft("roof --machine " + home_ + "/machine.json " + arguments, home_);
  }
  [[nodiscard]] json points_of(const std::string& arguments) const {
    const Said said = roof_of("--format json " + arguments);
    EXPECT_EQ(said.status, 0) << said.notes;
    return json::parse(said.notes.empty() ? said.out : said.notes, nullptr, false);
  }
  static json point(const json& report, const std::string& scope, const std::string& name = {}) {
    for (const json& each : report["points"])
      if (each["scope"] == scope && (name.empty() || each["name"] == name)) return each;
    return {};
  }

  std::string home_;
};

struct Kernel {
  const char* name;
  double flops;  // an element
  double bytes;
};

class KnownKernels : public RoofCommand, public testing::WithParamInterface<Kernel> {};

TEST_P(KnownKernels, HaveTheirOperationsAndIntensity) {
  constexpr double kRounds = 160000;
  constexpr double kElements = 4096;
  const Kernel& kernel = GetParam();
  const json report = points_of(std::string("-- ") + LOFT_TEST_KERNELS + " " + kernel.name + " " +
                                std::to_string(static_cast<int>(kRounds)));
  const json function = point(report, "function", std::string(kernel.name) + "_kernel");
  ASSERT_FALSE(function.is_null()) << report;
  EXPECT_EQ(function["flops"], kRounds * kElements * kernel.flops);
  // Beside the arrays it loads its constants and its return address.
  const double bytes = kRounds * kElements * kernel.bytes;
  EXPECT_GE(function["bytes"].get<double>(), bytes);
  EXPECT_LE(function["bytes"].get<double>(), bytes * 1.001);
  EXPECT_NEAR(function["intensity"].get<double>(), kernel.flops / kernel.bytes,
              1e-3 * kernel.flops / kernel.bytes);
  EXPECT_NEAR(function["gflops"].get<double>(),
              function["flops"].get<double>() / function["seconds"].get<double>() * 1e-9, 1e-9);
  const json run = point(report, "run");
  EXPECT_NEAR(run["gflops"].get<double>(),
              run["flops"].get<double>() / run["seconds"].get<double>() * 1e-9, 1e-9);
  EXPECT_LE(run["seconds"].get<double>(), report["wall_s"].get<double>() * (1 + 1e-9));
  EXPECT_GE(run["flops"], function["flops"]);
}
INSTANTIATE_TEST_SUITE_P(All, KnownKernels,
                         testing::Values(Kernel{"triad", 2, 24}, Kernel{"dot", 2, 16},
                                         Kernel{"mean", 3, 32}),
                         [](const auto& kernel) { return kernel.param.name; });

// Both runs must call a function the same that has no name.
TEST_F(RoofCommand, FunctionsOfStrippedProgramsArePlacedToo) {
  const std::string program = home_ + "/stripped";
  ASSERT_EQ(std::system(("strip -o " + program + " " + LOFT_TEST_KERNELS).c_str()), 0);
  const json report = points_of("-- " + program + " triad 120000");
  json heaviest = {{"seconds", 0.0}};
  for (const json& each : report["points"])
    if (each["scope"] == "function" && each["seconds"] > heaviest["seconds"]) heaviest = each;
  EXPECT_THAT(heaviest["name"].get<std::string>(), HasSubstr("stripped+0x"));
  EXPECT_EQ(heaviest["flops"], 120000.0 * 4096 * 2);
}

// The maps of both runs stay behind; those of this test are found by their function.
TEST_F(RoofCommand, CodeThatIsMadeWhileItRunsIsPlacedByItsNameOrAsOneFunction) {
  for (const auto& [kernel, name] :
       {std::pair("made", "made_kernel"), std::pair("nameless", "[code without a name]")}) {
    const json report = points_of(std::string("-- ") + LOFT_TEST_KERNELS + " " + kernel + " 30000");
    const json function = point(report, "function", name);
    ASSERT_FALSE(function.is_null()) << report;
    EXPECT_EQ(function["flops"], 30000.0 * 4096);
    EXPECT_GT(function["seconds"].get<double>(), 0.9 * report["cpu_s"].get<double>());
    EXPECT_EQ(function["binary"], "//anon");
  }
  for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
    const std::string file = entry.path().filename();
    if (file.starts_with("perf-") && file.ends_with(".map") &&
        read_file(entry.path()).value_or("").find("made_kernel") != std::string::npos)
      std::filesystem::remove(entry.path());
  }
}

TEST_F(RoofCommand, TheTimesOfAllFunctionsAreTheTimeInWhichTheProgramRan) {
  const json report = points_of(std::string("-- ") + LOFT_TEST_KERNELS + " triad 120000");
  double sum = 0;
  for (const json& each : report["points"])
    if (each["scope"] == "function" && !each["seconds"].is_null())
      sum += each["seconds"].get<double>();
  EXPECT_NEAR(sum, report["cpu_s"].get<double>(), 0.01 * sum);  // one thread
}

TEST_F(RoofCommand, SaysWhatLimitsTheProgramInAFewLines) {
  const Said said = roof_of(std::string("-- ") + LOFT_TEST_KERNELS + " triad 120000");
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.notes, HasSubstr("whole run"));
  EXPECT_THAT(said.notes, HasSubstr("triad_kernel"));
  EXPECT_THAT(said.notes, HasSubstr("counts: virtual PMU, exact   time: native run"));
}

TEST_F(RoofCommand, LoopsStandUnderTheirFunctionWithExactCountsAndSampledTime) {
  const Said said =
      roof_of(std::string("--loops --format json -- ") + LOFT_TEST_KERNELS + " triad 120000");
  const json report = json::parse(said.notes, nullptr, false);
  ASSERT_TRUE(report.is_object()) << said.notes;
  double flops = 0;
  double seconds = 0;
  double in_loops = 0;
  double seconds_in_loops = 0;
  for (const json& each : report["points"]) {
    if (each["name"] != "triad_kernel") continue;
    if (each["scope"] == "function") {
      flops = each["flops"].get<double>();
      seconds = each["seconds"].get<double>();
    }
    if (each["scope"] != "loop" || each["depth"] != 1) continue;
    in_loops += each["flops"].get<double>();
    EXPECT_GT(each["iterations"].get<double>(), 0);
    EXPECT_EQ(each["seconds"].is_null(), each["per_iteration"]["cycles"].is_null());
    if (!each["seconds"].is_null()) seconds_in_loops += each["seconds"].get<double>();
  }
  EXPECT_GT(flops, 0);
  EXPECT_GT(seconds_in_loops, 0.5 * seconds) << "and spends its time there";
  EXPECT_LE(seconds_in_loops, 1.0001 * seconds);
  EXPECT_NEAR(in_loops, flops, 0.01 * flops) << "a triad computes in its loops";
}

// What a recording keeps of the code is what the run showed.
TEST_F(RoofCommand, TheCodeOfAFunctionIsShownLiveAndFromARecording) {
  const std::string file = home_ + "/kept.data";
  const Said made = roof_of("-o " + file + " -- " + LOFT_TEST_KERNELS + " triad 120000");
  ASSERT_EQ(made.status, 0) << made.notes;
  const Said kept = run_loft("annotate --format json triad_kernel " + file, home_);
  const json annotated = json::parse(kept.out, nullptr, false);
  ASSERT_TRUE(annotated.is_object()) << kept.notes;
  const json& function = annotated["functions"][0];
  EXPECT_EQ(function["name"], "triad_kernel");
  double executed = 0;
  double share = 0;
  for (const json& each : function["instructions"]) {
    executed += each["count"].get<double>();
    share += each["share_of_time"].get<double>();
  }
  EXPECT_NEAR(share, 1, 1e-6);
  const json report = points_of(file);
  EXPECT_EQ(executed, point(report, "function", "triad_kernel")["instructions"].get<double>());
  EXPECT_FALSE(point(report, "loop", "triad_kernel").is_null()) << "it keeps loops";
  EXPECT_THAT(run_loft("annotate " + file, home_).out, HasSubstr("triad_kernel"));
  const Said nobody = run_loft("annotate no_such_function " + file, home_);
  EXPECT_EQ(nobody.status, 125);
  EXPECT_THAT(nobody.notes, HasSubstr("no_such_function"));
}

TEST_F(RoofCommand, AnnotateNeedsAProgramOrARecording) {
  const Said said = run_loft("annotate main", home_);
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("after --"));
}

TEST_F(RoofCommand, TheProgramIsHeardOnceAndItsStatusIsLoftsOwn) {
  const Said said = roof_of("-- echo hello");
  EXPECT_EQ(said.out, "hello\n");
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.notes, HasSubstr("too short to tell its functions apart"));
}

TEST_F(RoofCommand, AProgramThatDoesOtherwiseInItsSecondRunIsSaidSo) {
  const Said said = roof_of("-- mkdir " + home_ + "/made");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("status 0 natively and 1 under the virtual PMU"));
  EXPECT_THAT(said.notes, HasSubstr("File exists"));
}

// A program that was copied to another machine has no folder of metrics beside it.
TEST_F(RoofCommand, AMissingFolderOfMetricsIsToldInWordsWhereItIsMissed) {
  ASSERT_EQ(::setenv("LOFT_SHARE", (home_ + "/gone").c_str(), 1), 0);
  const Said said = roof_of("-o " + home_ + "/roof.json -- true");
  const Said counters = roof_of("--source counters -- true");
  ::unsetenv("LOFT_SHARE");
  EXPECT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, Not(HasSubstr("No such file")));
  EXPECT_THAT(said.notes, Not(HasSubstr("ENOENT")));
  EXPECT_EQ(counters.status, 125);
  EXPECT_THAT(counters.notes, HasSubstr("metrics that say which events these are are not in '" +
                                        home_ + "/gone/metrics'"));
  EXPECT_THAT(counters.notes, HasSubstr("install loft's share folder there"));
}

TEST_F(RoofCommand, BothRunsGetTheInput) {
  const std::string test = " -- sh -c 'test \"$(cat)\" = hello'";
  const std::string loft =
      std::string(LOFT_PROGRAM) + " roof --machine " + home_ + "/machine.json" + test;
  EXPECT_EQ(std::system(("printf hello | " + loft + " 2>/dev/null").c_str()), 0);
  ASSERT_TRUE(replace_file(home_ + "/input", "hello"));
  EXPECT_EQ(std::system((loft + " <" + home_ + "/input 2>/dev/null").c_str()), 0);
}

// A pipe that nobody closes, as under ssh, must not be waited for.
TEST_F(RoofCommand, AnOpenAndSilentInputIsNotWaitedFor) {
  const std::string loft = std::string("timeout 60 ") + LOFT_PROGRAM + " roof --machine " + home_ +
                           "/machine.json -- echo hello";
  const std::string script = "mkfifo " + home_ + "/silent; exec 3<>" + home_ + "/silent; " + loft +
                             " <&3 >" + home_ + "/out 2>" + home_ + "/notes";
  EXPECT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0);
  EXPECT_EQ(read_file(home_ + "/out").value_or(""), "hello\n");
  EXPECT_THAT(read_file(home_ + "/notes").value_or(""), HasSubstr("was not there in the second"));
}

TEST_F(RoofCommand, TimeIsSinceTheStartOfTheRun) {
  const json report = points_of("-- sh -c 'sleep 0.5; exec " LOFT_TEST_KERNELS " triad 120000'");
  double before = 0;
  double end = 0;
  for (const json& each : report["points"]) {
    if (each["scope"] != "slice") continue;
    if (each["end_s"].get<double>() < 0.45 && each["flops"].is_number())
      before += each["flops"].get<double>();
    end = std::max(end, each["end_s"].get<double>());
  }
  EXPECT_EQ(before, 0);
  EXPECT_NEAR(end, report["wall_s"].get<double>(), 0.1 * end);
}

TEST_F(RoofCommand, TimeInWhichNothingRanIsSaid) {
  const Said said = roof_of("-- sh -c 'sleep 0.5; exec " LOFT_TEST_KERNELS " triad 120000'");
  EXPECT_THAT(said.notes, HasSubstr("none of its threads ran"));
}

// The shell and the program that it becomes are one thread.
TEST_F(RoofCommand, AThreadHasAllThatItDidBeforeAndAfterExec) {
  const json report = points_of(
      "--threads -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do :; done; exec " LOFT_TEST_KERNELS
      " triad 120000'");
  EXPECT_EQ(report["threads"], 1);
  EXPECT_EQ(point(report, "thread")["instructions"], point(report, "run")["instructions"]);
}

TEST_F(RoofCommand, ARecordingThatIsNotThereIsNoProgram) {
  const Said missing = roof_of("missing.data");
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.notes, HasSubstr("cannot read 'missing.data': there is no such file"));
  const std::string path = home_ + "/run.data";
  ASSERT_EQ(roof_of("-o " + path + " -- true").status, 0);
  const Said other = roof_of(path + " " + home_ + "/machine.json");
  EXPECT_EQ(other.status, 125);
  EXPECT_THAT(other.notes, HasSubstr("it is no recording"));
}

TEST_F(RoofCommand, AProgramBeforeTheDashesIsNotRun) {
  const std::string program = home_ + "/program";
  ASSERT_TRUE(replace_file(program, "#!/bin/sh\necho ran >" + home_ + "/ran\n"));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Said said = roof_of(program);
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("it is no recording, or its beginning is damaged"));
  EXPECT_THAT(said.notes, HasSubstr("loft roof -- " + program));
  EXPECT_FALSE(file_exists(home_ + "/ran"));
  EXPECT_EQ(roof_of(program + " -- true").status, 125) << "both";
}

TEST_F(RoofCommand, AFunctionThatIsNotThereIsSaidSo) {
  const Said said =
      roof_of(std::string("--function tirad -- ") + LOFT_TEST_KERNELS + " triad 120000");
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.notes, HasSubstr("none has 'tirad' in its name"));
}

TEST_F(RoofCommand, ProgramsThatASignalEndedAreSaidSo) {
  const Said said = roof_of("-- sh -c 'kill -SEGV $$'");
  EXPECT_EQ(said.status, 139);
  EXPECT_THAT(said.notes, HasSubstr("whole run"));
  EXPECT_THAT(said.notes, HasSubstr("status 139 (killed by SIGSEGV)"));
}

TEST_F(RoofCommand, RunsThatTheVirtualPmuDoesNotNeedAreSaidSo) {
  const Said said = roof_of("--runs auto -m /dev/null -- echo hello");
  ASSERT_EQ(said.status, 0) << said.notes;
  if (said.notes.find("virtual PMU") == std::string::npos) GTEST_SKIP() << "counters were used";
  EXPECT_THAT(said.notes, HasSubstr("--runs was not needed"));
}

TEST_F(RoofCommand, ARunCanBeKeptAndShownAgainBesideOthers) {
  const std::string kernel = std::string(" -- ") + LOFT_TEST_KERNELS + " triad 120000";
  ASSERT_EQ(roof_of("-o " + home_ + "/before.data" + kernel).status, 0);
  ASSERT_EQ(roof_of("-o " + home_ + "/after.data" + kernel).status, 0);
  const json one = points_of(home_ + "/before.data");
  EXPECT_EQ(point(one, "function", "triad_kernel")["flops"], 120000.0 * 4096 * 2.0);
  const json both = points_of(home_ + "/before.data " + home_ + "/after.data");
  EXPECT_EQ(both["runs"].size(), 2u);
  EXPECT_EQ(both["points"][0]["run"], "before");
  const Said said =
      roof_of("-o " + home_ + "/both.svg " + home_ + "/before.data " + home_ + "/after.data");
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(read_file(home_ + "/both.svg").value_or(""), HasSubstr("after: triad_kernel"))
      << said.out << said.notes;
}

TEST_F(RoofCommand, AProgramThatFailsIsShownAndItsStatusPassedOn) {
  for (const char* flags : {"", "--once "}) {
    const Said said = roof_of(std::string(flags) + "-- sh -c 'exit 3'");
    EXPECT_EQ(said.status, 3) << said.notes;
    EXPECT_THAT(said.notes, HasSubstr("whole run")) << flags;
    EXPECT_THAT(said.notes, HasSubstr("ended with status 3: this is what it did until then"));
  }
}

// Whoever ends a program wants no second run of it: its times are shown, its work is not known.
TEST_F(RoofCommand, AProgramThatIsInterruptedShowsItsTimes) {
  const std::string runs = home_ + "/runs";
  const Said said = roof_of("--format json -- sh -c 'echo ran >>" + runs + "; kill -TERM $$'");
  EXPECT_EQ(said.status, 143) << said.notes;
  EXPECT_EQ(read_file(runs).value_or(""), "ran\n");
  const json report = json::parse(said.notes, nullptr, false);
  ASSERT_TRUE(report.is_object()) << said.notes;
  EXPECT_EQ(report["counts"], "none");
  EXPECT_TRUE(point(report, "run")["flops"].is_null());
  EXPECT_THAT(report["notes"].dump(), HasSubstr("interrupted"));
}

TEST_F(RoofCommand, ADamagedRunIsRefusedByName) {
  const std::string path = home_ + "/run.data";
  ASSERT_EQ(
      roof_of("-o " + path + " -- " + std::string(LOFT_TEST_KERNELS) + " triad 120000").status, 0);
  std::string bytes = read_file(path).value_or("");
  const auto at = bytes.find("\"task_clock_ns\"");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 15, "\"task_clock_XX\"");
  ASSERT_TRUE(replace_file(path, bytes));
  const Said said = roof_of(path);
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("task_clock_ns"));
}

TEST_F(RoofCommand, OneRunGivesExactCountsAndEstimatedTimes) {
  const std::string runs = home_ + "/runs";
  const std::string command =
      "-- sh -c 'echo ran >>" + runs + "; exec " LOFT_TEST_KERNELS " triad 120000'";
  const json report = points_of("--once " + command);
  EXPECT_EQ(read_file(runs).value_or(""), "ran\n");
  const json triad = point(report, "function", "triad_kernel");
  EXPECT_EQ(triad["flops"], 120000.0 * 4096 * 2.0);
  EXPECT_EQ(triad["kind"], "modelled");
  EXPECT_GT(triad["seconds"].get<double>(), 0);
  EXPECT_EQ(point(report, "run")["kind"], "modelled");
  EXPECT_EQ(report["time"], "estimated");
}

TEST_F(RoofCommand, TheSlicesOfOneRunHoldAllItsWork) {
  const json report = points_of(std::string("--once -- ") + LOFT_TEST_KERNELS + " triad 120000");
  double flops = 0;
  for (const json& each : report["points"])
    if (each["scope"] == "slice") flops += each["flops"].get<double>();
  EXPECT_EQ(flops, point(report, "run")["flops"].get<double>());
}

TEST_F(RoofCommand, OneRunCanBeKeptAndShownAgain) {
  const std::string path = home_ + "/run.data";
  const Said said =
      roof_of("--once -o " + path + " -- " + std::string(LOFT_TEST_KERNELS) + " triad 120000");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json report = points_of(path);
  EXPECT_EQ(point(report, "function", "triad_kernel")["flops"], 120000.0 * 4096 * 2.0);
  EXPECT_EQ(report["time"], "estimated");
  EXPECT_THAT(said.notes, HasSubstr("loop "));
  const json loop = point(report, "loop", "triad_kernel");
  ASSERT_FALSE(loop.is_null()) << said.notes;
  EXPECT_EQ(loop["flops"], 120000.0 * 4096 * 2.0);
  EXPECT_EQ(loop["kind"], "modelled");
  EXPECT_GT(loop["seconds"].get<double>(), 0);
}

TEST_F(RoofCommand, SaysWhyARecordingHasNoLoops) {
  const std::string path = home_ + "/run.data";
  const std::string events =
      "instructions,load_bytes,store_bytes,flops_sp,flops_dp,fp_scalar_sp,fp_scalar_dp,fp_128_sp,"
      "fp_128_dp,fp_256_sp,fp_256_dp,fp_512_sp,fp_512_dp,flops_fma,class_x87_arith";
  const Said said = run_loft("record --source virtual -e " + events + " -o " + path +
                                 " -- " LOFT_TEST_KERNELS " triad 100",
                             home_);
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(points_of(path)["notes"].dump(),
              HasSubstr("loops are not shown: 'branches_taken' was not recorded"));
  EXPECT_THAT(points_of("--ops int " + path)["notes"].dump(),
              HasSubstr("operations on integers were not counted"));
}

TEST_F(RoofCommand, OperationsOnIntegersAreWorkToo) {
  const json report =
      points_of(std::string("--once --ops int -- ") + LOFT_TEST_KERNELS + " triad 4000");
  const json run = point(report, "run");
  EXPECT_EQ(run["ops"], "int");
  EXPECT_GT(run["int_ops"].get<double>(), 4000.0 * 4096 / 8);  // the loop counts at least
  EXPECT_LT(run["int_ops"].get<double>(), run["instructions"].get<double>());
  EXPECT_DOUBLE_EQ(run["gops"].get<double>(),
                   run["int_ops"].get<double>() / run["seconds"].get<double>() * 1e-9);
  EXPECT_NEAR(run["intensity"].get<double>(),
              run["int_ops"].get<double>() / run["bytes"].get<double>(), 1e-9);
}

double sum_over(const json& report, const char* scope, const char* what) {
  double sum = 0;
  for (const json& each : report["points"])
    if (each["scope"] == scope && each[what].is_number()) sum += each[what].get<double>();
  return sum;
}

// Events that every Linux has stand in for operations and bytes: what is tested is the road from
// counters to points, which is the same for those of a PMU.
TEST_F(RoofCommand, CountersOfTheMachineGiveOperationsAndBytesInOneRun) {
  const std::string runs = home_ + "/runs";
  ASSERT_TRUE(replace_file(home_ + "/faults.metrics",
                           "metric FLOPs [FLOP] = 1000 [FLOP] * 'page-faults'\n    \"faults\"\n"
                           "metric bytes [B] = 4000 [B] * 'page-faults'\n    \"faults\"\n"));
  const json report =
      points_of("--threads --source counters -m " + home_ +
                "/faults.metrics -- sh -c 'echo ran >>" + runs + "; exec " LOFT_TEST_THREADS " 4'");
  if (!report.is_object()) GTEST_SKIP() << "perf_events are not allowed here";
  EXPECT_EQ(read_file(runs).value_or(""), "ran\n");
  EXPECT_EQ(report["counts"], "hardware counters");
  const json run = point(report, "run");
  EXPECT_GE(run["flops"].get<double>(), 1000.0 * 100);
  EXPECT_DOUBLE_EQ(run["bytes"].get<double>(), 4 * run["flops"].get<double>());
  EXPECT_DOUBLE_EQ(run["intensity"].get<double>(), 0.25);
  EXPECT_EQ(run["kind"], "modelled") << "the width of loads and stores is assumed";
  EXPECT_TRUE(run["instructions"].is_null() || run["instructions"].get<double>() > 0)
      << "what is not known is not 0";
  // Samples are scaled to the count: functions and threads add up to the run, but for rounding.
  const double flops = run["flops"].get<double>();
  EXPECT_NEAR(sum_over(report, "function", "flops"), flops, 1e-3 * flops);
  EXPECT_NEAR(sum_over(report, "thread", "flops"), flops, 1e-3 * flops);
}

// Nanoseconds of run time stand in: a process that computes all the time does one a nanosecond.
TEST_F(RoofCommand, ARunningProcessIsWatchedWithCounters) {
  ASSERT_TRUE(replace_file(home_ + "/time.metrics",
                           "metric FLOPs [FLOP] = 1e9 [FLOP/s] * 'task-clock'\n    \"time\"\n"
                           "metric bytes [B] = 8e9 [B/s] * 'task-clock'\n    \"time\"\n"));
  auto spinning = ChildProcess::prepare({"/bin/sh", "-c", "while :; do :; done"});
  ASSERT_TRUE(spinning && spinning->start());
  // Until it had a CPU for 0.2 s, however busy the machine is: fewer samples tell no threads apart.
  const std::string ticks =
      "$(cut -d\" \" -f14 /proc/" + std::to_string(spinning->pid()) + "/stat)";
  const Said said = roof_of("--format json --threads -m " + home_ + "/time.metrics -p " +
                            std::to_string(spinning->pid()) + " -- sh -c 'a=" + ticks +
                            "; while [ " + ticks + " -lt $((a+20)) ]; do sleep 0.1; done'");
  if (said.status != 0) GTEST_SKIP() << "perf_events are not allowed here: " << said.notes;
  const json report = json::parse(said.notes, nullptr, false);
  EXPECT_EQ(report["command"][0], "process " + std::to_string(spinning->pid()));
  const json run = point(report, "run");
  EXPECT_NEAR(run["flops"].get<double>(), 1e9 * report["cpu_s"].get<double>(), 1e6);
  EXPECT_GT(run["flops"].get<double>(), 0);
  EXPECT_LE(report["cpu_s"].get<double>(), 1.01 * report["wall_s"].get<double>());
  EXPECT_DOUBLE_EQ(run["intensity"].get<double>(), 0.125);
  ASSERT_EQ(point(report, "thread")["tid"], spinning->pid());
  // What was mapped before anybody watched is known all the same.
  const std::string shell = std::filesystem::canonical("/bin/sh");
  EXPECT_TRUE(std::ranges::any_of(report["points"], [&](const json& each) {
    return each["scope"] == "function" && each["binary"] == shell;
  })) << report.dump();
}

TEST_F(RoofCommand, AProcessCannotBeWatchedWithoutCounters) {
  const Said said = roof_of("-m /dev/null -p 1 -- sleep 0.1");
  if (said.status == 0) GTEST_SKIP() << "this machine counts operations";
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("loft roof -- COMMAND"));
}

TEST_F(RoofCommand, TheRooflineOfMemoryHasTheRoofOfMemoryAlone) {
  ASSERT_TRUE(replace_file(home_ + "/faults.metrics",
                           "metric FLOPs [FLOP] = 1000 [FLOP] * 'page-faults'\n    \"faults\"\n"
                           "metric DRAM_bytes [B] = 1 [B] * 'page-faults'\n    \"faults\"\n"));
  const std::string path = home_ + "/dram.data";
  const Said said = roof_of("--model dram -m " + home_ + "/faults.metrics -o " + path +
                            " -- " LOFT_TEST_THREADS " 2");
  if (said.status != 0) GTEST_SKIP() << "perf_events are not allowed here: " << said.notes;
  const json report = points_of(path);
  EXPECT_EQ(point(report, "run")["kind"], "scaled");
  // The machine file would replace the roofs that were kept.
  ASSERT_EQ(run_loft("roof -o " + home_ + "/dram.svg " + path, home_).status, 0);
  const std::string drawing = read_file(home_ + "/dram.svg").value_or("");
  EXPECT_THAT(drawing, HasSubstr("DRAM bandwidth"));
  EXPECT_THAT(drawing, Not(HasSubstr("L1 bandwidth")));
  EXPECT_THAT(drawing, HasSubstr("byte that memory moves"));
}

TEST_F(RoofCommand, WhatCannotBeTogetherIsSaidBeforeTheProgramRuns) {
  for (const char* flags :
       {"--once --model dram", "--once --model levels", "--once --source counters",
        "--model levels --source perf_events", "--model levels -p 1", "--once -p 1",
        "--source virtual -p 1", "--source virtual --runs 2", "--once --runs auto",
        "-p 1 --runs auto", "--runs 0", "--runs often", "--ops int --source perf_events",
        "--loops --source perf_events", "--once --loops --job jobs"}) {
    const Said said = roof_of(std::string(flags) + " -- echo hello");
    EXPECT_EQ(said.status, 125) << flags;
    EXPECT_EQ(said.out, "") << flags;
  }
}

// Three arrays of 32 KiB go through an L1 of 32 KiB: each round reads all their lines and writes a
// third of them back, and only the first round reads memory.
TEST_F(RoofCommand, BytesOfEveryLevelAreModelled) {
  const std::string path = home_ + "/levels.data";
  const Said said = roof_of("--model levels -o " + path + " -- " LOFT_TEST_KERNELS " triad 2000");
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("bytes at each level"));
  const json report = points_of(path);
  const json run = point(report, "run");
  ASSERT_TRUE(run.contains("levels")) << run;
  const json& levels = run["levels"];
  ASSERT_EQ(levels.size(), 4u) << levels;
  EXPECT_EQ(levels[0]["bytes"], run["bytes"]);
  constexpr double kLines = 2000.0 * 4 * 4096 * 8;
  EXPECT_NEAR(levels[1]["bytes"].get<double>(), kLines, 0.05 * kLines);
  const json loop = point(report, "loop", "triad_kernel");
  ASSERT_TRUE(loop.contains("levels")) << loop;
  EXPECT_NEAR(loop["levels"][1]["bytes"].get<double>(), kLines, 0.05 * kLines);
  EXPECT_LE(loop["levels"][1]["bytes"], levels[1]["bytes"]);
  EXPECT_EQ(levels[1]["kind"], "modelled");
  EXPECT_LT(levels[3]["bytes"].get<double>(), 2e6);
  EXPECT_THAT(report["counts"].get<std::string>(), HasSubstr("modelled"));
}

TEST_F(RoofCommand, BytesOfMemoryAreModelledWhereNoCounterTellsThem) {
  const json report =
      points_of("--model dram --source virtual -- " LOFT_TEST_KERNELS " triad 1000");
  const json run = point(report, "run");
  EXPECT_EQ(run["work_kind"], "modelled");
  EXPECT_GT(run["bytes"].get<double>(), 96 * 1024);
  EXPECT_LT(run["bytes"].get<double>(), 2e6);
}

// The order of the lines is what hpcc goes by: problem size, block size, grid of processes.
constexpr const char* kHpccInput =
    "one process, a small problem\n\nHPL.out\n8\n1\n400 Ns\n1\n80 NBs\n0\n1\n1 Ps\n1 "
    "Qs\n16.0\n1\n2\n"
    "1\n4\n1\n2\n1\n1\n1\n1\n1\n1\n2\n64\n0\n0\n1\n8\n\n0\n1200\n0\n40\n";

TEST_F(RoofCommand, PlacesTheHpcChallengeBenchmark) {
  if (std::system("command -v hpcc >/dev/null") != 0) GTEST_SKIP() << "hpcc is not installed";
  ASSERT_TRUE(replace_file(home_ + "/hpccinf.txt", kHpccInput));
  const Said said = roof_of("-o " + home_ + "/hpcc.json -- env --chdir=" + home_ +
                            " OPENBLAS_NUM_THREADS=1 hpcc");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json report = json::parse(read_file(home_ + "/hpcc.json").value_or(""), nullptr, false);
  ASSERT_TRUE(report.is_object());
  // It solved its system in both runs, and says so in its own file.
  EXPECT_THAT(read_file(home_ + "/hpccoutf.txt").value_or(""), HasSubstr("Success=1"));
  const json run = point(report, "run");
  EXPECT_GT(run["flops"].get<double>(), 2.0 / 3 * 400 * 400 * 400);
  EXPECT_EQ(sum_over(report, "function", "flops"), run["flops"].get<double>());
  double product = 0;
  for (const json& each : report["points"])
    if (each["scope"] == "function" &&
        each["name"].get<std::string>().find("dgemm") != std::string::npos)
      product += each["flops"].get<double>();
  EXPECT_GT(product, 0.25 * run["flops"].get<double>()) << "most of it is products of matrices";
}

TEST_F(RoofCommand, PlacesEveryThreadOfARealProgram) {
  if (std::system("command -v xz >/dev/null") != 0) GTEST_SKIP() << "xz is not installed";
  const json report = points_of("--threads -- xz -T4 --block-size=200KiB -0 -k -c " LOFT_PROGRAM);
  ASSERT_TRUE(report.is_object());
  std::size_t threads = 0;
  double instructions = 0;
  for (const json& each : report["points"]) {
    if (each["scope"] != "thread") continue;
    ++threads;
    instructions += each["instructions"].get<double>();
  }
  EXPECT_EQ(threads, 5u) << report["notes"];  // the first and four that compress
  EXPECT_EQ(instructions, point(report, "run")["instructions"].get<double>());
  EXPECT_EQ(sum_over(report, "function", "instructions"), instructions);
}

TEST_F(RoofCommand, ThePageShowsWhenEachThreadRan) {
  const std::string page = home_ + "/roof.html";
  ASSERT_EQ(roof_of("-o " + page + " -- " LOFT_TEST_THREADS " 2").status, 0);
  const std::string html = read_file(page, std::size_t{1} << 26).value_or("");
  const auto unpacked = view::unpack_page(html);
  ASSERT_TRUE(unpacked);
  EXPECT_TRUE(unpacked->head["schedule"].is_object()) << unpacked->head.dump();
  EXPECT_THAT(unpacked->head["threads"].dump(), HasSubstr("\"work1\""));
}

TEST_F(RoofCommand, WhatItCannotWriteIsSaidBeforeTheProgramRuns) {
  const Said said = roof_of("-o x.pdf -- echo hello");
  EXPECT_EQ(said.status, 125);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.notes, HasSubstr("end it in .txt, .json, .csv, .svg, .png, .html, .data"));
  const Said folder = roof_of("-o " + home_ + "/new/dir/x.html -- echo hello");
  EXPECT_EQ(folder.status, 125);
  EXPECT_EQ(folder.out, "");
  EXPECT_THAT(folder.notes, HasSubstr("mkdir -p " + home_ + "/new/dir"));
  EXPECT_FALSE(file_exists(home_ + "/new"));
}

#ifdef LOFT_TEST_REGIONS
TEST_F(RoofCommand, PlacesRegionsThatTheProgramMarks) {
  const std::string kept = home_ + "/regions.data";
  const Said said = roof_of("-o " + kept + " -- " LOFT_TEST_REGIONS " 2 2000");
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("  region outer/inner "));
  const json report = points_of(kept);
  const json outer = point(report, "region", "outer");
  const json inner = point(report, "region", "outer/inner");
  EXPECT_EQ(outer["flops"], 2000 * (1010 + 2010));
  EXPECT_EQ(inner["flops"], 2000 * 3000);
  EXPECT_EQ(inner["kind"], "counted");
  EXPECT_GT(inner["gflops"], 0);
  EXPECT_GE(outer["seconds"], inner["seconds"]);
  EXPECT_FALSE(outer.contains("tid"));
  std::vector<double> of_threads;
  const json by_thread = points_of("--per-thread " + kept);
  for (const json& each : by_thread["points"])
    if (each["name"] == "outer/inner" && each.contains("tid")) of_threads.push_back(each["flops"]);
  EXPECT_THAT(of_threads, testing::UnorderedElementsAre(2000 * 1000, 2000 * 2000));
  ASSERT_EQ(roof_of("-o " + home_ + "/x.html " + kept).status, 0);
  const auto page = view::unpack_page(read_file(home_ + "/x.html").value_or(""));
  ASSERT_TRUE(page);
  EXPECT_THAT(page->head["tables"].dump(), HasSubstr("outer/inner"));
}
#endif

}  // namespace
}  // namespace loft
