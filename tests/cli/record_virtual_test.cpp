// loft record --source virtual, and what report and roof make of it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/run_loft.hpp"
#include "machine/file.hpp"
#include "view/unpack_page.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class VirtualRecord : public testing::Test {
 protected:
  void SetUp() override {
#ifndef LOFT_HAS_ENGINE
    GTEST_SKIP() << "there is no virtual PMU on this architecture";
#endif
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  [[nodiscard]] std::string file() const { return folder_ + "/perf.data"; }
  [[nodiscard]] Said record(const std::string& flags, const std::string& command) const {
    return run_loft("record --source virtual -o " + file() + " " + flags + " -- " + command);
  }
  [[nodiscard]] json report(const std::string& flags) const {
    const Said said = run_loft("report " + file() + " --format json " + flags);
    EXPECT_EQ(said.status, 0) << said.notes;
    return json::parse(said.out, nullptr, false);
  }
  [[nodiscard]] static std::uint64_t period_of(const json& report, const std::string& event) {
    for (const json& each : report["events"])
      if (each["name"] == event) return each["period"];
    return 0;
  }

  std::string folder_ = "/tmp/loft-record-virtual-XXXXXX";
};

TEST_F(VirtualRecord, HasTheExactCountsOfAFunction) {
  const Said said = record("-t 5", LOFT_TEST_KERNELS " triad 4000");
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("watched by the virtual PMU"));
  std::uint64_t flops = 0;
  const json recorded = report("");
  for (const json& row : recorded["rows"])
    if (row["event"] == "virtual::flops_dp" && row["function"] == "triad_kernel")
      flops += row["period"].get<std::uint64_t>();
  EXPECT_EQ(flops, 4000u * 4096 * 2);
}

// A metric is recorded by the events it needs, and computed from the recording.
TEST_F(VirtualRecord, TakesTheNamesOfMetrics) {
  const Said said = record("-e intensity", LOFT_TEST_KERNELS " triad 4000");
  ASSERT_EQ(said.status, 0) << said.notes;
  const Said value = run_loft("metric eval --format json --counts " + file() + " intensity");
  ASSERT_EQ(value.status, 0) << value.notes;
  const json recorded = report("");
  const auto bytes = static_cast<double>(period_of(recorded, "virtual::load_bytes") +
                                         period_of(recorded, "virtual::store_bytes"));
  const auto flops = static_cast<double>(period_of(recorded, "virtual::flops"));
  const json metrics = json::parse(value.out, nullptr, false);
  EXPECT_DOUBLE_EQ(metrics["metrics"][0]["value"].get<double>(), flops / bytes) << value.out;
  EXPECT_EQ(metrics["metrics"][0]["kind"], "counted") << value.out;
}

TEST_F(VirtualRecord, AddsUpToTheSameTotalsByFunctionAndByThread) {
  const Said said = record("-t 1 -e instructions,store_bytes", LOFT_TEST_THREADS " 3");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json by_function = report("");
  const json threads = report("--threads");
  const json& tasks = threads["tasks"];
  EXPECT_EQ(tasks.size(), 5u);
  std::map<std::string, std::uint64_t> sums;
  std::set<std::string> names;
  for (const json& task : tasks) {
    names.insert(task["comm"].get<std::string>());
    for (const auto& [event, count] : task["counts"].items())
      sums[event] += count.get<std::uint64_t>();
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"work0", "work1", "work2"}));
  for (const char* event : {"virtual::instructions", "virtual::store_bytes"}) {
    EXPECT_GT(sums[event], 0u) << event;
    EXPECT_EQ(sums[event], period_of(by_function, event)) << event;
  }
}

