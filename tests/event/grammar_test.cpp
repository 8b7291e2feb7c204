#include "event/grammar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "machines.hpp"

namespace loft::event {
namespace {

using testing::HasSubstr;

std::vector<std::string> texts(std::string_view list) {
  const auto items = split_list(list);
  EXPECT_TRUE(items) << list;
  std::vector<std::string> out;
  for (const ListItem& item : items.value_or(std::vector<ListItem>{})) out.push_back(item.text);
  return out;
}

std::string why_refused(std::string_view list) {
  const auto items = split_list(list);
  EXPECT_FALSE(items) << list;
  return items ? std::string() : items.error().why;
}

TEST(Grammar, CommasBetweenSlashesDoNotSeparate) {
  EXPECT_THAT(texts("cpu/event=1,umask=2/u, cycles ,a:b"),
              testing::ElementsAre("cpu/event=1,umask=2/u", "cycles", "a:b"));
}

TEST(Grammar, GroupsCarryTheirNumberAndModifiers) {
  const auto items = split_list("a,{b,cpu/x=1,y/},{c}:u,d");
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 5u);
  EXPECT_EQ((*items)[0].group, 0u);
  EXPECT_EQ((*items)[2].group, 1u);
  EXPECT_EQ((*items)[2].text, "cpu/x=1,y/");
  EXPECT_EQ((*items)[3].group, 2u);
  EXPECT_EQ((*items)[3].group_modifiers, "u");
  EXPECT_EQ((*items)[4].group, 0u);
}

TEST(Grammar, UnbalancedListsSayWhatIsMissing) {
  EXPECT_THAT(why_refused("{a,b"), HasSubstr("'{' is never closed"));
  EXPECT_THAT(why_refused("a}"), HasSubstr("no '{'"));
  EXPECT_THAT(why_refused("cpu/event=1"), HasSubstr("'/' is never closed"));
  EXPECT_THAT(why_refused("{a,{b}}"), HasSubstr("inside a group"));
  EXPECT_THAT(why_refused("{a}b"), HasSubstr("follows a '}'"));
  EXPECT_THAT(why_refused("a{b}"), HasSubstr("follows a name"));
  EXPECT_THAT(why_refused("{a}:x"), HasSubstr("no modifier"));
}

TEST(Grammar, EmptyNamesAreRefused) {
  for (const char* list : {"", ",", "a,", ",a", "a,,b", "{}", "{a,}", " "})
    EXPECT_THAT(why_refused(list), HasSubstr("empty")) << list;
}

TEST(Grammar, MoreSlashesThanTwoAreRefused) {
  EXPECT_FALSE(split_pmu_name("cpu/a/b/"));
  EXPECT_FALSE(split_pmu_name("/a/"));
  EXPECT_FALSE(split_pmu_name("cpu/a"));
  EXPECT_FALSE(split_pmu_name("cycles")->has_value());
}

TEST(Grammar, HostileNamesAreRefusedAndHarmlessInMessages) {
  const Tree tree = intel_machine();
  for (const std::string& name :
       {std::string("\x1b[2Jcycles"), std::string("cy\0cles", 7), std::string("a\nb"),
        std::string("caf\xc3\xa9"), std::string(5000, 'a')}) {
    const auto event = tree.resolver().resolve(name);
    ASSERT_FALSE(event);
    const std::string message = to_string(event.error());
    EXPECT_LT(message.size(), 400u);
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(tree.resolver().resolve_list(std::string((1 << 20) + 1, ',')));
  EXPECT_FALSE(tree.resolver().resolve("cpu/../../../../etc/passwd/"));
  EXPECT_FALSE(tree.resolver().resolve("../events/cpu-cycles"));
  EXPECT_FALSE(tree.resolver().resolve("..:.."));
}

TEST(Grammar, MoreEventsThanTheLimitAreRefused) {
  std::string list = "cs";
  for (std::size_t i = 0; i < kMostEvents; ++i) list += ",cs";
  EXPECT_THAT(why_refused(list), HasSubstr("more than"));
}

// A good list, damaged in up to two places.
std::string damaged_list(std::mt19937& random) {
  static const std::vector<std::string> kGood{
      "cycles",          "cpu/event=0x3c,umask=1/u", "{cycles,instructions}:k", "r1a8",
      "raw:0x11:u",      "sysfs:energy-pkg",         "virtual::flops",          "PAPI_TOT_INS:pp",
      "imc/clockticks/", "LLC-load-misses",          "cpu/config=0xff,inv/",    "cs"};
  static const std::vector<std::string> kDamage{
      "/", ",",    "{",  "}", ":", "::", "=",      "?",
      " ", "\x01", "..", "-", "u", "x",  "sched:", "0xffffffffffffffff"};
  std::string list = kGood[random() % kGood.size()];
  for (std::size_t n = random() % 3; n > 0; --n) list += "," + kGood[random() % kGood.size()];
  for (std::size_t n = random() % 3; n > 0; --n) {
    const std::size_t at = random() % (list.size() + 1);
    list.replace(at, random() % 3, kDamage[random() % kDamage.size()]);
  }
  return list;
}

// Whatever is written, the answer is an error or events that their own names bring back.
TEST(Grammar, DamagedListsGiveErrorsOrEventsThatRoundTrip) {
  const Tree tree = intel_machine();
  Resolver resolver = tree.resolver();
  std::mt19937 random(42);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    const std::string list = damaged_list(random);
    const auto events = resolver.resolve_list(list);
    ++(events ? accepted : refused);
    if (!events) {
      EXPECT_FALSE(events.error().what.empty());
      continue;
    }
    for (const Event& event : *events) {
      EXPECT_FALSE(event.encoding.pmu.empty()) << list;
      EXPECT_FALSE(event.origin.empty()) << list;
      const auto again = resolver.resolve(event.name);
      ASSERT_TRUE(again) << list << " gave " << event.name;
      EXPECT_TRUE(again->counts_the_same_as(event)) << list << " gave " << event.name;
    }
  }
  EXPECT_GT(accepted, 150);
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace loft::event
