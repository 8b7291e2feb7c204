// Programs whose counts are known, under the engine: exact to the last instruction.
#include "base/text.hpp"
#include "engine/classify/single_step.hpp"
#include "under_windows.hpp"

namespace loft::engine {
namespace {

constexpr int kNotHere = 77;

std::string program(const std::string& name) {
  return std::string(LOFT_EXACT_PROGRAMS) + "/exact_" + name;
}

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

std::vector<std::vector<std::string_view>> lines_of(std::string_view text, std::string_view start) {
  std::vector<std::vector<std::string_view>> found;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.starts_with(start)) found.push_back(split(trim(line.substr(start.size())), ' '));
  }
  return found;
}

TEST(Exact, LoopsCallsAndBothKindsOfBranches) {
  const auto ran = under_engine({sample("counted.S")});
  ASSERT_TRUE(ran.run);
  EXPECT_EQ(ran.outcome.status, 0);
  EXPECT_EQ(count_of(*ran.run, "instructions"), 5014005u);
  EXPECT_EQ(count_of(*ran.run, "calls"), 1000u);
  EXPECT_EQ(count_of(*ran.run, "returns"), 1000u);
  EXPECT_EQ(count_of(*ran.run, "syscalls"), 1u);
  // jnz and loop: 999 of 1000 in each outer round, and 999 outer rounds; call and ret always.
  EXPECT_EQ(count_of(*ran.run, "branches"), 3001000u + 2000u);
  EXPECT_EQ(count_of(*ran.run, "branches_taken"), 999u * 2000u + 999u + 2000u);
}

TEST(Exact, BlocksBehindBranchesThatAreSeldomTaken) {
  const auto ran = under_engine({sample("forward.S")});
  ASSERT_TRUE(ran.run);
  EXPECT_EQ(ran.outcome.status, 0);
  EXPECT_EQ(count_of(*ran.run, "instructions"), 12260u);
  EXPECT_EQ(count_of(*ran.run, "branches"), 4500u);
  EXPECT_EQ(count_of(*ran.run, "branches_taken"), 2749u);
}

TEST(Exact, RepeatsToTheLastCount) {
  const auto first = under_engine({sample("counted.S")});
  const auto second = under_engine({sample("counted.S")});
  ASSERT_TRUE(first.run && second.run);
  EXPECT_EQ(total_of(*first.run), total_of(*second.run));
}

TEST(Exact, EveryClassOfInstruction) {
  const auto source = read_file(LOFT_SOURCE_DIR "/tests/engine/programs_exact/classes.S");
  ASSERT_TRUE(source);
  const auto ran = under_engine({program("classes")});
  ASSERT_TRUE(ran.run);
  ASSERT_EQ(ran.outcome.status, 0) << ran.outcome.output;
  const EventVector events = total_of(*ran.run);
  const auto expected = lines_of(*source, "# expect ");
  EXPECT_GT(expected.size(), 50u);
  for (const auto& words : expected) {
    ASSERT_EQ(words.size(), 2u);
    EXPECT_EQ(std::to_string(value_of(events, words[0])), words[1]) << words[0];
  }
}

// With windows of the address stream opening and closing all the time.
EngineOutcome under_windows(const std::string& path) {
  constexpr std::uint64_t kShare = 4096;
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  Captured captured;
  auto run = Run::prepare({path});
  if (!run) return {};
  run->shared().ask_for_stream(StreamMode::windows);
  int status = -1;
  {
    Listening listener([](const StreamedBlock&) {});
    const StreamReader reader(run->shared(), listener);
    const WindowOpener opener(run->shared(), kShare);
    EXPECT_TRUE(run->start());
    if (const auto end = run->wait()) status = end->shell_status();
  }
  EXPECT_GT(run->shared().joined(), 0u);
  return {{captured.text(), status}, std::move(*run)};
}

class ExactKernels : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(ExactKernels, CountWhatTheyPromiseUnderTheEngine) {
  const auto [name, has_windows] = GetParam();
  const std::string path = program(name);
  const auto functions = functions_of(path);
  ASSERT_TRUE(functions);
  const auto ran = has_windows ? under_windows(path) : under_engine({path});
  ASSERT_TRUE(ran.run);
  if (ran.outcome.status == kNotHere) GTEST_SKIP() << "this processor has no tiles";
  ASSERT_EQ(ran.outcome.status, 0) << ran.outcome.output;
  Tally tally(ran.run->shared());
  const auto expected = lines_of(ran.outcome.output, "expect ");
  EXPECT_GT(expected.size(), 5u);
  for (const auto& words : expected) {
    ASSERT_EQ(words.size(), 3u);
    const auto function = functions->find(std::string(words[0]));
    ASSERT_NE(function, functions->end()) << words[0];
    const auto [start, end] = function->second;
    const auto events = tally.of_slot(0, [start = start, end = end](const BlockEntry& block) {
      return block.address >= start && block.address < end;
    });
    ASSERT_TRUE(events);
    EXPECT_EQ(std::to_string(value_of(*events, words[1])), words[2]) << words[0] << " " << words[1];
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExactKernels,
                         testing::Combine(testing::Values("kernels", "masks", "restarts", "tiles"),
                                          testing::Bool()),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param)) +
                                  (std::get<1>(which.param) ? "_in_windows" : "");
                         });

}  // namespace
}  // namespace loft::engine
