#include "machine/file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.hpp"
#include "machine/measure.hpp"
#include "machine/overrides.hpp"

namespace loft::machine {
namespace {

using model::Verdict;

model::Machine sample() {
  model::Machine machine;
  machine.identity = "0011223344556677";
  machine.cpu = "Some CPU";
  machine.frequency_hz = 3e9;
  machine.tsc_hz = 2.5e9;
  machine.topology.cores = 2;
  machine.topology.cpus = {{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}};
  machine.topology.caches = {{1, "Data", 32768, 64, 8, 2, 1}};
  machine.isas = {"scalar", "avx2"};
  machine.levels = {{"L1", 32768, 32768, 16384, true}};
  machine.sweep = {{4096, 1.2, 0}};
  model::Roof fma;
  fma.isa = "avx2";
  fma.precision = "dp";
  fma.op = "fma";
  fma.cpus = {1};
  fma.best = 48e9;
  fma.median = 47e9;
  fma.per_cycle = 16;
  fma.verdict = Verdict::stable;
  model::Roof load = fma;
  load.kind = model::RoofKind::bandwidth;
  load.level = "L1";
  load.op = "load";
  load.precision.clear();
  load.bytes = 12288;
  load.streams = 1;
  model::Roof none = fma;
  none.op = "mixed";
  none.best = none.median = 0;
  none.verdict = Verdict::unavailable;
  none.why = "this CPU has no fused multiply-add";
  model::Roof issue = fma;
  issue.kind = model::RoofKind::instructions;
  issue.precision.clear();
  issue.op = "mixed";
  issue.mix = "1 integer";
  issue.when = "2026-01-02T03:04:05Z";
  machine.roofs = {fma, load, none, issue};
  machine.system = {"Some CPU", "0x1", "6.1", 2};
  model::Constant latency;
  latency.name = "L1_lat";
  latency.unit = "cycles";
  latency.value = latency.cycles = latency.median = 4;
  latency.ns = 1.33;
  latency.verdict = Verdict::stable;
  machine.constants = {latency};
  model::Constant window = latency;
  window.name = "reorder_window_instructions";
  window.unit = "instructions";
  window.value = window.median = 224;
  window.origin = "measured: two misses apart";
  model::Constant walks = window;
  walks.name = "page_walks_in_flight";
  walks.value = walks.median = 0;
  walks.verdict = Verdict::unavailable;
  walks.why = "too little memory";
  machine.core = {window, walks};
  return machine;
}

class MachineFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/loft-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
    ::setenv("XDG_CACHE_HOME", path_.c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", path_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string path_;
};

// `text` with the first `from` replaced.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error(from);
  return text.replace(at, from.size(), to);
}

TEST_F(MachineFile, ReadsBackWhatItWrote) {
  const auto machine = from_json(to_json(sample()), "file");
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_EQ(to_json(*machine), to_json(sample()));
  ASSERT_EQ(machine->roofs.size(), 4u);
  EXPECT_EQ(machine->roofs[3].kind, model::RoofKind::instructions);
  EXPECT_EQ(machine->roofs[3].when, "2026-01-02T03:04:05Z");
  EXPECT_EQ(machine->system.microcode, "0x1");
  EXPECT_EQ(machine->system.cpus, 2);
  EXPECT_EQ(machine->roofs[1].bytes, 12288u);
  EXPECT_EQ(machine->roofs[2].verdict, Verdict::unavailable);
  EXPECT_EQ(machine->topology.caches[0].bytes, 32768u);
  EXPECT_EQ(find_core_parameter(*machine, "reorder_window_instructions")->value, 224);
  EXPECT_EQ(find_core_parameter(*machine, "page_walks_in_flight")->why, "too little memory");
}

TEST_F(MachineFile, WritesWhatIsUnknownAsNull) {
  const std::string text = to_json(sample());
  EXPECT_NE(text.find("\"nominal_hz\": null"), std::string::npos);
  EXPECT_NE(text.find("\"best\": null"), std::string::npos);
}

TEST_F(MachineFile, WithoutParametersOfTheCoreIsRead) {
  const std::string text = to_json(sample());
  const auto from = text.find(",\n \"core\"");
  ASSERT_NE(from, std::string::npos) << "the last of the fields";
  const auto older = from_json(text.substr(0, from) + "\n}\n", "older");
  ASSERT_TRUE(older);
  EXPECT_TRUE(older->core.empty());
  const auto wrong = from_json(changed(text, "\"unit\": \"instructions\"", "\"unit\": 7"), "wrong");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().why.find("core.reorder_window_instructions.unit"), std::string::npos)
      << wrong.error().why;
}

