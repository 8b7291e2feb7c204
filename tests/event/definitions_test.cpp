#include "event/definitions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "machines.hpp"

namespace loft::event {
namespace {

using testing::HasSubstr;
using Kind = Definition::Kind;

Definitions parsed(std::string_view text) {
  auto own = Definitions::parse(text, "events.conf");
  EXPECT_TRUE(own) << to_string(own.error());
  return own.value_or(Definitions{});
}

std::string why_malformed(std::string_view text) {
  const auto own = Definitions::parse(text, "events.conf");
  EXPECT_FALSE(own) << text;
  if (own) return {};
  EXPECT_EQ(own.error().kind, ErrorKind::malformed);
  EXPECT_THAT(own.error().what, HasSubstr("events.conf"));
  return own.error().why;
}

TEST(Definitions, ReadsEventsSetsAndDescriptions) {
  const Definitions own = parsed(
      "# mine\n"
      "\n"
      "event l3 = cpu/event=0x2e,umask=0x41/  # last level\n"
      "  set both=cycles, {l3,instructions}:u\n");
  ASSERT_EQ(own.all().size(), 2u);
  EXPECT_EQ(own.find("l3")->text, "cpu/event=0x2e,umask=0x41/");
  EXPECT_EQ(own.find("l3")->description, "last level");
  EXPECT_EQ(own.find("both")->kind, Kind::set);
}

TEST(Definitions, AMalformedFileIsShownByLineAndColumn) {
  EXPECT_THAT(why_malformed("set a = cs\nevnt b = cs\n"), HasSubstr("line 2, column 1: 'evnt'"));
  EXPECT_THAT(why_malformed("\n  set a,b = cs"), HasSubstr("line 2, column 7"));
  EXPECT_THAT(why_malformed("set a cs"), HasSubstr("line 1, column 9: a '=' is missing"));
  EXPECT_THAT(why_malformed("set a ="), HasSubstr("line 1, column 8"));
  EXPECT_THAT(why_malformed("set a = cs,{cycles"), HasSubstr("line 1, column 9: a '{'"));
  EXPECT_THAT(why_malformed("event a = cs,cycles"), HasSubstr("line 1, column 11"));
  EXPECT_THAT(why_malformed("set a = cs\nset a = cycles"), HasSubstr("line 2, column 5: 'a' is"));
  EXPECT_THAT(why_malformed("set a = \x1b[2J"), HasSubstr("line 1, column 9"));
}

TEST(Definitions, NamesWithAMeaningEverywhereAreRefused) {
  for (const char* name : {"cycles", "faults", "LLC-loads", "r1a8", "PAPI_TOT_INS", "virtual",
                           "raw", "", "9lives", "a b", "a,b", "a:b", "a/b", "-a"})
    EXPECT_FALSE(check_own_name(name)) << name;
  EXPECT_FALSE(check_own_name(std::string(65, 'a')));
  for (const char* name : {"mine", "l3_miss", "Front-End.2", "rhythm"})
    EXPECT_TRUE(check_own_name(name)) << name;
}

class DefinitionsFile : public testing::Test {
 protected:
  Tree tree_ = intel_machine();
  std::string directory_ = tree_.path() + "/config";
  std::string path_ = directory_ + "/events.conf";
};

TEST_F(DefinitionsFile, ChangesLeaveAllOtherLinesAlone) {
  const std::string before = "# a comment\nset  a   =  cs # why\n\nevent b = r1\n# the end\n";
  ASSERT_TRUE(replace_file(path_, before));
  auto own = Definitions::load(directory_);
  ASSERT_TRUE(own);
  ASSERT_TRUE(own->add({Kind::set, "c", "cycles,cs", "two"}, false));
  ASSERT_TRUE(own->remove(Kind::event, "b"));
  ASSERT_TRUE(own->add({Kind::set, "a", "faults", ""}, true));
  ASSERT_TRUE(own->save());
  EXPECT_EQ(*read_file(path_),
            "# a comment\nset a = faults\n\n# the end\nset c = cycles,cs  # two\n");
  EXPECT_TRUE(Definitions::load(directory_));
}

TEST_F(DefinitionsFile, AMissingFileIsEmptyAndIsMadeBySaving) {
  auto own = Definitions::load(directory_);
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->all().empty());
  ASSERT_TRUE(own->add({Kind::event, "mine", "r1", ""}, false));
  ASSERT_TRUE(own->save());
  EXPECT_EQ(*read_file(path_), "event mine = r1\n");
}

TEST_F(DefinitionsFile, ANameIsNotTakenTwice) {
  auto own = Definitions::load(directory_);
  ASSERT_TRUE(own);
  ASSERT_TRUE(own->add({Kind::event, "mine", "r1", ""}, false));
  EXPECT_FALSE(own->add({Kind::event, "mine", "r2", ""}, false));
  EXPECT_FALSE(own->add({Kind::set, "mine", "r2", ""}, true)) << "of another kind";
  EXPECT_FALSE(own->add({Kind::event, "other", "r1", "a\nset x = cs"}, false)) << "a second line";
  EXPECT_FALSE(own->remove(Kind::set, "mine"));
  EXPECT_THAT(own->remove(Kind::event, "mnie").error().hint, HasSubstr("mine"));
  EXPECT_EQ(own->all().size(), 1u);
}

TEST_F(DefinitionsFile, ASetStandsWhereverEventsDo) {
  tree_.file("/config/events.conf",
             "event l3 = cpu/event=0x2e,umask=0x41/\n"
             "set pair = {cycles,instructions}\n"
             "set all = cs, pair, l3:k");
  const auto events = tree_.resolver().resolve_list("{branches},all:u,pair");
  ASSERT_TRUE(events) << to_string(events.error());
  ASSERT_EQ(events->size(), 7u);
  EXPECT_EQ((*events)[0].group, 1u);
  EXPECT_EQ((*events)[2].name, "cycles:u");
  EXPECT_EQ((*events)[2].group, 2u);
  EXPECT_EQ((*events)[3].group, 2u);
  EXPECT_EQ((*events)[4].origin, "user");
  EXPECT_EQ((*events)[4].encoding, (Encoding{"cpu", 4, 0x412e, 0, 0}));
  EXPECT_TRUE((*events)[4].modifiers.kernel) << "its own modifier is stronger";
  EXPECT_EQ((*events)[5].group, 3u) << "another use of the set is another group";
}

TEST_F(DefinitionsFile, SetsThatNameEachOtherAreRefused) {
  tree_.file("/config/events.conf", "set a = b,b\nset b = a,a");
  const auto events = tree_.resolver().resolve_list("a");
  ASSERT_FALSE(events);
  EXPECT_THAT(events.error().why, HasSubstr("circle"));
}

TEST_F(DefinitionsFile, ABrokenFileDoesNotStopKernelNames) {
  tree_.file("/config/events.conf", "nonsense");
  EXPECT_TRUE(tree_.resolver().resolve("cycles"));
  EXPECT_EQ(tree_.resolver().resolve("mine").error().kind, ErrorKind::malformed);
}

}  // namespace
}  // namespace loft::event