// A shell that becomes another program: each has functions of its own, at the right addresses.
TEST_F(VirtualRecord, KeepsProgramsOfOneProcessApart) {
  const Said said = record("-e instructions", "/bin/sh -c 'exec " LOFT_TEST_KERNELS " triad 10'");
  ASSERT_EQ(said.status, 0) << said.notes;
  bool has_kernel = false;
  std::uint64_t not_mapped = 0;
  const json recorded = report("");
  for (const json& row : recorded["rows"]) {
    if (row["event"] != "virtual::instructions") continue;
    has_kernel = has_kernel || row["function"] == "triad_kernel";
    if (row["binary"].is_null()) not_mapped += row["period"].get<std::uint64_t>();
  }
  EXPECT_TRUE(has_kernel);
  EXPECT_EQ(not_mapped, 0u);
}

// The program holds its recorder for a while, as a busy machine does.
TEST_F(VirtualRecord, SaysWhenSlicesTookLongerThanAskedFor) {
  const char* holds = "/bin/sh -c 'kill -STOP $PPID; sleep 0.2; kill -CONT $PPID'";
  const Said said = record("-t 20", holds);
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("slices took up to"));
  EXPECT_THAT(said.notes, HasSubstr("20.0 ms were requested"));
  EXPECT_THAT(record("-t 60000", holds).notes, Not(HasSubstr("slices took")));
}

TEST_F(VirtualRecord, StandsUnderTheRoofsWithExactWork) {
  model::Roof roof;
  roof.kind = model::RoofKind::flops;
  roof.isa = "avx2";
  roof.op = "fma";
  roof.precision = "dp";
  roof.cpus = {0};
  roof.best = roof.median = 50e9;
  roof.verdict = model::Verdict::stable;
  model::Machine machine;
  machine.identity = "0123456789abcdef";
  machine.architecture = "x86_64";
  machine.roofs = {roof};
  ASSERT_TRUE(replace_file(folder_ + "/machine.json", machine::to_json(machine)));
  const Said said = record("", LOFT_TEST_KERNELS " triad 4000");
  ASSERT_EQ(said.status, 0) << said.notes;
  const Said drawn =
      run_loft("roof --machine " + folder_ + "/machine.json --format json " + file());
  ASSERT_EQ(drawn.status, 0) << drawn.notes;
  const json chart = json::parse(drawn.out, nullptr, false);
  bool found = false;
  for (const json& point : chart["points"]) {
    EXPECT_EQ(point["kind"], "modelled") << point;
    if (point["scope"] != "function" || point["name"] != "triad_kernel") continue;
    found = true;
    EXPECT_EQ(point["flops"], 4000.0 * 4096 * 2);
    EXPECT_NEAR(point["intensity"].get<double>(), 2.0 / 24, 1e-4);
  }
  EXPECT_TRUE(found);
  // Each call is a point: its own operations and time, in the order in which they began.
  const Said placed = run_loft("roof --machine " + folder_ + "/machine.json -o " + folder_ +
                               "/calls.json --calls dot_kernel -- " LOFT_TEST_KERNELS " dot 40");
  ASSERT_EQ(placed.status, 0) << placed.notes;
  const json calls = json::parse(read_file(folder_ + "/calls.json").value_or(""), nullptr, false);
  double before = -1;
  int count = 0;
  for (const json& point : calls["points"]) {
    if (point["scope"] != "slice") continue;
    ++count;
    EXPECT_EQ(point["name"], "dot_kernel");
    EXPECT_EQ(point["flops"], 4096.0 * 2);
    EXPECT_EQ(point["kind"], "counted");
    EXPECT_GT(point["start_s"], before);
    before = point["start_s"];
  }
  EXPECT_EQ(count, 40);
}

TEST_F(VirtualRecord, LeavesAnOlderRecordingAloneWhereTheEngineGaveUp) {
  const std::string program = file() + ".32";
  std::string head(64, '\0');  // enough of one for Intel 386
  head.replace(0, 7,
               "\x7f"
               "ELF\1\1\1");
  head[18] = 3;
  ASSERT_TRUE(replace_file(program, head));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ASSERT_EQ(record("-e instructions", "true").status, 0);
  const std::string before = read_file(file()).value_or("");
  const Said said = record("-e instructions", "sh -c 'exec " + program + "'");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("32-bit"));
  EXPECT_EQ(read_file(file()).value_or(""), before);
}

