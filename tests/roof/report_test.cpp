// What a report shows of a run: which subjects, and what it says about them.
#include "roof/report.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "roof/repeat_streams.hpp"

namespace loft::roof {
namespace {

using model::Scope;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

model::Subject subject(Scope scope, const std::string& name, double seconds) {
  model::Subject subject;
  subject.scope = scope;
  subject.name = name;
  subject.seconds = seconds;
  subject.work.emplace();
  subject.work->flops_dp = 1e9;
  subject.work->bytes = 8e9;
  return subject;
}

CountedRun run() {
  CountedRun run;
  run.command = {"./app"};
  run.wall_seconds = 4;
  run.subjects = {subject(Scope::run, "./app", 4),        subject(Scope::thread, "app", 4),
                  subject(Scope::function, "solve", 3),   subject(Scope::function, "dissolve", 0.5),
                  subject(Scope::function, "write", 0.5), subject(Scope::loop, "write", 0)};
  return run;
}

model::Roof bandwidth(const char* level, double best) {
  model::Roof roof;
  roof.kind = model::RoofKind::bandwidth;
  roof.level = level;
  roof.isa = "avx2";
  roof.op = "load";
  roof.cpus = {0};
  roof.best = roof.median = best;
  roof.verdict = model::Verdict::stable;
  return roof;
}

std::vector<std::string> names(const model::RoofReport& report, Scope scope) {
  std::vector<std::string> names;
  for (const model::RoofPoint& point : report.chart.points)
    if (point.subject.scope == scope) names.push_back(point.subject.name);
  return names;
}

TEST(Report, ThreadsAreShownWhenWanted) {
  EXPECT_THAT(names(report_of(run(), {}, {}), Scope::thread), IsEmpty());
  EXPECT_THAT(names(report_of(run(), {}, {.threads = true}), Scope::thread), ElementsAre("app"));
}

TEST(Report, FunctionsAndTheirLoopsAreChosenByAPartOfTheirName) {
  const auto report = report_of(run(), {}, {.functions = {"solve"}});
  EXPECT_THAT(names(report, Scope::function), ElementsAre("solve", "dissolve"));
  EXPECT_THAT(names(report, Scope::loop), IsEmpty());
  EXPECT_THAT(names(report, Scope::run), ElementsAre("./app")) << "the run is always there";
}

TEST(Report, ANameThatNoFunctionHasIsSaid) {
  const auto report = report_of(run(), {}, {.functions = {"absent", "nowhere"}});
  EXPECT_THAT(report.notes,
              Contains("of its 3 functions none has 'absent' or 'nowhere' in its name"));
}

TEST(Report, AProgramThatFailedIsShownUpToThere) {
  CountedRun failed = run();
  failed.exit_status = 139;
  EXPECT_THAT(report_of(std::move(failed), {}, {}).notes,
              Contains(HasSubstr("status 139 (killed by SIGSEGV)")));
  EXPECT_THAT(report_of(run(), {}, {}).notes, Not(Contains(HasSubstr("status"))));
}

TEST(Report, OperationsOfX87AreSaidToStandUnderOtherRoofs) {
  CountedRun extended = run();
  extended.subjects[0].work->flops_x87 = 1e9;  // beside as many others
  EXPECT_THAT(report_of(std::move(extended), {}, {}).notes,
              Contains(HasSubstr("50 % of its floating-point operations are x87's")));
  CountedRun trace = run();
  trace.subjects[0].work->flops_x87 = 1e3;  // what printing a number takes
  EXPECT_THAT(report_of(std::move(trace), {}, {}).notes, Not(Contains(HasSubstr("x87"))));
}

TEST(Report, OfMemoryAloneItsBandwidthBounds) {
  model::Machine machine;
  machine.roofs = {bandwidth("L1", 200e9), bandwidth("DRAM", 20e9)};
  const auto roofs = roofs_of_memory(machine).roofs;
  ASSERT_EQ(roofs.size(), 1u);
  EXPECT_EQ(roofs[0].level, "DRAM");
}

TEST(StatusWords, NameTheSignal) {
  EXPECT_EQ(status_words(1), "1");
  EXPECT_EQ(status_words(130), "130 (killed by SIGINT)");
}

// Standard input and output of this process are files for as long as this lives.
class OwnStreams {
 public:
  OwnStreams() {
    std::fflush(stdout);
    for (const int fd : {0, 1}) {
      kept_[fd] = Fd(::dup(fd));
      char path[] = "/tmp/loft-streams-XXXXXX";
      const Fd file(::mkstemp(path));
      ::unlink(path);
      ::dup2(file.get(), fd);
    }
  }
  ~OwnStreams() {
    for (const int fd : {0, 1}) ::dup2(kept_[fd].get(), fd);
  }

