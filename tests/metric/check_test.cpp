#include "metric/check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metric/compile.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

CheckResult check(const std::string& text) {
  const MetricFile file = read_loft("t.metrics", text);
  Library library;
  library.add(file, Tier::command);
  return check_definitions(library, file, {});
}

std::vector<std::string> errors_of(const CheckResult& result) {
  std::vector<std::string> errors;
  for (const Diagnostic& diagnostic : result.diagnostics)
    if (diagnostic.severity == Severity::error) errors.push_back(diagnostic.text);
  return errors;
}

std::string chain(int length) {
  std::string text = "metric m0 = cycles\n";
  for (int i = 1; i < length; ++i) text += fmt::format("metric m{} = m{} + 1\n", i, i - 1);
  return text;
}

// Each is compiled once. Compiled with all that it needs, this is more than a billion formulas.
TEST(MetricCheck, AChainIsCheckedOnceAndItsDepthIsBounded) {
  const CheckResult result = check(chain(static_cast<int>(kDeepestNesting) + 1));
  EXPECT_EQ(result.definitions, kDeepestNesting + 1);
  const auto errors = errors_of(result);
  ASSERT_THAT(errors, SizeIs(1)) << "the last one alone";
  EXPECT_THAT(errors[0], HasSubstr("m50000: more than 50000 definitions"));
}

TEST(MetricCheck, UnitsAreFollowedThroughNestedMetrics) {
  const auto errors =
      errors_of(check("event time [s]\nevent bytes [B]\nmetric rate = bytes / time\n"
                      "metric good [B] = rate * time\nmetric bad = rate + bytes\n"));
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0], HasSubstr("bad"));
  EXPECT_THAT(errors[0], HasSubstr("'+' of B/s and B makes no sense"));
}

TEST(MetricCheck, ACircleIsToldToAllWhoAreInIt) {
  const auto errors = errors_of(check("metric a = b\nmetric b = c\nmetric c = a\nmetric d = x\n"));
  ASSERT_THAT(errors, SizeIs(3));
  for (const std::string& error : errors)
    EXPECT_THAT(error, HasSubstr("leads back to itself: a -> b -> c -> a"));
}

}  // namespace
}  // namespace loft::metric
