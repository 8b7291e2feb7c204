#include "roof/phases.hpp"

#include <gtest/gtest.h>

namespace loft::roof {
namespace {

using core::Cause;
using model::Scope;
using model::Subject;

// 4000 instructions, of which half of the time would be saved without the cause.
Phase phase(double before, Cause cause) {
  Phase phase;
  phase.instructions = before;
  phase.part.instructions = 4000;
  phase.part.cycles = 8000;
  phase.part.without.fill(8000);
  phase.part.without[static_cast<std::size_t>(cause)] = 4000;
  return phase;
}

std::vector<Subject> three_slices() {
  std::vector<Subject> subjects(4);
  for (std::size_t i = 1; i < subjects.size(); ++i) {
    subjects[i].scope = Scope::slice;
    subjects[i].work = model::Work{};
    subjects[i].work->instructions = 1e6;
  }
  return subjects;
}

TEST(Phases, ASliceHasTheCausesOfTheWindowsThatFallIntoIt) {
  auto subjects = three_slices();
  explain_slices({phase(1e5, Cause::fp_latency), phase(2e6 + 1, Cause::dram_latency)}, 3e6,
                 subjects);
  EXPECT_FALSE(subjects[0].why) << "the run is no slice";
  ASSERT_TRUE(subjects[1].why);
  EXPECT_EQ(subjects[1].why->limit, Cause::fp_latency);
  EXPECT_DOUBLE_EQ(subjects[1].why->gain.value(), 2);
  EXPECT_FALSE(subjects[2].why) << "no window, no cause";
  ASSERT_TRUE(subjects[3].why);
  EXPECT_EQ(subjects[3].why->limit, Cause::dram_latency);
  EXPECT_FALSE(subjects[3].why->explains) << "it is not held against a time";
}

TEST(Phases, WithoutInstructionsNothingIsSaid) {
  std::vector<Subject> subjects(1);
  subjects[0].scope = Scope::slice;
  explain_slices({phase(0, Cause::fp_latency)}, 1e6, subjects);
  EXPECT_FALSE(subjects[0].why);
}

// The slices last 2, 1 and 1 seconds; the function's cause changes, the run's does not.
TEST(Phases, AFunctionHasAStretchForEachOfItsCauses) {
  auto subjects = three_slices();
  double at = 0;
  for (std::size_t i = 1; i < subjects.size(); ++i) {
    subjects[i].start = at;
    subjects[i].end = at += i == 1 ? 2 : 1;
  }
  subjects[0].scope = Scope::function;
  subjects[0].name = "solve";
  subjects[0].binary = "/bin/app";
  subjects[0].share_of_time = 0.5;
  std::vector<Phase> phases;
  const auto add = [&](double before, Cause cause) {
    phases.push_back(phase(before, Cause::width));
    phases.back().functions[1] = phase(before, cause).part;
    phases.back().functions[0] = phase(before, Cause::atomics).part;
  };
  add(0.5e6, Cause::fp_latency);
  add(0.6e6, Cause::dram_latency);  // alone among others
  add(1e6, Cause::fp_latency);
  add(2e6, Cause::dram_latency);
  add(2.5e6, Cause::dram_latency);
  const std::vector<source::virtual_pmu::WindowKeeper::Function> functions{{"main", "/bin/app"},
                                                                           {"solve", "/bin/app"}};
  const auto found = stretches_of(phases, functions, 3e6, subjects);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].function, "solve");
  EXPECT_EQ(found[0].why.limit, Cause::fp_latency);
  EXPECT_EQ(found[0].windows, 3u);
  EXPECT_DOUBLE_EQ(found[0].start, 0);
  EXPECT_DOUBLE_EQ(found[0].end, 2.5);  // between 2 s and 3 s
  EXPECT_EQ(found[1].why.limit, Cause::dram_latency);
  EXPECT_DOUBLE_EQ(found[1].end, 4);
}

}  // namespace
}  // namespace loft::roof
