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

TEST(MetricCheck, FilesAreCheckedTogether) {
  const std::vector<MetricFile> files{
      read_loft("a.metrics", "metric half = whole / 2\n    expect cycles = 3 -> 1.5\n"),
      read_loft("b.metrics", "metric whole = cycles\nmetric half = 1\n")};
  const CheckResult result = check_files({}, files, {});
  EXPECT_EQ(result.definitions, 3u);
  const bool has_two = std::ranges::any_of(result.diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.place.file == "b.metrics" &&
           diagnostic.text.find("half") != std::string::npos;
  });
  EXPECT_TRUE(has_two) << "two files define one name";
}

TEST(MetricCheck, AFilesOwnMistakesAreCountedOnce) {
  const std::vector<MetricFile> files{read_loft("a.metrics", "metric broken = cycles +\n")};
  EXPECT_EQ(check_files({}, files, {}).count(Severity::error), 1u);
}

TEST(Library, IsSearchedByWordsOfNameGroupAndDescription) {
  Library library;
  library.add(read_loft("t.metrics",
                        "metric IPC = a / b\n    \"Instructions per cycle\"\n"
                        "metric CPI = b / a\n"),
              Tier::user);
  const auto names = [&](const std::vector<std::string>& words) {
    std::vector<std::string> found;
    for (const Definition* definition : library.with_words(words))
      found.push_back(definition->name);
    return found;
  };
  EXPECT_THAT(names({}), testing::ElementsAre("CPI", "IPC"));
  EXPECT_THAT(names({"cpi"}), testing::ElementsAre("CPI"));
  EXPECT_THAT(names({"per CYCLE"}), testing::ElementsAre("IPC"));
  EXPECT_THAT(names({"ipc", "nothing"}), testing::IsEmpty());
}

}  // namespace
}  // namespace loft::metric
