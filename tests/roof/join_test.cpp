// Answers are computed by hand: samples of 10 ms, at the ends of the times that they stand for.
#include "roof/join.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "roof/regions.hpp"
#include "roof/work_events.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using model::Subject;
using model::Work;
using sample::Origin;
using testing::HasSubstr;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kPeriod = 10 * kMs;

struct Sampled {
  std::uint64_t ms;
  std::uint32_t tid;
  std::uint32_t function;
};

// A sample of each function in turn: `count` of them, every 10 ms from `first_ms` on.
void add(std::vector<Sampled>& samples, std::uint64_t first_ms, int count, std::uint32_t tid,
         std::uint32_t function) {
  for (int i = 0; i < count; ++i)
    samples.push_back({first_ms + 10 * static_cast<std::uint64_t>(i), tid, function});
}

sample::ActiveTime active(const std::vector<Sampled>& samples, double cpu_seconds,
                          double wall_seconds) {
  std::vector<sample::TimelineEntry> entries;
  for (const Sampled& one : samples) {
    sample::TimelineEntry entry;
    entry.time = one.ms * kMs;
    entry.period = kPeriod;
    entry.tid = one.tid;
    entry.node = one.function;  // the function itself stands for its node
    entries.push_back(entry);
  }
  return {entries, cpu_seconds, [](sample::Trie::NodeId node) { return node; },
          sample::ActiveTime::Lifetime{0, static_cast<std::uint64_t>(wall_seconds * 1e9)}};
}

// Functions 1, 2 and 9 are "dot", "scale" and the kernel.
NativeTimes times(const std::vector<Sampled>& samples, double wall_seconds,
                  std::vector<model::ThreadName> threads = {{7, "app"}}) {
  const double cpu = 0.01 * static_cast<double>(samples.size());
  return {"app",
          wall_seconds,
          cpu,
          active(samples, cpu, wall_seconds),
          {{1, {"dot", "/bin/app"}}, {2, {"scale", "/bin/app"}}, {9, {"[kernel]", ""}}},
          std::move(threads)};
}

Work work(double flops, double bytes) {
  return {.flops_dp = flops, .bytes = bytes, .instructions = flops};
}

const Subject& find(const Joined& joined, Scope scope, const std::string& name) {
  const auto found = std::ranges::find_if(joined.subjects, [&](const Subject& subject) {
    return subject.scope == scope && (scope == Scope::run || subject.name == name);
  });
  static const Subject kNone;
  EXPECT_NE(found, joined.subjects.end()) << name;
  return found == joined.subjects.end() ? kNone : *found;
}

double sum_of(const Joined& joined, Scope scope, double Subject::*what) {
  double sum = 0;
  for (const Subject& subject : joined.subjects)
    if (subject.scope == scope) sum += subject.*what;
  return sum;
}

// 0.3 s of dot, then 0.1 s of scale.
NativeTimes one_thread(double wall_seconds = 0.4) {
  std::vector<Sampled> samples;
  add(samples, 10, 30, 7, 1);
  add(samples, 310, 10, 7, 2);
  return times(samples, wall_seconds);
}

CountedWork dot_and_scale() {
  CountedWork counted;
  counted.total = work(400, 800);
  counted.threads = {{70, "app", work(400, 800)}};  // another number in its own run
  counted.functions = {{{"dot", "/bin/app"}, work(300, 600)},
                       {{"scale", "/bin/app"}, work(100, 200)}};
  return counted;
}

TEST(Join, AFunctionHasItsTimeAndItsWork) {
  const Joined joined = join(one_thread(), dot_and_scale());
  const Subject& dot = find(joined, Scope::function, "dot");
  EXPECT_NEAR(dot.seconds, 0.3, 1e-9);
  EXPECT_NEAR(dot.share_of_time, 0.75, 1e-9);
  EXPECT_EQ(dot.work.value().flops_dp, 300);
  EXPECT_EQ(dot.origin, Origin::scaled);
  EXPECT_EQ(dot.work_origin, Origin::counted);
  EXPECT_NEAR(dot.concurrency, 1, 1e-9);
  EXPECT_NEAR(dot.time_error, 1.96 * std::sqrt(0.25 / 30), 1e-9);
  EXPECT_TRUE(joined.notes.empty()) << joined.notes.front();
}

TEST(Join, TheWholeRunIsCounted) {
  const Joined joined = join(one_thread(), dot_and_scale());
  const Subject& run = find(joined, Scope::run, "app");
  EXPECT_EQ(run.seconds, 0.4);
  EXPECT_EQ(run.share_of_time, 1);
  EXPECT_EQ(run.origin, Origin::counted);
  EXPECT_EQ(run.work.value().bytes, 800);
}

