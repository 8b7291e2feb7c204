#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "cli/run_loft.hpp"
#include "format/builders.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// A file below the test's own folder, whose path it gives.
std::string written(const std::string& name, const std::string& text) {
  const std::string path =
      testing::TempDir() + "loft-metric-" + std::to_string(::getpid()) + "-" + name;
  EXPECT_TRUE(replace_file(path, text));
  return path;
}

constexpr const char* kFigure1 =
    "#define BR_lat 5\n#define BR_miss_lat 45\n"
    "Branch_cat, PAPI_BR_INS|BR_lat*|PAPI_BR_MSP|BR_miss_lat*|+|PAPI_TOT_INS|/\n";

TEST(MetricCommand, EvaluatesThePapersFormatOnCountsTakenEarlier) {
  const std::string metrics = written("fig1.papi", kFigure1);
  const std::string counts =
      written("counts.csv", "name,value\nPAPI_BR_INS,200\nPAPI_BR_MSP,10\nPAPI_TOT_INS,1000\n");
  const Said said =
      run_loft("metric eval --format json -m " + metrics + " --counts " + counts + " Branch_cat");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json result = json::parse(said.out, nullptr, false);
  ASSERT_TRUE(result.is_object()) << said.out;
  EXPECT_EQ(result["metrics"][0]["name"], "Branch_cat");
  EXPECT_DOUBLE_EQ(result["metrics"][0]["value"].get<double>(), 1.45);
  EXPECT_EQ(result["metrics"][0]["kind"], "counted");
  EXPECT_EQ(result["constants"][0]["origin"], metrics + ":1");
}

TEST(MetricCommand, AMissingOperandIsNullWithItsReason) {
  const std::string counts = written("few.csv", "name,value\ninstructions,200\n");
  const Said said = run_loft("metric eval --format json --counts " + counts + " IPC");
  const json result = json::parse(said.out, nullptr, false);
  ASSERT_TRUE(result.is_object()) << said.notes;
  EXPECT_TRUE(result["metrics"][0]["value"].is_null());
  EXPECT_EQ(result["metrics"][0]["kind"], "missing");
  EXPECT_THAT(result["metrics"][0]["why"].get<std::string>(), HasSubstr("cycles"));
}

TEST(MetricCommand, TablesGiveOneRowForEachSlice) {
  const std::string counts = written("table.csv", "instructions,cycles\n20,10\n5,0\n,7\n");
  const Said said = run_loft("metric eval --counts " + counts + " IPC");
  EXPECT_EQ(said.out, "row,IPC\n1,2\n2,\n3,\n");
}

TEST(MetricCommand, CheckNamesWhatIsWrongAndExitsWith1) {
  const std::string file = written("bad.metrics",
                                   "event time [s]\nmetric a = b + 1\nmetric b = a\nmetric c [B] = "
                                   "3 [B] + time\nmetric d = x /\n"
                                   "metric e = x * 2\n    expect x = 2 -> 5\n");
  const Said said = run_loft("metric check --any-name " + file);
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.out,
              AllOf(HasSubstr("a -> b -> a"), HasSubstr("'+' of B and s"),
                    HasSubstr(":5:15: error:"), HasSubstr("5 was expected, and it is 4")));
  const std::string good = written("good.metrics", "metric e = x * 2\n    expect x = 2 -> 4\n");
  EXPECT_EQ(run_loft("metric check --any-name " + good).status, 0);
}

TEST(MetricCommand, ConvertsBothWays) {
  const std::string papi = written("fig1.papi", kFigure1);
  const Said xml = run_loft("metric convert " + papi + " --to xml");
  EXPECT_EQ(xml.status, 0);
  const std::string xml_file = written("fig1.xml", xml.out);
  EXPECT_EQ(run_loft("metric convert " + papi + " -o " + xml_file + ".again.xml").status, 0);
  EXPECT_EQ(read_file(xml_file + ".again.xml").value_or(""), xml.out)
      << "the name tells the format";
  std::remove((xml_file + ".again.xml").c_str());
  EXPECT_EQ(run_loft("metric convert " + xml_file + " --to papi").out,
            run_loft("metric convert " + papi + " --to papi").out);
  EXPECT_THAT(run_loft("metric convert " + papi).out,
              HasSubstr("metric Branch_cat = (PAPI_BR_INS * BR_lat + PAPI_BR_MSP * BR_miss_lat) / "
                        "PAPI_TOT_INS"));
}