TEST_F(VirtualRecord, SaysWhatItCannotDo) {
  EXPECT_THAT(record("-F 99", "true").notes, HasSubstr("leave out -p, -a, --types, -F"));
  EXPECT_THAT(record("-e page-faults", "true").notes, HasSubstr("virtual:: events alone"));
  const Said missing = record("", "/no/such/program");
  EXPECT_EQ(missing.status, 127) << missing.notes;
}

// Whoever counts: calls, slices and the program's own tasks are in one file.
TEST_F(VirtualRecord, HoldsCallsBesideSlices) {
  for (const char* source : {"native", "virtual"}) {
    const bool is_native = std::string(source) == "native";
    const Said said = run_loft("record -o " + file() + (is_native ? "" : " --source virtual") +
                               " --calls '*_kernel' --calls main -- " LOFT_TEST_KERNELS " dot 40");
    ASSERT_EQ(said.status, 0) << said.notes;
    EXPECT_THAT(said.notes, testing::ContainsRegex("41 single calls of [0-9]+ functions, 0 lost"));
    const json calls = report("--calls");
    EXPECT_EQ(calls["source"], source);
    std::map<std::string, json> by_name;
    for (const json& function : calls["functions"]) by_name[function["name"]] = function;
    EXPECT_EQ(by_name["dot_kernel"]["calls"], 40);
    EXPECT_GT(by_name["dot_kernel"]["total_s"], 0);
    EXPECT_EQ(by_name["main"]["calls"], 1);
    ASSERT_EQ(calls["calls"].size(), 41u);
    EXPECT_EQ(report("--calls --time=,0%")["calls"].size(), 1u) << "main began first";
    EXPECT_FALSE(report("")["events"].empty()) << "slices";
  }
}

TEST_F(VirtualRecord, CallsHaveTimesOfOneRunAndCountsOfASecond) {
  const Said said = run_loft("call dot_kernel main -e instructions,flops --format json -o " +
                             file() + " -- " LOFT_TEST_KERNELS " dot 40");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json calls = json::parse(read_file(file()).value_or(""), nullptr, false);
  EXPECT_EQ(calls["source"], "native+virtual");
  for (const json& function : calls["functions"]) {
    EXPECT_GT(function["total_s"], 0);
    EXPECT_GT(function["events"]["flops"]["per_call"], 0) << function["name"];
    EXPECT_EQ(function["calls"], function["name"] == "dot_kernel" ? 40 : 1);
  }
  const Said counted = run_loft("call dot_kernel --only-counts -- " LOFT_TEST_KERNELS " dot 40");
  EXPECT_THAT(counted.notes, HasSubstr("            40  dot_kernel\n"));
  EXPECT_THAT(counted.notes, Not(HasSubstr("total")));
}

#ifdef LOFT_TEST_REGIONS
// Marked by loft's header and, inside, as LIKWID's macros do, in threads of OpenMP.
class RecordedRegions : public VirtualRecord {
 protected:
  // The row of a region over all threads, or of the thread with so many visits and operations.
  [[nodiscard]] static json region(const json& report, const std::vector<std::string>& path) {
    for (const json& row : report["regions"])
      if (row["path"] == path && !row.contains("tid")) return row;
    ADD_FAILURE() << "no region " << testing::PrintToString(path);
    return {};
  }
  // Values of an event in the threads, by rising order.
  [[nodiscard]] static std::vector<double> of_threads(const json& report,
                                                      const std::vector<std::string>& path,
                                                      const char* what) {
    std::vector<double> values;
    for (const json& row : report["regions"])
      if (row["path"] == path && row.contains("tid"))
        values.push_back(row["events"][0][what].get<double>());
    std::ranges::sort(values);
    return values;
  }
};

