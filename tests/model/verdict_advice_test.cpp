#include "model/verdict_advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::model {
namespace {

using core::Cause;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Why limited_by(Cause cause, double gain) {
  Why why;
  why.outcome = Outcome::limited;
  why.limit = cause;
  why.gain = gain;
  return why;
}

TEST(VerdictAdvice, FollowsFromTheCauseAndPromisesItsGain) {
  EXPECT_THAT(advise("chase", limited_by(Cause::dram_latency, 4.04)),
              AllOf(HasSubstr("chase: waits for DRAM"), HasSubstr("at most 4.0 × faster")));
}

TEST(VerdictAdvice, SaysVectorsOnlyWhereUnitsOrWidthHoldItBack) {
  for (std::size_t i = 0; i < core::kCauses; ++i) {
    const Cause cause = static_cast<Cause>(i);
    const bool may = cause == Cause::fp_ports || cause == Cause::int_ports || cause == Cause::width;
    const std::string text = advise("f", limited_by(cause, 2));
    EXPECT_EQ(text.find("vectors") != std::string::npos, may) << text;
    EXPECT_THAT(text, Not(HasSubstr("; ,"))) << "each cause has a remedy";
  }
}

TEST(VerdictAdvice, IsSilentWhereNothingIsKnown) {
  for (const Outcome outcome :
       {Outcome::balanced, Outcome::unexplained, Outcome::unclear, Outcome::not_seen}) {
    Why why;
    why.outcome = outcome;
    EXPECT_THAT(advise("f", why), IsEmpty());
  }
}

TEST(VerdictAdvice, PromisesNothingWithoutAGain) {
  EXPECT_THAT(advise("f", judge_system(1.0)), Not(HasSubstr("faster")));
}

}  // namespace
}  // namespace loft::model
