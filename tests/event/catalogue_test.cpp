#include "event/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "event/pfm.hpp"
#include "machines.hpp"

namespace loft::event {
namespace {

using testing::HasSubstr;
using testing::Not;

ResolverOptions options_of(const Tree& tree) {
  ResolverOptions options;
  options.virtual_names = some_virtual_names;
  options.root = SystemRoot(tree.path());
  options.config_directory = tree.path() + "/config";
  options.share_directory = LOFT_SOURCE_DIR "/share";
  return options;
}

TEST(Catalogue, EveryNameItListsCanBeResolved) {
  std::array<Tree, 4> machines{intel_machine(), arm_machine(), hybrid_machine(), cloud_machine()};
  for (Tree& tree : machines) {
    tree.file("/config/events.conf", "set mine = cs,faults");
    Resolver resolver = tree.resolver();
    for (const CatalogueEntry& entry : list_events(options_of(tree), {}).entries) {
      EXPECT_TRUE(resolver.resolve_list(entry.name)) << entry.name;
      for (const std::string& alias : entry.aliases)
        EXPECT_TRUE(resolver.resolve_list(alias)) << alias;
    }
  }
}

TEST(Catalogue, WordsNarrowItByNameOriginAndDescription) {
  const Tree tree = cloud_machine();
  const auto count = [&](const std::vector<std::string>& words) {
    return list_events(options_of(tree), words).entries.size();
  };
  EXPECT_EQ(count({"VIRTUAL", "memory"}), 1u);
  EXPECT_EQ(count({"VIRTUAL", "r"}), 5u) << "each of them is of the virtual PMU";
  EXPECT_EQ(count({"sched_switch"}), 1u);
  EXPECT_EQ(count({"cpu-cycles"}), 1u) << "an alias";
  EXPECT_EQ(count({"nothing-has-this"}), 0u);
}

TEST(Catalogue, SaysThatHardwareNamesCannotBeCounted) {
  EXPECT_FALSE(list_events(options_of(cloud_machine()), {"cycles"}).notes.empty());
  const Tree intel = intel_machine();
  for (const std::string& note : list_events(options_of(intel), {"cycles"}).notes)
    EXPECT_THAT(note, Not(HasSubstr("no hardware counters")));
}

TEST(Catalogue, AnotherCpuIsListedWithoutIt) {
  if (!Pfm::instance() || !(*Pfm::instance())->find_pmu("zen3"))
    GTEST_SKIP() << "libpfm4 has no tables of this CPU";
  const Tree tree = cloud_machine();
  const auto list = list_events_of_cpu("zen3", options_of(tree), {"RETIRED_INSTRUCTIONS"});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->entries.size(), 1u);
  EXPECT_EQ(list->entries[0].name, "amd64_fam19h_zen3::RETIRED_INSTRUCTIONS");
  EXPECT_EQ(list->entries[0].config.value_or(0) & 0xff, 0xc0u);
  EXPECT_EQ(list_events_of_cpu("zn3x9", options_of(tree), {}).error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace loft::event
