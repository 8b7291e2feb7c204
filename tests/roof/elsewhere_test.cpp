#include "roof/elsewhere.hpp"

#include <gtest/gtest.h>

namespace loft::roof {
namespace {

using core::Cause;
using model::Scope;
using model::Subject;

model::TimedPart part(double cycles, Cause cause) {
  model::TimedPart part;
  part.instructions = 10'000;
  part.cycles = cycles;
  part.without.fill(cycles);
  part.without[static_cast<std::size_t>(cause)] = cycles / 2;
  return part;
}

Subject subject(Scope scope, const std::string& name, double seconds, double share) {
  Subject made;
  made.scope = scope;
  made.name = name;
  made.binary = "/bin/app";
  made.seconds = seconds;
  made.share_of_time = share;
  return made;
}

// Half of the cycles at twice the frequency: a quarter of the time.
TEST(Elsewhere, AFunctionTakesAsMuchLongerAsTheModelSays) {
  model::Machine here, other;
  here.frequency_hz = 2e9;
  other.frequency_hz = 4e9;
  Account account, there;
  account.functions[{"chase", "/bin/app"}] = part(40'000, Cause::dram_latency);
  there.functions[{"chase", "/bin/app"}] = part(20'000, Cause::l3_latency);
  std::vector<Subject> subjects{
      subject(Scope::run, "app", 4, 1), subject(Scope::function, "chase", 2, 0.5),
      subject(Scope::function, "other", 2, 0.5), subject(Scope::slice, "", 1, 0.1)};
  EXPECT_DOUBLE_EQ(move_to({here, account}, {other, there}, subjects), 0.5);
  ASSERT_EQ(subjects.size(), 3u) << "slices of time here are none there";
  EXPECT_DOUBLE_EQ(subjects[1].seconds, 0.5);
  EXPECT_EQ(subjects[1].origin, sample::Origin::modelled);
  EXPECT_EQ(subjects[1].why->limit, Cause::l3_latency);
  EXPECT_EQ(subjects[2].seconds, 0) << "not known";
  EXPECT_FALSE(subjects[2].why);
  EXPECT_DOUBLE_EQ(subjects[0].seconds, 1);
  EXPECT_EQ(subjects[0].origin, sample::Origin::modelled);
}

}  // namespace
}  // namespace loft::roof