TEST_F(MachineFile, NamesTheFieldThatIsWrong) {
  const std::string good = to_json(sample());
  const auto why = [](const std::string& text) {
    const auto machine = from_json(text, "file");
    return machine ? std::string("accepted") : machine.error().why;
  };
  EXPECT_NE(why("{").find("not JSON"), std::string::npos);
  EXPECT_NE(why("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(why("{}").find("'schema' is missing"), std::string::npos);
  EXPECT_NE(why(changed(good, "loft.machine/1", "loft.stat/1")).find("'schema'"),
            std::string::npos);
  EXPECT_NE(why(changed(good, "\"tsc_hz\": 2500000000.0", "\"tsc_hz\": \"fast\"")).find("'tsc_hz'"),
            std::string::npos);
  EXPECT_NE(why(changed(good, "48000000000.0", "-1")).find("'roofs[0].best'"), std::string::npos);
  EXPECT_NE(why(changed(good, "\"threads\": 1", "\"threads\": 1e99")).find("'roofs[0].threads'"),
            std::string::npos);
  EXPECT_NE(why(changed(good, "\"stable\"", "\"great\"")).find("verdict"), std::string::npos);
  EXPECT_NE(
      why(changed(good, "\"bytes\": 32768", "\"bytes\": null")).find("'topology.caches[0].bytes'"),
      std::string::npos);
}

TEST_F(MachineFile, SurvivesEveryTruncationAndChangedByte) {
  const std::string good = to_json(sample());
  for (std::size_t length = 0; length + 1 < good.size(); length += 7)
    EXPECT_FALSE(from_json(good.substr(0, length), "file")) << length;
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x5A);
    (void)from_json(bad, "file");  // an error or a machine, never a crash
  }
}

TEST_F(MachineFile, DoesNotReplaceWhatIsNoMachineFile) {
  const std::string path = path_ + "/notes.json";
  EXPECT_TRUE(may_replace(path, "x", true)) << "nothing is there";
  ASSERT_TRUE(replace_file(path, "{\"my\": \"notes\"}"));
  const auto refused = may_replace(path, "x", false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().why.find("schema"), std::string::npos);
  ASSERT_TRUE(replace_file(path, to_json(sample())));
  EXPECT_TRUE(may_replace(path, sample().identity, true));
  EXPECT_FALSE(may_replace(path, "another", true));
  EXPECT_TRUE(may_replace(path, "another", false)) << "named by the user";
}

TEST_F(MachineFile, OfAnotherMachineIsUsedOnlyWhenNamed) {
  const auto missing = load();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  const auto own = this_machine();
  ASSERT_TRUE(own);
  const std::string path = path_of(*own);
  ASSERT_TRUE(replace_file(path, to_json(sample())));
  const auto foreign = load();
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().why.find("'identity'"), std::string::npos);
  EXPECT_TRUE(load(path));
  model::Machine mine = sample();
  mine.identity = *own;
  ASSERT_TRUE(replace_file(path, to_json(mine)));
  EXPECT_TRUE(load());
}

TEST_F(MachineFile, ConstantsOfTheUserComeFirst) {
  ASSERT_TRUE(replace_file(overrides_path(),
                           "# manual\nL1_lat = 5 cycles\nMy_lat=12\nMem_lat = 100 ns # slow\n"));
  const std::string path = path_ + "/m.json";
  ASSERT_TRUE(replace_file(path, to_json(sample())));
  const auto machine = load(path);
  ASSERT_TRUE(machine);
  EXPECT_EQ(find_constant(*machine, "L1_lat")->cycles, 5);
  EXPECT_EQ(find_constant(*machine, "L1_lat")->origin, overrides_path());
  EXPECT_EQ(find_constant(*machine, "My_lat")->value, 12);
  EXPECT_NEAR(find_constant(*machine, "Mem_lat")->cycles, 300, 1e-9) << "at 3 GHz";
  EXPECT_EQ(find_constant(*machine, "nothing"), nullptr);
}

TEST(Overrides, TheLatencyOfAdditionAndMultiplicationFollowsEither) {
  const auto constant = [](const char* name, double value) {
    model::Constant made;
    made.name = name;
    made.unit = "cycles";
    made.value = value;
    made.verdict = model::Verdict::stable;
    return made;
  };
  model::Machine machine;
  machine.constants = {constant("FP_lat", 4), constant("FP_add_lat", 3), constant("FP_mul_lat", 4)};
  loft::machine::apply(*parse_overrides("FP_add_lat = 6", "mine"), machine);
  EXPECT_EQ(find_constant(machine, "FP_lat")->value, 6);
  EXPECT_EQ(find_constant(machine, "FP_lat")->origin, "mine");
  loft::machine::apply(*parse_overrides("FP_add_lat = 7\nFP_lat = 5", "mine"), machine);
  EXPECT_EQ(find_constant(machine, "FP_lat")->value, 5) << "said by name";
}

TEST_F(MachineFile, BadConstantsNameTheirLine) {
  for (const char* bad : {"L1_lat 4", "1x = 4", "L1_lat = four", "L1_lat = -1", "L1_lat = nan",
                          "L1_lat = 4 parsecs", "= 4"}) {
    const auto overrides = parse_overrides(std::string("\n") + bad, "file");
    ASSERT_FALSE(overrides) << bad;
    EXPECT_NE(overrides.error().what.find("line 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace loft::machine
