#include "event/presets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "event/pfm.hpp"
#include "machines.hpp"

namespace loft::event {
namespace {

using testing::HasSubstr;

Presets shipped() {
  auto presets = Presets::load(LOFT_SOURCE_DIR "/share");
  EXPECT_TRUE(presets) << to_string(presets.error());
  return presets.value_or(Presets{});
}

Resolver pretending(const std::string& pmu) {
  ResolverOptions options;
  options.root = SystemRoot("/nonexistent");
  options.config_directory = "";
  options.share_directory = LOFT_SOURCE_DIR "/share";
  options.pretended_pmu = pmu;
  return Resolver(options);
}

TEST(Presets, AllUsualNamesAreThereWithADescription) {
  const Presets presets = shipped();
  EXPECT_GE(presets.all().size(), 100u);
  for (const Preset& preset : presets.all())
    EXPECT_FALSE(preset.description.empty()) << preset.name;
}

TEST(Presets, GenericOnesResolveEverywhere) {
  const Tree cloud = cloud_machine();
  const auto event = cloud.resolver().resolve("PAPI_TOT_INS:u");
  ASSERT_TRUE(event) << to_string(event.error());
  EXPECT_EQ(event->encoding, (Encoding{"cpu", 0, 1, 0, 0}));
  EXPECT_EQ(event->origin, "PAPI preset");
  EXPECT_EQ(event->name, "PAPI_TOT_INS:u");
  EXPECT_FALSE(event->modifiers.kernel);
}

TEST(Presets, ArmUsesTheEventsThatThePmuPublishes) {
  const Tree tree = arm_machine();
  EXPECT_EQ(tree.resolver().resolve("PAPI_L1_DCM")->encoding,
            (Encoding{"armv8_pmuv3_0", 8, 3, 0, 0}));
  EXPECT_FALSE(tree.resolver().resolve("PAPI_L2_DCM")) << "this PMU has no l2d_cache_refill";
}

TEST(Presets, ADerivedOneSaysSoAndKeepsItsFormula) {
  const Tree tree = intel_machine();
  const auto event = tree.resolver().resolve("PAPI_DP_OPS");
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(event.error().why, HasSubstr("derived"));
  EXPECT_THAT(event.error().why, HasSubstr("512B_PACKED_DOUBLE"));
}

TEST(Presets, OneThatNoCpuCountsSaysSo) {
  const auto event = zen_machine().resolver().resolve("PAPI_FSQ_INS");
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(zen_machine().resolver().resolve("PAPI_TOT_INZ").error().kind, ErrorKind::not_found);
}

TEST(Presets, AMalformedFileIsShownByLineAndColumn) {
  const auto why = [](std::string_view text) {
    const auto presets = Presets::parse(text, "presets.txt");
    EXPECT_FALSE(presets) << text;
    return presets ? std::string() : presets.error().why;
  };
  EXPECT_THAT(why("any = cycles"), HasSubstr("line 1, column 1"));
  EXPECT_THAT(why("preset PAPI_A x\n  vax = cycles"), HasSubstr("line 2, column 3"));
  EXPECT_THAT(why("preset PAPI_A x\n  any ="), HasSubstr("line 2, column 8"));
  EXPECT_THAT(why("preset PAPI_A x\npreset PAPI_A y"), HasSubstr("line 2, column 8"));
}

// Every name that the file takes from libpfm4 exists on at least one CPU of its family.
TEST(Presets, NoMappingNamesAnEventThatDoesNotExist) {
  if (!Pfm::instance()) GTEST_SKIP() << "libpfm4 is not installed";
  std::map<std::string, std::vector<Resolver>> families;
  for (const char* pmu : {"skl", "skx", "icl", "hsw"}) families["intel"].push_back(pretending(pmu));
  for (const char* pmu : {"amd64_fam17h_zen1", "amd64_fam17h_zen2", "amd64_fam19h_zen3"})
    families["zen"].push_back(pretending(pmu));
  if (!(*Pfm::instance())->find_pmu("skl")) GTEST_SKIP() << "libpfm4 is built for another machine";

  std::size_t checked = 0;
  const Presets presets = shipped();
  for (const Preset& preset : presets.all()) {
    for (const PresetMapping& mapping : preset.mappings) {
      std::vector<std::string> names = mapping.alternatives;
      std::istringstream words(mapping.formula);
      for (std::string word; words >> word;) names.push_back(word);
      for (const std::string& name : names) {
        if (!name.starts_with("pfm:")) continue;
        auto& cpus = families[mapping.family];
        EXPECT_TRUE(std::any_of(cpus.begin(), cpus.end(),
                                [&](Resolver& cpu) { return cpu.resolve(name).has_value(); }))
            << preset.name << ": " << name;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 60u);
}

// Intel's lists and LIKWID's groups write the same events in other ways.
TEST(Spellings, EventsOfPublishedMetricsAreFound) {
  Resolver skylake = pretending("skl");
  const auto encoding = [&](const char* name) {
    const auto event = skylake.resolve(name);
    EXPECT_TRUE(event) << name << ": " << (event ? "" : to_string(event.error()));
    return event ? event->encoding.config : 0;
  };
  const auto packed = encoding("pfm:FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE");
  EXPECT_EQ(encoding("FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE"), packed);
  EXPECT_EQ(encoding("FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE"), packed);
  EXPECT_EQ(encoding("FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE:c=0x1"),
            encoding("pfm:FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE:c=0x1"));
  EXPECT_EQ(encoding("INST_RETIRED.ANY"), encoding("instructions"));
  EXPECT_EQ(encoding("CPU_CLK_UNHALTED_CORE"), encoding("cycles"));
  EXPECT_EQ(skylake.resolve("INSTR_RETIRED_ANY")->name, "INSTR_RETIRED_ANY");
  EXPECT_FALSE(skylake.resolve("INSTR_RETIRED_ANYTHING"));
}

TEST(Pfm, ADryRunEncodesAsTheOtherCpuWould) {
  if (!Pfm::instance() || !(*Pfm::instance())->find_pmu("zen3"))
    GTEST_SKIP() << "libpfm4 has no tables of this CPU";
  const auto zen = pretending("amd64_fam19h_zen3").resolve("pfm:RETIRED_INSTRUCTIONS:u");
  ASSERT_TRUE(zen) << to_string(zen.error());
  EXPECT_EQ(zen->encoding.config, 0xc0u);
  EXPECT_FALSE(zen->modifiers.kernel);
  EXPECT_EQ(pretending("amd64_fam19h_zen3").resolve("PAPI_BR_MSP")->encoding.config, 0xc3u);
  const auto intel = pretending("skl").resolve("skl::L1D:REPLACEMENT");
  ASSERT_TRUE(intel) << to_string(intel.error());
  EXPECT_EQ(intel->encoding.config & 0xffff, 0x151u);
  EXPECT_EQ(pretending("skl").resolve("PAPI_L1_DCM")->encoding.config, intel->encoding.config);
}

TEST(Pfm, NothingIsEncodedForAnAbsentPmuOutsideADryRun) {
  if (!Pfm::instance()) GTEST_SKIP() << "libpfm4 is not installed";
  for (const PfmPmu& pmu : (*Pfm::instance())->pmus()) {
    if (pmu.present || !pmu.core) continue;
    (void)pretending(pmu.name).resolve("pfm:CYCLES");  // a dry run before must not leak
    Resolver live;
    bool refused = true;
    int tried = 0;
    (*Pfm::instance())->for_each_event(pmu, [&](const PfmEvent& event) {
      if (++tried <= 2) refused = refused && !live.resolve(pmu.name + "::" + event.name);
    });
    EXPECT_TRUE(refused) << pmu.name;
  }
}

TEST(Pfm, FriendlyNamesFindTheirTables) {
  if (!Pfm::instance() || !(*Pfm::instance())->find_pmu("skl"))
    GTEST_SKIP() << "libpfm4 has no tables of this CPU";
  EXPECT_EQ((*Pfm::instance())->find_pmu("Skylake")->name, "skl");
  EXPECT_EQ((*Pfm::instance())->find_pmu("ZEN3")->name, "amd64_fam19h_zen3");
  EXPECT_THAT((*Pfm::instance())->find_pmu("skylak").error().hint, HasSubstr("skylake"));
}

}  // namespace
}  // namespace loft::event