// It ran for 0.4 s of the 1.0 s that it was there: others had the CPU.
TEST(Join, SharesAreOfTheTimeInWhichItRan) {
  const Joined joined = join(one_thread(1.0), dot_and_scale());
  EXPECT_NEAR(find(joined, Scope::run, "app").seconds, 0.4, 1e-9);
  EXPECT_EQ(find(joined, Scope::run, "app").origin, Origin::counted) << "one thread: as counted";
  EXPECT_NEAR(find(joined, Scope::function, "dot").share_of_time, 0.75, 1e-9);
  EXPECT_NEAR(sum_of(joined, Scope::function, &Subject::share_of_time), 1, 1e-9);
  ASSERT_EQ(joined.notes.size(), 1u);
  EXPECT_THAT(joined.notes[0], HasSubstr("for 60 % of the time none of its threads ran"));
}

// Two threads at once for 0.3 s: the elapsed time is shared between them.
TEST(Join, ThreadsThatRunAtOnceShareTheElapsedTime) {
  std::vector<Sampled> samples;
  add(samples, 10, 30, 7, 1);
  add(samples, 10, 30, 8, 2);
  const NativeTimes both = times(samples, 0.3, {{7, "app"}, {8, "worker"}});
  CountedWork counted = dot_and_scale();
  counted.threads = {{70, "app", work(300, 600)}, {71, "worker", work(100, 200)}};
  const Joined joined = join(both, counted);
  const Subject& worker = find(joined, Scope::thread, "worker");
  EXPECT_EQ(worker.tid, 8) << "its number in the native run";
  EXPECT_EQ(worker.work.value().flops_dp, 100);
  EXPECT_NEAR(worker.seconds, 0.3, 1e-9);
  EXPECT_LE(worker.share_of_time, 1 + 1e-9);
  EXPECT_NEAR(find(joined, Scope::function, "dot").concurrency, 2, 1e-6);
  EXPECT_NEAR(sum_of(joined, Scope::function, &Subject::seconds), 0.3, 1e-6);
  EXPECT_NEAR(sum_of(joined, Scope::function, &Subject::share_of_time), 1, 1e-9);
}

TEST(Join, ThreadsThatCannotBeMatchedAreNotShown) {
  CountedWork counted = dot_and_scale();
  counted.threads.push_back({71, "other", work(1, 1)});
  const Joined joined = join(one_thread(), counted);
  EXPECT_EQ(sum_of(joined, Scope::thread, &Subject::seconds), 0);
  ASSERT_EQ(joined.notes.size(), 1u);
  EXPECT_THAT(joined.notes[0], HasSubstr("there were 1 natively and 2 under the virtual PMU"));
}

TEST(Join, CountersOfTheSameRunAreMatchedByTheNumberOfTheThread) {
  CountedWork counted = dot_and_scale();
  counted.by = CountedBy::counters;
  counted.origin = Origin::modelled;
  counted.threads = {{9, "other", work(1, 1)}, {7, "app", work(400, 800)}};
  const Joined joined = join(one_thread(), counted);
  const Subject& thread = find(joined, Scope::thread, "app");
  EXPECT_EQ(thread.work.value().flops_dp, 400);
  EXPECT_EQ(thread.work_origin, Origin::modelled);
}

TEST(Join, FunctionsOfOneNameAndBinaryAreOne) {
  CountedWork counted = dot_and_scale();
  counted.functions.push_back({{"dot", "/bin/app"}, work(50, 100)});
  counted.functions.push_back({{"dot", "/lib/other"}, work(7, 7)});
  const Joined joined = join(one_thread(), counted);
  EXPECT_EQ(find(joined, Scope::function, "dot").work.value().flops_dp, 350);
}

TEST(Join, ASumThatLacksAPartIsNotKnown) {
  CountedWork counted = dot_and_scale();
  counted.functions.push_back({{"dot", "/bin/app"}, std::nullopt});
  EXPECT_FALSE(find(join(one_thread(), counted), Scope::function, "dot").work);
}

TEST(Join, AFunctionThatNoSampleMetHasWorkAndNoTime) {
  CountedWork counted = dot_and_scale();
  counted.functions.push_back({{"setup", "/bin/app"}, work(1, 2)});
  const Joined joined = join(one_thread(), counted);
  const Subject& setup = find(joined, Scope::function, "setup");
  EXPECT_EQ(setup.seconds, 0);
  EXPECT_EQ(setup.work.value().bytes, 2);
}

// 0.4 s in slices of 20 ms: dot does 300 operations in 0.3 s, thus 20 in each.
TEST(Join, TheWorkOfAFunctionIsSpreadOverItsTime) {
  const Joined joined = join(one_thread(), dot_and_scale());
  double flops = 0;
  std::size_t slices = 0;
  for (const Subject& subject : joined.subjects) {
    if (subject.scope != Scope::slice) continue;
    ++slices;
    flops += subject.work.value().flops_dp;
    if (subject.start > 0.1 && subject.end < 0.2) {
      EXPECT_NEAR(subject.work->flops_dp, 20, 1e-6);
    }
    EXPECT_EQ(subject.origin, Origin::modelled);
  }
  EXPECT_EQ(slices, 20u);
  EXPECT_NEAR(flops, 400, 1e-6);
}