 private:
  Fd kept_[2];
};

std::string write_to(int fd, std::string_view text) {
  return ::write(fd, text.data(), text.size()) < 0 ? "not written" : "";
}

TEST(RepeatStreams, InputIsReadTwiceAndOutputsAreCompared) {
  const OwnStreams own;
  ASSERT_EQ(write_to(0, "skipped input"), "");
  ASSERT_EQ(::lseek(0, 8, SEEK_SET), 8);
  auto streams = RepeatStreams::prepare();
  ASSERT_TRUE(streams);
  char read[8] = "";
  ASSERT_EQ(::read(0, read, sizeof read), 5) << "as the first run does";
  ASSERT_EQ(write_to(1, "result 1"), "");
  const auto second = streams->second();
  ASSERT_TRUE(second);
  EXPECT_EQ(::read(0, read, sizeof read), 5) << "from where it stood, not from its start";
  EXPECT_EQ(std::string_view(read, 5), "input");
  ASSERT_EQ(write_to(second->out, "result 2"), "");
  ASSERT_EQ(write_to(second->err, "last words"), "");
  EXPECT_THAT(streams->difference().value_or(""), HasSubstr("differs"));
  EXPECT_EQ(streams->last_words(), "last words");
}

TEST(RepeatStreams, AnOutputOfAnotherLengthIsSaidInBytes) {
  const OwnStreams own;
  auto streams = RepeatStreams::prepare();
  ASSERT_TRUE(streams);
  ASSERT_EQ(write_to(1, "abc"), "");
  const auto second = streams->second();
  ASSERT_TRUE(second);
  ASSERT_EQ(write_to(second->out, "abcd"), "");
  EXPECT_THAT(streams->difference().value_or(""), HasSubstr("3 bytes natively and 4 bytes"));
}

TEST(RepeatStreams, TheSameOutputIsNoDifference) {
  const OwnStreams own;
  auto streams = RepeatStreams::prepare();
  ASSERT_TRUE(streams);
  ASSERT_EQ(write_to(1, "abc"), "");
  const auto second = streams->second();
  ASSERT_TRUE(second);
  ASSERT_EQ(write_to(second->out, "abc"), "");
  EXPECT_FALSE(streams->difference());
}

// The child has a terminal; it reads what was typed, or does not.
int status_of_reader(bool is_typed) {
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    auto streams = RepeatStreams::prepare();
    char typed[8];
    const bool has_read = !is_typed || ::read(STDIN_FILENO, typed, sizeof typed) > 0;
    if (!streams || !has_read || !streams->second()) ::_exit(2);
    ::_exit(streams->note().empty() ? 0 : 1);
  }
  if (is_typed) {
    EXPECT_EQ(::write(terminal, "go\n", 3), 3);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  ::close(terminal);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RepeatStreams, TypedInputIsNotedWhereSomethingWasTyped) {
  EXPECT_EQ(status_of_reader(true), 1);
  EXPECT_EQ(status_of_reader(false), 0);
}

}  // namespace
}  // namespace loft::roof
