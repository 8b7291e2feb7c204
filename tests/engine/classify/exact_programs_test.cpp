// The programs with known counts keep their own promises when they are run step by step.
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "engine/classify/single_step.hpp"

namespace loft::engine {
namespace {

constexpr int kNotHere = 77;

std::string program(const std::string& name) {
  return std::string(LOFT_EXACT_PROGRAMS) + "/exact_" + name;
}

// The value of an event, or of the difference "A-B" of two.
std::uint64_t value_of(const EventVector& events, std::string_view text) {
  std::uint64_t value = 0;
  bool first = true;
  for (const std::string_view name : split(text, '-')) {
    const auto event = find_event(name);
    EXPECT_TRUE(event) << name;
    if (event) value = first ? events[*event] : value - events[*event];
    first = false;
  }
  return value;
}

// Words of the lines that begin with `start`.
std::vector<std::vector<std::string_view>> lines_of(std::string_view text, std::string_view start) {
  std::vector<std::vector<std::string_view>> found;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.starts_with(start)) found.push_back(split(trim(line.substr(start.size())), ' '));
  }
  return found;
}

TEST(ExactPrograms, EveryClassIsCountedToTheLastInstruction) {
  const auto source = read_file(LOFT_SOURCE_DIR "/tests/engine/programs_exact/classes.S");
  ASSERT_TRUE(source);
  const auto run = step_through({program("classes")});
  if (!run) GTEST_SKIP() << to_string(run.error());
  EXPECT_EQ(run->exit_code, 0);
  const EventVector events = run->events();
  const auto expected = lines_of(*source, "# expect ");
  EXPECT_GT(expected.size(), 50u);
  for (const auto& words : expected) {
    ASSERT_EQ(words.size(), 2u);
    EXPECT_EQ(std::to_string(value_of(events, words[0])), words[1]) << words[0];
  }
}

class ExactKernels : public testing::TestWithParam<const char*> {};

TEST_P(ExactKernels, CountWhatTheyPromise) {
  const std::string path = program(GetParam());
  const auto functions = functions_of(path);
  ASSERT_TRUE(functions);
  const auto run = step_through({path});
  if (!run) GTEST_SKIP() << to_string(run.error());
  if (run->exit_code == kNotHere) GTEST_SKIP() << "this processor has no tiles";
  EXPECT_EQ(run->exit_code, 0);
  const auto expected = lines_of(run->output, "expect ");
  EXPECT_GT(expected.size(), 5u);
  for (const auto& words : expected) {
    ASSERT_EQ(words.size(), 3u);
    const auto function = functions->find(std::string(words[0]));
    ASSERT_NE(function, functions->end()) << words[0];
    const EventVector events = run->events(function->second.start, function->second.end);
    EXPECT_EQ(std::to_string(value_of(events, words[1])), words[2]) << words[0] << " " << words[1];
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExactKernels, testing::Values("kernels", "masks", "tiles"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace loft::engine
