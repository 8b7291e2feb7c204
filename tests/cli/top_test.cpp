#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/cpu_set.hpp"
#include "base/text.hpp"
#include "cli/run_loft.hpp"

namespace loft {
namespace {

using testing::HasSubstr;

TEST(Top, BatchGivesOneObjectForEachSampleOfAllCores) {
  const Said said = run_loft("top --batch -n 3 -i 20 --format json -e context-switches,IPC");
  ASSERT_EQ(said.status, 0) << said.notes;
  const auto lines = split(trim(said.out), '\n');
  ASSERT_EQ(lines.size(), 3u);
  double last = 0;
  for (const std::string_view line : lines) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_GT(json["time_s"], last);
    last = json["time_s"];
    EXPECT_EQ(json["cores"].size(), online_cpus()->size());
    for (const auto& core : json["cores"]) {
      // On a busy machine a reader may be late; then the core says so.
      if (core.contains("why")) continue;
      EXPECT_GT(core["end_s"], core["start_s"]);
      EXPECT_TRUE(core["values"].contains("context-switches"));
      EXPECT_TRUE(core["values"].contains("IPC"));
      // Where switches cannot be counted (no permission) the reason is given, and never 0.
      if (core["values"]["context-switches"].is_null()) {
        EXPECT_TRUE(core["missing"].contains("context-switches"));
      }
    }
    EXPECT_GT(json["cost"]["resident_bytes"], 0);
  }
}

TEST(Top, OneCoreAloneAndCsv) {
  const std::string cpu = std::to_string(online_cpus()->back());
  const Said said = run_loft("top --batch -n 2 -i 20 --format csv -C " + cpu);
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.out, testing::StartsWith("time_s,scope,part,name,value,unit,kind,count,why\n"));
  EXPECT_THAT(said.out, HasSubstr(",core," + cpu + ",busy,"));
  EXPECT_THAT(said.out, HasSubstr(",loft,,cpu_share,"));
}

// Runs a shell script in a folder of its own; $LOFT is the program.
Said run_script(const std::string& script) {
  std::string folder = "/tmp/loft-top-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  EXPECT_TRUE(replace_file(folder + "/script", script));
  return run_shell(
      "cd " + folder + " && LOFT=" LOFT_PROGRAM " XDG_CONFIG_HOME=" + folder + " sh script",
      folder);
}

TEST(Top, EventsOfOneCoreAreChangedWhileItRuns) {
  if (run_loft("top --batch -n 1 -i 20 --format csv -e page-faults").out.find("EACCES") !=
      std::string::npos)
    GTEST_SKIP() << "whole CPUs may not be counted here";
  const std::string cpu = std::to_string(online_cpus()->front());
  // Sends until the monitor is there; it ends when it is told to.
  const Said said = run_script(
      "$LOFT top --batch --format json -i 20 -e page-faults >samples & pid=$!\n"
      "until $LOFT top --send context-switches --cores " +
      cpu +
      " --to $pid 2>refusals; do kill -0 $pid || exit 1; done\n"
      "$LOFT top --send +cpu-migrations --cores " +
      cpu +
      " --to $pid || exit 1\n"
      "$LOFT top --send nonsense-event --to $pid; echo refused $? >&2\n"
      "until grep -q '\"cpu-migrations\"' samples; do kill -0 $pid || exit 1; sleep 0.02; done\n"
      "kill $pid; wait $pid; echo ended $? >&2; cat samples\n");
  EXPECT_THAT(said.notes, HasSubstr("nonsense-event"));
  EXPECT_THAT(said.notes, HasSubstr("refused 125"));
  EXPECT_THAT(said.notes, HasSubstr("ended 0"));
  double end_of_old = -1;
  bool has_changed = false;
  for (const std::string_view line : split(trim(said.out), '\n')) {
    const auto json = nlohmann::json::parse(line);
    const auto& core = json["cores"][0];
    if (core.contains("why")) continue;
    const bool is_new = core["values"].contains("context-switches");
    if (is_new && !has_changed && end_of_old >= 0) {
      EXPECT_EQ(core["start_s"], end_of_old);  // no time between the two sets
    }
    EXPECT_EQ(core["values"].contains("page-faults"), !is_new);
    EXPECT_LE(has_changed, is_new);
    has_changed = is_new;
    end_of_old = core["end_s"];
    if (json["cores"].size() > 1) {
      EXPECT_TRUE(json["cores"][1]["values"].contains("page-faults"));
    }
  }
  EXPECT_TRUE(has_changed);
}

