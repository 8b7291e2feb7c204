// loft record with real counters: what slices of threads add up to is known to the instruction.
#include <gmock/gmock.h>

#include "lab_results.hpp"

namespace loft::lab {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr std::uint64_t kLoop = 2'000'000;
constexpr std::uint64_t kLoopOverhead = 7;
constexpr std::uint64_t kLongLoop = 60 * kLoop + kLoopOverhead;
constexpr std::uint64_t kFamilyLoop = 2'000'000;
constexpr std::uint64_t kStartUp = 100'000;

json tasks_of(const CaseResult& result) {
  EXPECT_TRUE(result.json.is_object() && result.json.contains("tasks"))
      << result.notes << result.json.dump();
  return result.json.is_object() ? result.json.value("tasks", json::array()) : json::array();
}

// Cases that watch by BPF say nothing where the loft of the lab has none.
class LabBpf : public Lab {
 protected:
  void SetUp() override {
    Lab::SetUp();
    if (!IsSkipped()) skip_without_bpf();
  }
  static void skip_without_bpf() {
    if (result_file("record_bpf.err").find("built without BPF") != std::string::npos)
      GTEST_SKIP() << "the loft of the lab was built without BPF: clang, bpftool or libbpf was "
                      "missing when build/arm64 was configured";
  }
};

class LabRecorded : public LabBpf, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Lab::SetUp();
    if (!IsSkipped() && std::string(GetParam()) == "bpf") skip_without_bpf();
  }
  static CaseResult result(const std::string& name) { return result_of(name + "_" + GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(By, LabRecorded, ::testing::Values("bpf", "threads"),
                         [](const auto& recorder) { return std::string(recorder.param); });

TEST_P(LabRecorded, CountsOfALoopAreExact) {
  const CaseResult recorded = result("record");
  ASSERT_EQ(recorded.status, 0) << recorded.notes;
  const json tasks = tasks_of(recorded);
  ASSERT_EQ(tasks.size(), 1u) << tasks.dump();
  EXPECT_EQ(tasks[0]["kind"], "counted") << tasks.dump();
  EXPECT_EQ(tasks[0]["counts"]["instructions:u"], kLoop + kLoopOverhead) << tasks.dump();
  EXPECT_EQ(tasks[0]["counts"]["cycles:u"], kLoop + kLoopOverhead) << tasks.dump();
}

// As many instructions as 'loft stat' counts, and each thread its own.
TEST_P(LabRecorded, SlicesOfThreadsAddUpToWhatWasCounted) {
  const CaseResult recorded = result("record_family");
  ASSERT_EQ(recorded.status, 0) << recorded.notes;
  const json tasks = tasks_of(recorded);
  ASSERT_EQ(tasks.size(), 4u) << tasks.dump();
  std::uint64_t sum = 0;
  std::size_t loops = 0;
  for (const json& task : tasks) {
    EXPECT_EQ(task["kind"], "counted") << task.dump();
    const auto value = task["counts"]["instructions:u"].get<std::uint64_t>();
    EXPECT_LE(value, kFamilyLoop + kStartUp);
    loops += value >= kFamilyLoop ? 1 : 0;
    sum += value;
  }
  EXPECT_EQ(loops, 3u) << tasks.dump();
  const auto counted = result_of("threads").event("instructions:u")["value"].get<double>();
  EXPECT_NEAR(static_cast<double>(sum), counted, 0.01 * counted);
}

TEST_P(LabRecorded, MoreEventsThanCountersTakeTurnsAndInstructionsAreCountedAllAlong) {
  const CaseResult recorded = result("record_turns");
  ASSERT_EQ(recorded.status, 0) << recorded.notes;
  EXPECT_THAT(recorded.notes, HasSubstr("2 sets of events took turns"));
  const json tasks = tasks_of(recorded);
  ASSERT_EQ(tasks.size(), 1u) << tasks.dump();
  const json& task = tasks[0];
  EXPECT_EQ(task["counts"]["instructions:u"], kLongLoop) << task.dump();
  EXPECT_FALSE(task["estimates"].contains("instructions:u")) << task.dump();
  // A cycle is an instruction here: scaled by instructions, the estimate is the truth.
  EXPECT_NEAR(task["counts"]["cycles:u"].get<double>(), static_cast<double>(kLongLoop),
              0.01 * static_cast<double>(kLongLoop));
  double shares = 0;
  for (const char* name : {"cycles:u", "rb:u"}) {  // one of each set
    ASSERT_TRUE(task["estimates"].contains(name)) << task.dump();
    EXPECT_EQ(task["estimates"][name]["kind"], "scaled");
    const double running = task["estimates"][name]["running"].get<double>();
    EXPECT_GT(running, 0.1) << task.dump();
    shares += running;
  }
  EXPECT_LE(shares, 1.0) << task.dump();
  EXPECT_GT(shares, 0.8) << task.dump();
}

TEST_F(LabBpf, ASliceHasNoCountOfASetThatHadNoTurnInIt) {
  const CaseResult result = result_of("record_slices");
  ASSERT_TRUE(result.json.is_object()) << result.notes;
  std::size_t unknown = 0;
  std::uint64_t instructions = 0;
  for (const json& slice : result.json["slices"]) {
    instructions += slice["counts"]["instructions:u"].get<std::uint64_t>();
    const json& cycles = slice["counts"]["cycles:u"];
    const auto kind = slice["estimates"].value("cycles:u", json::object()).value("kind", "counted");
    EXPECT_EQ(cycles.is_null(), kind == "missing") << slice.dump();
    unknown += cycles.is_null() ? 1 : 0;
  }
  EXPECT_EQ(instructions, kLongLoop);
  EXPECT_GT(unknown, 0u) << result.json.dump();
}

TEST_F(LabBpf, ComparedRecordingsAreAlignedByInstructionsAndSayWhatIsScaled) {
  const CaseResult result = result_of("record_compare");
  ASSERT_TRUE(result.json.is_object()) << result.notes;
  EXPECT_EQ(result.json["work"], "instructions");
  const json& task = result.json["tasks"][0];
  EXPECT_EQ(task["counts"]["instructions:u"]["kind"], "counted") << task.dump();
  EXPECT_EQ(task["counts"]["cycles:u"]["kind"], "scaled") << task.dump();
}

TEST_F(LabBpf, CyclesAndInstructionsAreRecordedWithoutBeingAskedFor) {
  const json tasks = tasks_of(result_of("record_default"));
  ASSERT_EQ(tasks.size(), 1u) << tasks.dump();
  EXPECT_EQ(tasks[0]["kind"], "counted");
  // The kernel's own are in it, too.
  EXPECT_GT(tasks[0]["counts"]["instructions"].get<std::uint64_t>(), kLoop + kLoopOverhead);
  EXPECT_GT(tasks[0]["counts"]["cycles"].get<std::uint64_t>(), kLoop + kLoopOverhead);
}

TEST_F(LabBpf, ARecordedGroupLargerThanThePmuIsRefused) {
  const CaseResult result = result_of("record_set_too_large");
  EXPECT_EQ(result.status, 125);
  EXPECT_THAT(result.notes, HasSubstr("more events than the PMU has counters"));
}

TEST_F(Lab, SetsTakeTurnsWithoutPrivilegeToo) {
  const CaseResult result = result_of("user_record");
  ASSERT_EQ(result.status, 0) << result.notes;
  const json tasks = tasks_of(result);
  ASSERT_EQ(tasks.size(), 1u) << tasks.dump();
  EXPECT_EQ(tasks[0]["counts"]["instructions:u"], kLongLoop) << tasks.dump();
  EXPECT_EQ(tasks[0]["estimates"]["cycles:u"]["kind"], "scaled") << tasks.dump();
}

}  // namespace
}  // namespace loft::lab
