// Programs that end, signals that reach them, and descriptors with something to read.
#include "source/supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace loft::source {
namespace {

// A child that waits to be ended.
class Child {
 public:
  Child() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Child() {
    end();
    ::waitpid(pid_, nullptr, 0);
  }
  void end() const { ::kill(pid_, SIGKILL); }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

constexpr auto kLong = std::chrono::seconds(60);

TEST(Supervisor, EndsWhenAllProcessesHaveEnded) {
  const Child first;
  const Child second;
  auto supervisor = Supervisor::create({});
  ASSERT_TRUE(supervisor);
  ASSERT_TRUE(supervisor->follow(first.pid()));
  ASSERT_TRUE(supervisor->follow(second.pid()));
  first.end();
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_FALSE(supervisor->is_over());
  second.end();
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_TRUE(supervisor->all_ended());
  EXPECT_FALSE(supervisor->is_interrupted());
}

TEST(Supervisor, GoesOnUntilASignalWhereThereIsNoProcess) {
  auto supervisor = Supervisor::create({});
  ASSERT_TRUE(supervisor);
  ASSERT_TRUE(supervisor->wait(Nanoseconds(0)));
  EXPECT_FALSE(supervisor->is_over());
  ::raise(SIGTERM);
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_TRUE(supervisor->is_interrupted());
}

// In the background of a script SIGINT is ignored, and is never seen.
TEST(Supervisor, PassesSignalsOnToTheProgramWhileItRuns) {
  ::signal(SIGINT, SIG_DFL);
  const Child program;
  std::vector<int> passed;
  auto supervisor = Supervisor::create([&](int signal) { passed.push_back(signal); });
  ASSERT_TRUE(supervisor);
  ASSERT_TRUE(supervisor->follow(program.pid()));
  ::raise(SIGINT);
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_THAT(passed, testing::ElementsAre(SIGINT));
  EXPECT_FALSE(supervisor->is_over());
  program.end();
  ASSERT_TRUE(supervisor->wait(kLong));
  ::raise(SIGINT);
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_EQ(passed.size(), 1u);
  EXPECT_TRUE(supervisor->is_interrupted());
}

TEST(Supervisor, CallsTheActionOfADescriptorUntilItHangsUp) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  auto supervisor = Supervisor::create({});
  ASSERT_TRUE(supervisor);
  int calls = 0;
  supervisor->on_readable(reading.get(), [&] {
    ++calls;
    char byte = 0;
    (void)!::read(reading.get(), &byte, 1);
  });
  ASSERT_EQ(::write(writing.get(), "x", 1), 1);
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_EQ(calls, 1);
  writing = Fd();
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_EQ(calls, 2);
  ASSERT_TRUE(supervisor->wait(Nanoseconds(0)));
  EXPECT_EQ(calls, 2);
}

TEST(Supervisor, TimersExpire) {
  auto timer = make_timer();
  ASSERT_TRUE(timer);
  ASSERT_TRUE(set_timer(*timer, Nanoseconds(1), Nanoseconds(0)));
  auto supervisor = Supervisor::create({});
  ASSERT_TRUE(supervisor);
  std::uint64_t times = 0;
  supervisor->on_readable(timer->get(), [&] { times += take_expirations(*timer); });
  ASSERT_TRUE(supervisor->wait(kLong));
  EXPECT_EQ(times, 1u);
  EXPECT_EQ(take_expirations(*timer), 0u);
}

}  // namespace
}  // namespace loft::source