// The kernel is not counted: its slices have no work that is known, and not 0.
TEST(Join, ASliceOfWhichNothingWasCountedHasNoWork) {
  std::vector<Sampled> samples;
  add(samples, 10, 20, 7, 1);
  add(samples, 210, 20, 7, 9);
  CountedWork counted = dot_and_scale();
  counted.functions = {{{"dot", "/bin/app"}, work(400, 800)}};
  const Joined joined = join(times(samples, 0.6), counted);
  EXPECT_FALSE(find(joined, Scope::function, "[kernel]").work);
  for (const Subject& subject : joined.subjects) {
    if (subject.scope != Scope::slice) continue;
    const bool is_kernel = subject.start > 0.21 && subject.end < 0.41;
    const bool is_mixed = subject.start > 0.19 && subject.end < 0.23;
    EXPECT_TRUE(subject.work.has_value() != is_kernel || is_mixed) << subject.start;
    if (subject.start > 0.42) {
      EXPECT_EQ(subject.work.value().flops_dp, 0) << "nothing ran";
    }
  }
}

TEST(Join, FewSamplesTellNoFunctionsApart) {
  std::vector<Sampled> samples;
  add(samples, 10, 5, 7, 1);
  const Joined joined = join(times(samples, 0.05), dot_and_scale());
  EXPECT_TRUE(joined.is_short);
  EXPECT_EQ(joined.subjects.size(), 1u);
  ASSERT_FALSE(joined.notes.empty());
  EXPECT_THAT(joined.notes.back(), HasSubstr("too short to tell its functions apart"));
}

TEST(Join, WhatWasNotCountedStaysUnknown) {
  CountedWork counted = dot_and_scale();
  counted.total.reset();
  counted.origin = Origin::missing;
  EXPECT_FALSE(find(join(one_thread(), counted), Scope::run, "app").work);
}

sample::RunCounts with_regions(std::vector<sample::ThreadCounts> threads,
                               std::vector<sample::RegionCounts> regions) {
  sample::RunCounts run;
  run.threads = std::move(threads);
  run.regions = std::move(regions);
  return run;
}

// Names of the events are those of a roofline; only some of them are counted here.
sample::RunCounts counted_regions(std::vector<sample::ThreadCounts> threads,
                                  std::vector<std::pair<sample::RegionCounts, double>> regions) {
  sample::RunCounts run;
  run.threads = std::move(threads);
  const std::string names = work_event_names();
  for (const auto name : split(names, ',')) {
    sample::CountedEvent& event = run.events.emplace_back();
    event.name = std::string(name);
  }
  for (auto& [region, flops] : regions) {
    for (const sample::CountedEvent& event : run.events)
      region.counts.push_back(sample::Count::exact(
          event.name.ends_with("flops_dp") ? static_cast<std::uint64_t>(flops) : 0));
    region.self = region.counts;
    run.regions.push_back(region);
  }
  return run;
}

// Threads have other numbers in the two runs; their order is the same.
TEST(Regions, HaveTheTimeOfOneRunAndTheWorkOfAnother) {
  const Nanoseconds second(1'000'000'000);
  const auto native = with_regions({{70, 70, "app", {}}, {70, 71, "app", {}}},
                                   {{{"a"}, {}, 4, 3 * second, 2 * second, {}, {}},
                                    {{"a"}, 0, 2, second, second, {}, {}},
                                    {{"a"}, 1, 2, 2 * second, 2 * second, {}, {}},
                                    {{"a", "b"}, {}, 1, second, second, {}, {}},
                                    {{"open"}, {}, 1, second, {}, {}, {}}});
  const auto counted =
      counted_regions({{90, 90, "app", {}}, {90, 95, "app", {}}}, {{{{"a"}, {}, 4}, 600},
                                                                   {{{"a"}, 0, 2}, 100},
                                                                   {{{"a"}, 1, 2}, 500},
                                                                   {{{"a", "b"}, {}, 2}, 50}});
  std::vector<std::string> notes;
  const auto regions = join_regions(native, counted, notes);
  ASSERT_EQ(regions.size(), 4u);
  EXPECT_EQ(regions[0].seconds, 2);
  EXPECT_EQ(regions[0].thread_seconds, 3);
  EXPECT_EQ(regions[0].work->flops_dp, 600);
  EXPECT_EQ(regions[2].tid, 71u);
  EXPECT_EQ(regions[2].work->flops_dp, 500);
  EXPECT_FALSE(regions[3].work) << "it was begun once, and twice in the other run";
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("'a/b' was begun 1 times natively and 2"),
                                          HasSubstr("'open' was not ended")));
  std::vector<Subject> subjects;
  add_region_subjects(regions, 4, true, subjects);
  EXPECT_EQ(subjects[0].scope, Scope::region);
  EXPECT_EQ(subjects[0].concurrency, 1.5);
  EXPECT_EQ(subjects[0].share_of_time, 0.5);
  EXPECT_EQ(subjects[3].name, "a/b");
}

}  // namespace
}  // namespace loft::roof