TEST_F(RecordedRegions, HaveExactCountsByCallPathAndThread) {
  const Said said = record("-e flops", LOFT_TEST_REGIONS " 2 3");
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("2 marked regions"));
  const json regions = report("--regions");
  const json outer = region(regions, {"outer"}), inner = region(regions, {"outer", "inner"});
  EXPECT_EQ(outer["visits"], 6);
  EXPECT_EQ(outer["events"][0]["value"], 3 * (1010 + 2010));
  EXPECT_EQ(outer["events"][0]["self"], 3 * (10 + 10));
  EXPECT_EQ(inner["events"][0]["value"], 3 * 3000);
  EXPECT_EQ(inner["events"][0]["kind"], "counted");
  EXPECT_TRUE(inner["time_s"].is_null());
  EXPECT_THAT(of_threads(regions, {"outer"}, "value"), testing::ElementsAre(3030, 6030));
  EXPECT_THAT(of_threads(regions, {"outer", "inner"}, "value"), testing::ElementsAre(3000, 6000));
  EXPECT_EQ(period_of(report(""), "virtual::flops"), 9060u) << "functions have all of it, too";
  const std::string tid = std::to_string(regions["regions"].back()["tid"].get<int>());
  EXPECT_EQ(report("--regions --tid " + tid)["regions"].size(), 2u);
  EXPECT_THAT(run_loft("report " + file()).out, testing::ContainsRegex(" 9,060 +outer\n"));
  EXPECT_EQ(run_loft("report --regions --comm x " + file()).status, 125);
  ASSERT_EQ(run_loft("report -o " + folder_ + "/x.html " + file()).status, 0);
  const auto page = view::unpack_page(read_file(folder_ + "/x.html").value_or(""));
  ASSERT_TRUE(page);
  EXPECT_THAT(page->head.dump(), HasSubstr("regions: flops"));
  EXPECT_THAT(page->head.dump(), HasSubstr("outer/inner"));
}

TEST_F(RecordedRegions, HaveTimesNatively) {
  const Said said = run_loft("record -o " + file() + " -- " LOFT_TEST_REGIONS " 2 50");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json regions = report("--regions");
  const json outer = region(regions, {"outer"}), inner = region(regions, {"outer", "inner"});
  EXPECT_EQ(outer["visits"], 100);
  EXPECT_EQ(inner["visits"], 100);
  EXPECT_GT(inner["time_s"], 0);
  EXPECT_GT(outer["time_s"], inner["time_s"]);
  EXPECT_GE(outer["time_s"], outer["elapsed_s"]) << "both threads may be in it at a time";
  EXPECT_GE(outer["elapsed_s"], inner["elapsed_s"]);
  EXPECT_EQ(regions["regions"].size(), 6u) << "two regions of all, and of two threads each";
  EXPECT_THAT(run_loft("record -o " + file() + " -- true").notes, Not(HasSubstr("region")));
  EXPECT_EQ(run_loft("report --regions " + file()).status, 125);
}

TEST_F(RecordedRegions, AreCountedInLikwidsOwnExample) {
  const std::string program = folder_ + "/example";
  const std::string made =
      "sed 's/SLEEPTIME 2/SLEEPTIME 0/' /usr/share/likwid/examples/C-markerAPI.c >" + program +
      ".c && cc -fopenmp -DLIKWID_PERFMON " + program + ".c -o " + program +
      " -llikwid 2>/dev/null";
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "likwid is not installed";
  ::setenv("OMP_NUM_THREADS", "2", 1);
  const Said said = record("-e instructions", program);
  const Said native = run_loft("record -o " + file() + "2 -- " + program);
  ::unsetenv("OMP_NUM_THREADS");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json regions = report("--regions");
  EXPECT_EQ(region(regions, {"example"})["visits"], 20);
  EXPECT_GT(region(regions, {"example"})["events"][0]["value"], 0);
  EXPECT_EQ(of_threads(regions, {"example"}, "value").size(), 2u);
  ASSERT_EQ(native.status, 0) << native.notes;
  EXPECT_THAT(native.notes, HasSubstr("1 marked regions"));
}
#endif

}  // namespace
}  // namespace loft