TEST(Top, RecordingHasEachCoreAsAThread) {
  const Said said = run_script(
      "$LOFT top --batch --format json -n 5 -i 20 -e page-faults --record cores.data || exit 1\n"
      "echo; $LOFT report --threads --format json cores.data\n");
  ASSERT_EQ(said.status, 0) << said.notes;
  const auto end = said.out.find("\n\n");
  ASSERT_NE(end, std::string::npos) << said.out;
  std::map<std::string, std::uint64_t> printed;
  const std::string samples = said.out.substr(0, end);
  for (const std::string_view line : split(samples, '\n'))
    for (const auto& core : nlohmann::json::parse(line)["cores"])
      if (core["counts"].contains("page-faults"))
        printed["CPU " + std::to_string(core["cpu"].get<int>())] +=
            core["counts"]["page-faults"].get<std::uint64_t>();
  std::map<std::string, std::uint64_t> recorded;
  for (const auto& task : nlohmann::json::parse(said.out.substr(end))["tasks"])
    if (task["counts"].contains("page-faults"))
      recorded[task["comm"]] = task["counts"]["page-faults"].get<std::uint64_t>();
  for (const auto& [cpu, count] : printed) EXPECT_EQ(recorded[cpu], count) << cpu;
}

TEST(Top, LongRunNeitherGrowsNorDrifts) {
  const Said said = run_loft("top --batch -n 400 -i 2 --format json -e context-switches");
  ASSERT_EQ(said.status, 0) << said.notes;
  const auto lines = split(trim(said.out), '\n');
  ASSERT_EQ(lines.size(), 400u);
  const auto early = nlohmann::json::parse(lines[100]);
  const auto last = nlohmann::json::parse(lines.back());
  const auto bytes = [](const nlohmann::json& sample) {
    return sample["cost"]["resident_bytes"].get<double>();
  };
  EXPECT_LT(bytes(last), bytes(early) + (256 << 10));
  // Samples are due at multiples of the interval; those that were left out are known.
  const double due = 0.002 * (400 + last["cost"]["skipped"].get<double>());
  EXPECT_GE(last["time_s"].get<double>(), due - 0.001);
}

TEST(Top, ListensOnLoopbackAlone) {
  EXPECT_THAT(run_loft("top --batch -n 1 --listen 0.0.0.0:0").notes, HasSubstr("--public"));
  EXPECT_THAT(run_loft("top --batch -n 1 --listen nowhere").notes, HasSubstr("ADDRESS:PORT"));
  const Said said = run_loft("top --batch --format none -n 1 -i 20 --listen 127.0.0.1:0");
  EXPECT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("listening on http://127.0.0.1:"));
}

// Whoever broke in through a request would find little to use.
TEST(Top, WhoListensKeepsFewCapabilities) {
  if (::geteuid() != 0) GTEST_SKIP() << "this user has none anyway";
  const Said said = run_script(
      "$LOFT top --batch --format none -i 20 --listen 127.0.0.1:0 2>notes & pid=$!\n"
      "until grep -q listening notes; do kill -0 $pid || exit 1; sleep 0.02; done\n"
      "while [ $(ls /proc/$pid/task | wc -l) -lt 2 ]; do sleep 0.02; done\n"
      "sed -n 's/^CapEff:\\t//p' /proc/$pid/task/*/status\n"
      "kill $pid; wait $pid; exit 0\n");
  ASSERT_EQ(said.status, 0) << said.notes;
  constexpr std::uint64_t kAllowed = (1ULL << 38) | (1ULL << 23) | (1ULL << 17) | (1ULL << 19);
  const auto lines = split(trim(said.out), '\n');
  EXPECT_GE(lines.size(), 2u) << "the monitor and its readers";
  for (const std::string_view line : lines)
    EXPECT_EQ(std::stoull(std::string(line), nullptr, 16) & ~kAllowed, 0u) << line;
}

TEST(Top, RegistersThatAreNotThereAreExplained) {
  if (file_exists("/dev/cpu/0/msr")) GTEST_SKIP() << "this machine has them";
  const Said said = run_loft("top --batch -n 1 --source msr -e cycles");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, testing::AnyOf(HasSubstr("modprobe msr"), HasSubstr("Intel and AMD")));
}

TEST(Top, SourcesHaveTheWordsOfOtherCommands) {
  for (const char* word : {"auto", "perf_events", "counters"})
    EXPECT_EQ(run_loft(std::string("top --batch -n 1 -i 20 --source ") + word).status, 0) << word;
  EXPECT_THAT(run_loft("top --batch -n 1 --source virtual").notes,
              HasSubstr("it counts programs that loft starts, not cores"));
  EXPECT_THAT(run_loft("top --batch -n 1 --source other").notes, HasSubstr("msr"));
}

TEST(Top, RefusesWhatIsNotThere) {
  EXPECT_THAT(run_loft("top --batch -n 1 -C 4000").notes, HasSubstr("cannot watch CPU 4000"));
  EXPECT_THAT(run_loft("top --batch -n 1 -e no-such-event").notes, HasSubstr("no-such-event"));
}

}  // namespace
}  // namespace loft
