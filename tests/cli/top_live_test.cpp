// loft top on a terminal: the screen comes up, follows keys and size, and goes with its terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/fd.hpp"
#include "cli/run_loft.hpp"

namespace loft {
namespace {

class LiveTop {
 public:
  LiveTop() {
    winsize size{24, 100, 0, 0};
    int master = -1;
    pid_ = ::forkpty(&master, nullptr, nullptr, &size);
    if (pid_ == 0) {
      ::setenv("TERM", "vt100", 1);
      ::setenv("LC_ALL", "C.UTF-8", 1);
      ::setenv("XDG_CACHE_HOME", "/nonexistent", 1);
      ::execl(LOFT_PROGRAM, "loft", "top", "-i", "50", "-e", "context-switches", nullptr);
      ::_exit(127);
    }
    terminal_ = Fd(master);
  }
  LiveTop(const LiveTop&) = delete;
  LiveTop& operator=(const LiveTop&) = delete;
  ~LiveTop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // Reads on until `text` has been shown; false when the program ends before.
  bool shows(const std::string& text) {
    seen_.clear();
    while (seen_.find(text) == std::string::npos) {
      char bytes[4096];
      const ssize_t got = ::read(terminal_.get(), bytes, sizeof bytes);
      if (got <= 0) return false;
      seen_.append(bytes, static_cast<std::size_t>(got));
    }
    return true;
  }

  void press(std::string_view keys) {
    ASSERT_EQ(::write(terminal_.get(), keys.data(), keys.size()),
              static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short rows, unsigned short columns) {
    const winsize size{rows, columns, 0, 0};
    ASSERT_EQ(::ioctl(terminal_.get(), TIOCSWINSZ, &size), 0);
  }
  void hang_up() { terminal_ = Fd(); }

  int status() {
    while (terminal_.is_open()) {  // what is left to read
      char bytes[4096];
      if (::read(terminal_.get(), bytes, sizeof bytes) <= 0) break;
    }
    int raw = 0;
    ::waitpid(pid_, &raw, 0);
    pid_ = -1;
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }

 private:
  pid_t pid_ = -1;
  Fd terminal_;
  std::string seen_;
};

TEST(TopLive, ScreenFollowsKeysAndSize) {
  LiveTop top;
  ASSERT_TRUE(top.shows("loft itself")) << top.seen();
  top.press("h");
  ASSERT_TRUE(top.shows("sample more often")) << top.seen();
  top.press("h");
  top.press("e0: no-such-event\n");
  ASSERT_TRUE(top.shows("no-such-event'")) << top.seen();  // refused, and it goes on
  top.resize(40, 140);
  top.press("h");
  ASSERT_TRUE(top.shows("sample more often")) << top.seen();
  top.press("q");
  EXPECT_EQ(top.status(), 0);
}

TEST(TopLive, GoesWithItsTerminal) {
  LiveTop top;
  ASSERT_TRUE(top.shows("loft itself")) << top.seen();
  top.hang_up();
  EXPECT_EQ(top.status(), 0);
}

TEST(TopLive, WithoutATerminalItAsksForBatch) {
  const Said said = run_loft("top -n 1");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, testing::HasSubstr("use --batch"));
}

}  // namespace
}  // namespace loft