TEST(MetricCommand, EvaluatesTheCountsOfARecording) {
  namespace perf = format::perf;
  perf::RecordingBuilder file;
  file.event({.type = 0, .config = 0, .ids = {1}}).event({.type = 0, .config = 1, .ids = {2}});
  for (const std::uint64_t id : {1, 2}) {
    auto body = file.body();
    body.u64(id).u32(0).u32(0).u64(1000 * id).u64(100).u64(100);
    file.record(perf::RecordType::stat, 0, body);
  }
  const auto bytes = file.finish();
  const std::string recording =
      written("stat.data", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const Said said = run_loft("metric eval IPC --format json --counts " + recording);
  ASSERT_EQ(said.status, 0) << said.notes;
  const json result = json::parse(said.out, nullptr, false);
  EXPECT_EQ(result["metrics"][0]["value"], 2);
  EXPECT_EQ(result["metrics"][0]["kind"], "counted");
}

TEST(MetricCommand, OneNameForAConstantOverridesTheOther) {
  const std::string counts = written("lcpi.csv", "name,value\nPAPI_TLB_DM,10\nPAPI_TOT_INS,1000\n");
  const Said said =
      run_loft("metric eval Data_TLB_cat -D TLB_lat=50 --format json --counts " + counts);
  const json result = json::parse(said.out, nullptr, false);
  ASSERT_TRUE(result.is_object()) << said.notes;
  EXPECT_DOUBLE_EQ(result["metrics"][0]["value"].get<double>(), 0.5);
  EXPECT_EQ(result["constants"][0]["origin"], "command line");
}

TEST(MetricCommand, PlansForNoCpuThatNobodyKnows) {
  const Said said = run_loft("metric plan IPC --cpu no-such-cpu");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("no-such-cpu"));
}

TEST(MetricCommand, PlansForAnotherCpu) {
  const Said said = run_loft("metric plan IPC td_retiring --cpu skx --format json");
  const json result = json::parse(said.out, nullptr, false);
  if (!result.is_object()) GTEST_SKIP() << "libpfm4 is not here: " << said.notes;
  EXPECT_GE(result["events"].size(), 3u);
  EXPECT_TRUE(result["missing"].empty()) << said.out;
  EXPECT_EQ(result["counters"].size(), 1u) << "the kernel's names are of that CPU too";
}

// The categories of the paper are counted and modelled where there are no counters.
TEST(MetricCommand, PlansForTheVirtualPmu) {
  const Said said = run_loft(
      "metric plan Branch_cat Data_TLB_cat Instr_TLB_cat FP_cat Data_mem_cat Instr_mem_cat "
      "--source virtual -D L1_lat=4 -D L2_lat=14 -D L3_lat=50 -D Mem_lat=500 -D TLB_lat=30 "
      "-D FP_lat=3 -D FP_div_lat=13 -D FP_sqrt_lat=20 -D BR_lat=1 -D BR_miss_lat=16 --format json");
  const json result = json::parse(said.out, nullptr, false);
  ASSERT_TRUE(result.is_object()) << said.notes;
  if (result["missing"].size() > 6) GTEST_SKIP() << "built without the virtual PMU";
  EXPECT_TRUE(result["missing"].empty()) << said.out;
  EXPECT_EQ(result["sets"], 1);
  EXPECT_THAT(said.out, testing::Not(HasSubstr("--counters")));
}

TEST(MetricCommand, AFileThatIsNotThereIsAnError) {
  const Said said = run_loft("metric list -m /no/such/file.metrics");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("ENOENT"));
}

TEST(MetricCommand, MetricsCanBeCountedByName) {
  const std::string file =
      written("mine.metrics", "event task-clock [s]\nmetric busy = 'task-clock' / time\n");
  const Said said = run_loft("stat --format json -m " + file + " -e busy,page-faults -- true");
  const json result = json::parse(said.notes, nullptr, false);
  ASSERT_TRUE(result.is_object()) << said.notes;
  const auto found = std::find_if(result["metrics"].begin(), result["metrics"].end(),
                                  [](const json& metric) { return metric["name"] == "busy"; });
  ASSERT_NE(found, result["metrics"].end()) << said.notes;
  EXPECT_GT((*found)["value"].get<double>(), 0);
  EXPECT_LT((*found)["value"].get<double>(), 1.5);
}

TEST(PowerCommand, FitsAndAppliesAModel) {
  std::string table = "program,time,a,b,watts\n";
  for (int row = 0; row < 24; ++row) {
    const int a = 100 + 37 * (row % 7);
    const int b = 50 + 13 * (row % 5);
    table += "p" + std::to_string(row % 3) + ",2," + std::to_string(a) + "," + std::to_string(b) +
             "," + std::to_string(10 + 0.5 * a / 2 + 0.25 * b / 2) + "\n";
  }
  const std::string counts = written("power.csv", table);
  const std::string model = written("model.metrics", "");
  const Said fit = run_loft("power fit --format json --counts " + counts +
                            " --watts watts --by program --model " + model);
  ASSERT_EQ(fit.status, 0) << fit.notes;
  const json fitted = json::parse(fit.out, nullptr, false);
  EXPECT_NEAR(fitted["base_w"].get<double>(), 10, 1e-3);
  EXPECT_NEAR(fitted["coefficients"]["a"].get<double>(), 0.5, 1e-6);
  EXPECT_EQ(fitted["held_out"]["by"], "program");
  const std::string one = written("one.csv", "name,value\na,400\nb,200\n");
  const Said apply =
      run_loft("power apply --format json --time 2 --model " + model + " --counts " + one);
  const json applied = json::parse(apply.out, nullptr, false);
  ASSERT_TRUE(applied.is_object()) << apply.notes;
  EXPECT_NEAR(applied["metrics"][0]["value"].get<double>(), 10 + 100 + 25, 1e-3);
  EXPECT_EQ(applied["metrics"][0]["kind"], "modelled");
  EXPECT_TRUE(applied["metrics"][0].contains("ci95"));
}

}  // namespace
}  // namespace loft
