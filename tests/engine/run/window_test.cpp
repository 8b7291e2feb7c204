// Windows of the address stream: the program changes between code that counts and code that writes
// the stream, and neither the counts nor the program notice.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "engine/stream.hpp"
#include "under_windows.hpp"

namespace loft::engine {
namespace {

struct Streamed {
  Outcome outcome;
  std::uint64_t counted = 0;
  std::uint64_t in_windows = 0;
  std::uint32_t windows = 0;
  std::uint32_t joined = 0;
  std::uint64_t lost = 0;
  std::map<std::uint32_t, std::uint64_t> by_slot;
};

Streamed with_windows(const std::vector<std::string>& command, std::uint64_t bytes = 1u << 20) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  Streamed result;
  Captured captured;
  auto run = Run::prepare(command);
  EXPECT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::windows);
  Listening listener([&](const StreamedBlock& ran) { ++result.by_slot[ran.slot]; });
  StreamReader reader(run->shared(), listener);
  {
    const WindowOpener opener(run->shared(), bytes);
    EXPECT_TRUE(run->start());
    const auto end = run->wait();
    result.outcome = {captured.text(), end ? end->shell_status() : -1};
    if (!end) result.outcome.output += to_string(end.error());
  }
  reader.finish();
  result.windows = run->shared().window() / 2;
  result.joined = run->shared().joined();
  result.lost = reader.totals().lost_bytes;
  result.in_windows = reader.totals().instructions;
  result.counted = count_of(*run, "instructions");
  return result;
}

TEST(Window, LeavesEveryCountAsItIs) {
  const auto streamed = with_windows({sample("counted.S")});
  EXPECT_EQ(streamed.counted, 5014005u);
  EXPECT_GE(streamed.joined, 1u);
  EXPECT_GT(streamed.in_windows, 0u);
  EXPECT_EQ(streamed.lost, 0u);
}

TEST(Window, IsLeftWhenTheShareIsWritten) {
  // One window of one buffer, and a second that starts when the first is over.
  const auto streamed = with_windows({sample("windows.c"), "1"});
  const auto plain = under_engine({sample("windows.c"), "1"});
  EXPECT_EQ(streamed.outcome, plain.outcome);
  EXPECT_GT(streamed.windows, 1u);
  EXPECT_GT(streamed.in_windows, 100000u);
  EXPECT_LT(streamed.in_windows, streamed.counted);
  EXPECT_EQ(streamed.lost, 0u);
}

TEST(Window, OpensInEveryThread) {
  const auto streamed = with_windows({sample("windows.c"), "4"});
  EXPECT_EQ(streamed.outcome, under_engine({sample("windows.c"), "4"}).outcome);
  EXPECT_GE(streamed.by_slot.size(), 4u);
  EXPECT_EQ(streamed.lost, 0u);
}

// The reader opens and closes windows by itself.
TEST(Window, IsOpenedByASchedule) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  Captured captured;
  auto run = Run::prepare({sample("windows.c"), "2"});
  ASSERT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::windows);
  Listening listener([](const StreamedBlock&) {});
  StreamReader reader(run->shared(), listener, WindowSchedule({.first = Nanoseconds(0)}));
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  reader.finish();
  captured.release();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->shell_status(), 0);
  EXPECT_GE(reader.totals().windows, 1u);
  EXPECT_GT(reader.totals().instructions, 0u);
  EXPECT_LT(reader.totals().instructions, count_of(*run, "instructions"));
  EXPECT_FALSE(run->shared().has_window());
}

// However long the program takes to start, be it longer than a window may be quiet.
TEST(Window, ThatBeginsWithTheProgramWaitsForIt) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = Run::prepare({sample("counted.S")});
  ASSERT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::windows);
  Listening listener([](const StreamedBlock&) {});
  StreamReader reader(run->shared(), listener,
                      WindowSchedule({.first = Nanoseconds(0), .quiet = Nanoseconds(0)}));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the reader looks every millisecond
  EXPECT_EQ(run->shared().window(), 1u);
  EXPECT_EQ(reader.totals().windows, 1u);
}

// A process that reads, and dies in the middle of it: the program goes on, and ends.
class DyingReader : public testing::TestWithParam<StreamMode> {};

TEST_P(DyingReader, LeavesTheProgramRunning) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  Captured captured;
  auto run = Run::prepare({sample("counted.S")});
  ASSERT_TRUE(run);
  run->shared().ask_for_stream(GetParam());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Listening listener([](const StreamedBlock&) { ::_exit(1); });
    const StreamReader reader(run->shared(), listener);
    if (GetParam() == StreamMode::windows && !run->shared().open_window(1u << 20)) ::_exit(2);
    ::pause();
    ::_exit(3);
  }
  while (!run->shared().has_reader()) std::this_thread::yield();
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  int status = 0;
  ::waitpid(child, &status, 0);
  captured.release();
  EXPECT_EQ(WEXITSTATUS(status), 1);
  ASSERT_TRUE(end) << to_string(end.error());
  EXPECT_EQ(end->shell_status(), 0);
  EXPECT_EQ(count_of(*run, "instructions"), 5014005u);
}

INSTANTIATE_TEST_SUITE_P(All, DyingReader,
                         testing::Values(StreamMode::handed_over, StreamMode::windows),
                         [](const auto& which) {
                           return std::string(which.param == StreamMode::windows ? "windows"
                                                                                 : "all");
                         });

// The programs of the engine's other tests, as they are natively, with windows all the time.
class UnderWindows : public testing::TestWithParam<const char*> {};

TEST_P(UnderWindows, ProgramsNoticeNothing) {
  const auto native = natively({sample(GetParam())});
  const auto streamed = with_windows({sample(GetParam())}, 1u << 16);
  EXPECT_EQ(streamed.outcome, native);
  EXPECT_EQ(streamed.lost, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, UnderWindows,
                         testing::Values("signals.c", "storm.c", "threads.cpp", "processes.c",
                                         "self_modifying.c", "functions.c", "gs.c", "filters.c",
                                         "waiting.c"),
                         [](const auto& which) {
                           std::string name = which.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace loft::engine
