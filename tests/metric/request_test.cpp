#include "metric/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/machines.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Library library_of(const char* text) {
  Library library;
  library.add(read_loft("t", text), Tier::command);
  return library;
}

std::vector<std::string> names_of(const Request& request) {
  std::vector<std::string> names;
  for (const event::Event& event : request.events) names.push_back(event.name);
  return names;
}

Result<Request> read(const event::Tree& tree, const std::vector<std::string>& lists,
                     const char* metrics) {
  event::Resolver resolver = tree.resolver(event::PlainNames::best);
  return read_request(lists, resolver, library_of(metrics));
}

TEST(MetricRequest, TellsMetricsFromEventsAndBindsEachInputOnce) {
  const auto request =
      read(event::zen_machine(), {"ratio,task-clock", "{minor-faults,major-faults}"},
           "metric ratio = 'page-faults' / nonsense\nalias page-faults = x\n");
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_THAT(names_of(*request),
              ElementsAre("task-clock", "minor-faults", "major-faults", "page-faults"));
  EXPECT_EQ(request->named, 3u);
  EXPECT_EQ(request->events[1].group, request->events[2].group);
  EXPECT_NE(request->events[1].group, 0u);
  ASSERT_EQ(request->operands.size(), 1u);
  EXPECT_THAT(request->operands[0][0].events, ElementsAre(3u));
  EXPECT_THAT(request->operands[0][1].events, IsEmpty());
  EXPECT_THAT(request->operands[0][1].why, HasSubstr("nothing here has this name"));
  EXPECT_FALSE(request->needs_time());
}

TEST(MetricRequest, AMetricTakesTheEventThatTheListNamesAlready) {
  const auto request = read(event::zen_machine(), {"cpu-cycles,rate"},
                            "metric rate = cycles / time\nevent time [s]\n");
  ASSERT_TRUE(request);
  EXPECT_THAT(names_of(*request), ElementsAre("cpu-cycles"));
  EXPECT_THAT(request->operands[0][0].events, ElementsAre(0u));
  EXPECT_TRUE(request->operands[0][1].is_time);
  EXPECT_TRUE(request->needs_time());
}

// "cycles" of a hybrid machine is an event of each kind of core, and one operand.
TEST(MetricRequest, ANameOfSeveralPmusIsOneOperand) {
  const auto request = read(event::hybrid_machine(), {"m"}, "metric m = cycles\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->events.size(), 2u);
  EXPECT_THAT(request->operands[0][0].events, ElementsAre(0u, 1u));
}

TEST(MetricRequest, GroupsOfDifferentListsStayDifferent) {
  const auto request =
      read(event::zen_machine(), {"{cycles,instructions}", "{branches,branch-misses}"}, "");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->events[0].group, request->events[1].group);
  EXPECT_NE(request->events[1].group, request->events[2].group);
}

TEST(MetricRequest, WithoutCountersTheVariantOfTheVirtualPmuIsTaken) {
  const auto request = read(event::cloud_machine(), {"cycles,work"},
                            "variant a\nmetric work = cycles * 2\n"
                            "variant b\nmetric work = flops\n");
  ASSERT_TRUE(request);
  EXPECT_THAT(names_of(*request), ElementsAre("cycles", "flops"));
  EXPECT_FALSE(request->events[0].uncountable.empty()) << "it stays, and says why";
  EXPECT_TRUE(request->events[1].encoding.is_virtual());
}

TEST(MetricRequest, EventsAloneNeedNoMetricFile) {
  const event::Tree tree = event::zen_machine();
  event::Resolver resolver = tree.resolver();
  int loads = 0;
  const LoadLibrary load = [&]() -> Result<Library> {
    ++loads;
    return Library();
  };
  EXPECT_TRUE(read_request({"cycles,{task-clock,page-faults}"}, resolver, load));
  EXPECT_EQ(loads, 0);
  const auto unknown = read_request({"cycles,no-such-name"}, resolver, load);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
  EXPECT_EQ(loads, 1);
}

}  // namespace
}  // namespace loft::metric
