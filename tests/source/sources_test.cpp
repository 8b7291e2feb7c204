// Which source counts what, on machines that are made up by the events themselves.
#include "source/choice/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

event::Event software(const char* name) {
  event::Event event;
  event.name = name;
  event.encoding = {"software", event::kTypeSoftware, 1};
  return event;
}

event::Event virtual_event(const char* name) {
  event::Event event;
  event.name = name;
  event.encoding = event::virtual_encoding(0);
  return event;
}

event::Event uncountable(const char* name) {
  event::Event event;
  event.name = name;
  event.encoding = {"cpu", event::kTypeHardware, 0};
  event.uncountable = "no counters";
  return event;
}

CountRequest request_of(std::vector<event::Event> events) {
  CountRequest request;
  request.events = std::move(events);
  request.command = {"true"};
  return request;
}

#ifdef LOFT_HAS_ENGINE
TEST(Sources, EachEventGoesToTheOneThatCountsIt) {
  const auto assigned = assign_sources(
      request_of({virtual_event("flops"), uncountable("cycles"), software("task-clock")}), {});
  ASSERT_TRUE(assigned);
  ASSERT_EQ(assigned->parts.size(), 2u);
  EXPECT_EQ(assigned->parts[0].source->id, sample::Source::perf_events) << "natively first";
  EXPECT_THAT(assigned->parts[0].events, ElementsAre(2u));
  EXPECT_EQ(assigned->parts[1].source->id, sample::Source::virtual_pmu);
  EXPECT_THAT(assigned->parts[1].events, ElementsAre(0u));
  EXPECT_THAT(assigned->missing, ElementsAre("", "no counters", ""));
}

TEST(Sources, OneRunIsLeftToTheFirst) {
  const auto assigned =
      assign_sources(request_of({virtual_event("flops"), software("task-clock")}), {{}, true});
  ASSERT_TRUE(assigned);
  ASSERT_EQ(assigned->parts.size(), 1u);
  EXPECT_THAT(assigned->parts[0].events, ElementsAre(1u));
  EXPECT_THAT(assigned->missing[0], HasSubstr("run of its own"));
}

TEST(Sources, WhatOnlyOneCanSplitIsItsOwn) {
  CountRequest request = request_of({virtual_event("flops"), software("task-clock")});
  request.split = Split::functions;
  const auto assigned = assign_sources(request, {});
  ASSERT_TRUE(assigned);
  ASSERT_EQ(assigned->parts.size(), 1u);
  EXPECT_EQ(assigned->parts[0].source->id, sample::Source::virtual_pmu);
  EXPECT_THAT(assigned->missing[1], HasSubstr("not functions"));
}
#endif

TEST(Sources, ARunningProcessIsTheKernelsAlone) {
  CountRequest request = request_of({virtual_event("flops"), software("task-clock")});
  request.pids = {1};
  const auto assigned = assign_sources(request, {});
  ASSERT_TRUE(assigned);
  ASSERT_EQ(assigned->parts.size(), 1u);
  EXPECT_EQ(assigned->parts[0].source->id, sample::Source::perf_events);
  EXPECT_THAT(assigned->missing[0], testing::Not(IsEmpty()));
}

TEST(Sources, WithNothingToCountTheReasonIsTheError) {
  const auto assigned = assign_sources(request_of({uncountable("cycles")}), {});
  ASSERT_FALSE(assigned);
  EXPECT_THAT(to_string(assigned.error()), HasSubstr("no counters"));
}

TEST(Sources, HaveTheNamesOfTheOutput) {
  EXPECT_THAT(source_names(), ElementsAre("perf_events", "virtual"));
  for (const SourceInfo& source : all_sources())
    EXPECT_EQ(sample::source_named(source.name()), source.id);
}

}  // namespace
}  // namespace loft::source
