// Calls of functions, counted in programs that are patched while they run.
#ifdef LOFT_TEST_CALLS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "source/calls/budget.hpp"
#include "source/calls/call_tracer.hpp"
#include "source/calls/counters.hpp"
#include "source/calls/energy_course.hpp"
#include "source/calls/native.hpp"
#include "source/memory_ranges.hpp"
#include "symbols/elf_symbols.hpp"

namespace loft::source::calls {
namespace {

using sample::CallRun;
using sample::CallStatistics;
using testing::HasSubstr;

// The output of the program goes to nobody.
CallRun watch(std::vector<std::string> patterns, std::vector<std::string> arguments,
              bool keeps_calls = false, bool only_counts = false, CallMeters meters = {}) {
  const Fd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  NativeCalls calls;
  calls.request.patterns = std::move(patterns);
  calls.request.keeps_calls = keeps_calls;
  calls.request.only_counts = only_counts;
  calls.command = {LOFT_TEST_CALLS};
  calls.command.insert(calls.command.end(), arguments.begin(), arguments.end());
  calls.streams.out = nowhere.get();
  calls.meters = std::move(meters);
  auto run = watch_calls(calls);
  EXPECT_TRUE(run) << to_string(run.error());
  return run ? std::move(*run) : CallRun{};
}

std::size_t index_of(const CallRun& run, std::string_view name) {
  for (std::size_t i = 0; i < run.functions.size(); ++i)
    if (run.functions[i].name == name) return i;
  ADD_FAILURE() << "no function " << name;
  return 0;
}

CallStatistics of(const CallRun& run, std::string_view name) {
  if (run.functions.empty()) return {};
  return run.statistics[index_of(run, name)];
}

std::uint64_t seen(const CallStatistics& statistics) { return statistics.calls + statistics.open; }

TEST(NativeCalls, CountsEveryCallOfARecursion) {
  const CallRun run = watch({"fib", "main"}, {"fib", "20"});
  EXPECT_EQ(run.end.shell_status(), 0);
  const CallStatistics fib = of(run, "fib");
  EXPECT_EQ(fib.calls, 21'891u);
  EXPECT_EQ(fib.open, 0u);
  EXPECT_EQ(fib.of[0].histogram.total(), fib.calls);
  // What is its own and what the outermost call took is the same: it calls nobody else.
  EXPECT_EQ(fib.of[0].self, fib.of[0].total);
  EXPECT_EQ(fib.of[0].max, fib.of[0].total);
  const CallStatistics whole = of(run, "main");
  EXPECT_EQ(whole.of[0].total, whole.of[0].self + fib.of[0].total);
}

TEST(NativeCalls, LeavesTheSignalMaskAsItWas) {
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  watch({"fib"}, {"fib", "2"});
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < 32; ++number)
    EXPECT_EQ(::sigismember(&after, number), ::sigismember(&before, number)) << number;
}

TEST(NativeCalls, CountsWithoutAClockWhereNothingElseIsAskedFor) {
  const CallRun run = watch({"fib"}, {"fib", "20"}, false, true);
  EXPECT_EQ(of(run, "fib").calls, 21'891u);
}

TEST(NativeCalls, EndsCallsThatAnExceptionLeaves) {
  const CallRun run = watch({"*thrower", "main"}, {"exception"});
  EXPECT_EQ(run.end.shell_status(), 0);
  EXPECT_EQ(of(run, "thrower").calls, 1000u);
  EXPECT_EQ(of(run, "thrower").ended_early, 500u);
  EXPECT_EQ(of(run, "around_thrower").calls, 1000u);
  EXPECT_EQ(of(run, "around_thrower").ended_early, 500u);
}

TEST(NativeCalls, EndsCallsThatLongjmpLeaves) {
  const CallRun run = watch({"*jumper", "main"}, {"longjmp"});
  EXPECT_EQ(of(run, "jumper").calls, 1000u);
  EXPECT_EQ(of(run, "jumper").ended_early, 500u);
  EXPECT_EQ(of(run, "around_jumper").calls, 1000u);
}

// Nothing that is watched happens in the thread after that.
TEST(NativeCalls, EndsCallsWhenTheyAreLeft) {
  const CallRun run = watch({"*thrower", "*jumper"}, {"left"});
  EXPECT_EQ(run.end.shell_status(), 0);
  for (const char* name : {"thrower", "around_thrower", "jumper", "around_jumper"}) {
    EXPECT_EQ(of(run, name).ended_early, 1u) << name;
    EXPECT_EQ(of(run, name).open, 0u) << name;
  }
}

TEST(NativeCalls, LeavesAProgramAloneOnceItTakesTheRegisterThatContextsAreIn) {
  for (const bool only_counts : {false, true})
    for (const char* way : {"segment", "writes-segment"}) {
      const CallRun run = watch({"fib"}, {way}, false, only_counts);
      if (run.end.shell_status() == 77) continue;  // this machine has no such instruction
      EXPECT_EQ(run.end.shell_status(), 0) << way;
      EXPECT_EQ(of(run, "fib").calls, 177u) << way;
      EXPECT_THAT(run.notes, testing::Contains(HasSubstr("took the gs register"))) << way;
    }
}

TEST(NativeCalls, WithoutSingleCallsTheLargestAreKnown) {
  const CallRun run = watch({"fib"}, {"fib", "20"});
  ASSERT_EQ(run.calls.size(), 8u);
  const auto order = sample::slowest(run, 0, 8);
  EXPECT_EQ(run.values_of(order[0])[0].value, of(run, "fib").of[0].max);
  // The first of a recursion holds the second, and so on: their depths are their ranks.
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(run.calls[order[i]].depth, i);
}

TEST(NativeCalls, FollowsTailCallsToWhereTheyReturn) {
  const CallRun run = watch({"*chain"}, {"chain"});
  for (const char* name : {"first_of_chain", "middle_of_chain", "last_of_chain"}) {
    EXPECT_EQ(of(run, name).calls, 1000u) << name;
    EXPECT_EQ(of(run, name).ended_early, 0u) << name;
  }
  // The last function is not watched: its returns are.
  const CallRun first = watch({"first_of_chain"}, {"chain"});
  EXPECT_EQ(of(first, "first_of_chain").calls, 1000u);
  EXPECT_EQ(of(first, "first_of_chain").open, 0u);
}

TEST(NativeCalls, TellsWhoCalledWhom) {
  const CallRun run = watch({"*chain", "main"}, {"chain"});
  const auto edges = sample::callers(run);
  const auto calls_from = [&](const char* caller, const char* callee) -> std::uint64_t {
    for (const sample::CallEdge& edge : edges)
      if (edge.caller == index_of(run, caller) && edge.callee == index_of(run, callee))
        return edge.calls;
    return 0;
  };
  EXPECT_EQ(edges.size(), 4u);
  EXPECT_EQ(calls_from("main", "first_of_chain"), 1000u);
  EXPECT_EQ(calls_from("first_of_chain", "middle_of_chain"), 1000u);
  EXPECT_EQ(calls_from("middle_of_chain", "last_of_chain"), 1000u);
  // A recursion is a chain of nodes, and their own times are the function's.
  const CallRun recursion = watch({"fib"}, {"fib", "12"});
  EXPECT_EQ(recursion.nodes.size(), 12u);
  std::uint64_t calls = 0;
  std::uint64_t self = 0;
  for (std::size_t i = 0; i < recursion.nodes.size(); ++i) {
    calls += recursion.nodes[i].calls;
    self += recursion.values_of_node(i)[0].self;
  }
  EXPECT_EQ(calls, of(recursion, "fib").calls);
  EXPECT_EQ(self, of(recursion, "fib").of[0].self);
}

TEST(NativeCalls, KeepsCallsApartThatHandlersInterrupt) {
  const CallRun run = watch({"*handler", "raiser", "main"}, {"signals"});
  EXPECT_EQ(run.end.shell_status(), 0);
  EXPECT_EQ(of(run, "in_handler").calls, 150u);
  EXPECT_EQ(of(run, "handler").calls, 100u);
  EXPECT_EQ(of(run, "handler").ended_early, 0u);
  EXPECT_EQ(of(run, "jumping_handler").calls, 50u);
  EXPECT_EQ(of(run, "jumping_handler").ended_early, 50u);
  EXPECT_EQ(of(run, "raiser").calls, 150u);
  EXPECT_EQ(of(run, "raiser").ended_early, 50u);
}

TEST(NativeCalls, KeepsStacksApart) {
  const CallRun run = watch({"step", "yielding", "coroutine", "resumer", "main"}, {"coroutines"});
  EXPECT_EQ(run.end.shell_status(), 0);
  EXPECT_EQ(of(run, "step").calls, 200u);
  EXPECT_EQ(of(run, "yielding").calls, 2u);
  EXPECT_EQ(of(run, "yielding").ended_early, 0u);
  EXPECT_EQ(of(run, "resumer").calls, 202u);
  EXPECT_EQ(of(run, "resumer").ended_early, 0u);
}

TEST(NativeCalls, FollowsThreadsChildrenAndExec) {
  EXPECT_EQ(of(watch({"in_thread"}, {"threads"}), "in_thread").calls, 8000u);
  const CallRun run = watch({"in_child", "fib"}, {"children"});
  EXPECT_EQ(run.end.shell_status(), 0);
  EXPECT_EQ(of(run, "in_child").calls, 200u);
  EXPECT_EQ(of(run, "fib").calls, 177u);
}

TEST(NativeCalls, LosesNothingWhenTheProgramIsKilled) {
  const CallRun run = watch({"fib", "main"}, {"killed"});
  EXPECT_EQ(run.end.signal, SIGKILL);
  EXPECT_EQ(of(run, "fib").calls, 1973u);
  EXPECT_EQ(of(run, "main").open, 1u);
}

TEST(NativeCalls, LeavesAloneWhatCannotBePatchedAndSaysWhy) {
  const CallRun run = watch({"loops", "entered_inside", "enters", "no_room"}, {"assembly"});
  EXPECT_EQ(run.end.shell_status(), 0);
  EXPECT_EQ(of(run, "loops").calls, 10u);
  EXPECT_EQ(seen(of(run, "enters")), 10u);
  EXPECT_THAT(run.functions[index_of(run, "entered_inside")].why_not, HasSubstr("a jump leads"));
  EXPECT_THAT(run.functions[index_of(run, "no_room")].why_not, HasSubstr("no room"));
}

TEST(NativeCalls, NamesWhatIsInlinedOrMadeByAJit) {
  const CallRun run = watch({"has_inlined", "put_into_callers", "made_at_run_time"}, {"inlined"});
  ASSERT_EQ(run.threads.size(), 1u);
  ::unlink(("/tmp/perf-" + std::to_string(run.threads[0].process) + ".map").c_str());
  EXPECT_EQ(of(run, "has_inlined").calls, 1u);
  EXPECT_THAT(run.functions[index_of(run, "put_into_callers")].why_not, HasSubstr("inlined"));
  EXPECT_THAT(run.functions[index_of(run, "made_at_run_time")].why_not, HasSubstr("JIT"));
}

// Go's runtime begins a function anew when it has moved the stack: calls would be counted twice.
TEST(NativeCalls, LeavesProgramsInGoAlone) {
  const std::string copy = testing::TempDir() + "loft-calls-go-" + std::to_string(::getpid());
  const std::string make =
      "objcopy --add-section .gopclntab=/etc/hostname " LOFT_TEST_CALLS " " + copy;
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "there is no objcopy";
  NativeCalls calls;
  calls.request.patterns = {"step"};
  calls.request.dso = "*loft-calls-go-*";
  calls.command = {copy, "chain"};
  const auto run = watch_calls(calls);
  ::unlink(copy.c_str());
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_EQ(run->end.shell_status(), 0);
  ASSERT_EQ(run->functions.size(), 1u);
  EXPECT_THAT(run->functions[0].why_not, HasSubstr("Go"));
}

TEST(NativeCalls, FindsFunctionsThatCostMoreThanTheirShare) {
  using namespace std::chrono_literals;
  Budget budget(0.01, 50);
  // In 10 ms, 1 % is 100 us: 2000 calls of 50 ns.
  EXPECT_TRUE(budget.look({1'000, 1'900}, 10ms).empty());
  const auto over = budget.look({10'000, 3'800}, 20ms);
  ASSERT_EQ(over.size(), 1u);
  EXPECT_EQ(over[0].function, 0u);
  EXPECT_DOUBLE_EQ(over[0].share, 0.045);
  // Too little time has passed to tell.
  EXPECT_TRUE(budget.look({100'000, 100'000}, 20ms).empty());
}

TEST(NativeCalls, StatisticsAreThoseOfTheKeptCalls) {
  const CallRun run = watch({"fib", "main"}, {"fib", "15"}, true);
  EXPECT_EQ(run.seen, run.calls.size() + run.lost);
  EXPECT_EQ(run.lost, 0u);
  EXPECT_EQ(sample::recompute(run), run.statistics);
}

// The counters of the test's own program: it has the pages, and does what the hardware would.
class OwnCounters final : public Counters {
 public:
  [[nodiscard]] const std::vector<event::Event>& events() const override { return events_; }
  [[nodiscard]] Result<void> check() const override { return {}; }
  [[nodiscard]] Result<std::vector<std::uint64_t>> open(const Tracee&, std::uint64_t,
                                                        pid_t pid) const override {
    LOFT_TRY(const auto elf, symbols::ElfFile::open(LOFT_TEST_CALLS));
    LOFT_TRY(const auto ranges, mappings_of(pid));
    const auto first = std::ranges::find_if(
        ranges, [](const MemoryRange& range) { return range.path.ends_with("loft_test_calls"); });
    const auto pages = symbols::address_of_symbol(*elf, "counter_pages");
    if (!pages || first == ranges.end()) return failure(ErrorKind::not_found, "open", "no pages");
    const auto linked_at = elf->address_of_offset(first->offset);
    const std::uint64_t at = *pages + first->start - linked_at.value_or(0);
    return std::vector{at, at + kCounterPage};
  }

 private:
  std::vector<event::Event> events_{{.name = "first"}, {.name = "second"}};
};

TEST(NativeCalls, ReadsCountersOfTheProcessorInEachCall) {
  CallMeters meters;
  meters.counters = std::make_shared<OwnCounters>();
  for (const bool keeps_calls : {false, true}) {
    const CallRun run = watch({"counted", "counting"}, {"counters"}, keeps_calls, false, meters);
    ASSERT_EQ(run.end.shell_status(), 0);
    ASSERT_EQ(run.quantities.size(), 3u) << testing::PrintToString(run.notes);
    const CallStatistics counted = of(run, "counted");
    EXPECT_EQ(counted.calls, 20u);
    EXPECT_EQ(counted.of[1].sum, 70u);
    EXPECT_EQ(counted.of[1].min, 3u);
    EXPECT_EQ(counted.of[1].max, 4u);
    EXPECT_EQ(counted.of[2].total, 140u);
    const CallStatistics counting = of(run, "counting");
    EXPECT_EQ(counting.of[1].total, 120u);
    EXPECT_EQ(counting.of[1].self, 50u);
    EXPECT_EQ(counting.of[2].total, 140u);
    EXPECT_EQ(counting.of[2].self, 0u);
    for (std::size_t i = 0; i < run.nodes.size(); ++i)
      if (run.nodes[i].function == index_of(run, "counted")) {
        EXPECT_EQ(run.values_of_node(i)[2], (sample::CallValue{140, 140}));
      }
    ASSERT_EQ(run.calls.size(), keeps_calls ? 30u : 16u);
    for (std::size_t i = 0; i < run.calls.size(); ++i)
      if (run.calls[i].function == index_of(run, "counting")) {
        EXPECT_EQ(run.values_of(i)[1], (sample::CallValue{12, 5}));
      }
    if (!keeps_calls) continue;
    auto again = sample::recompute(run);
    for (CallStatistics& statistics : again)  // of counters there are no histograms
      for (std::size_t q = 1; q < 3; ++q) statistics.of[q].histogram = {};
    EXPECT_EQ(again, run.statistics);
  }
}

TEST(NativeCalls, CountersThatWereTakenAwayTellNothing) {
  CallMeters meters;
  meters.counters = std::make_shared<OwnCounters>();
  const CallRun run = watch({"counted"}, {"taken-counters"}, true, false, meters);
  EXPECT_EQ(of(run, "counted").calls, 20u);
  EXPECT_EQ(run.quantities.size(), 1u);
  EXPECT_EQ(run.values.size(), run.calls.size());
  EXPECT_THAT(run.notes, testing::Contains(HasSubstr("first, second are not known")));
}

// Two readings of 1 J, a second apart, and then nothing.
TEST(NativeCalls, LongCallsHaveTheEnergyOfTheMachine) {
  using namespace std::chrono_literals;
  std::string root = testing::TempDir() + "loft-call-energy-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const std::string zone = root + "/sys/class/powercap/intel-rapl:0";
  ASSERT_TRUE(replace_file(zone + "/name", "package-0\n"));
  const auto set = [&](const char* microjoules) {
    ASSERT_TRUE(replace_file(zone + "/energy_uj", microjoules));
  };
  set("1000000");
  auto course = EnergyCourse::open(SystemRoot{root});
  ASSERT_TRUE(course) << to_string(course.error());
  const Nanoseconds begin = now();
  for (int second = 1; second <= 4; ++second) {
    set(std::to_string(1'000'000 * (1 + second)).c_str());
    course->sample(begin + second * 1s);
  }
  std::filesystem::remove_all(root);
  EXPECT_NEAR(course->between(begin + 1s, begin + 3s + 500ms).value_or(0), 2.5, 1e-6);
  EXPECT_FALSE(course->between(begin + 1s, begin + 2s)) << "one step of the meter";
  EXPECT_FALSE(course->between(begin + 1s, begin + 5s)) << "nobody looked so late";
  CallRun run;
  run.functions.resize(1);
  run.statistics.resize(1);
  run.statistics[0].calls = 2;
  run.statistics[0].of.resize(1);
  run.quantities = {{"time", "ns", 1, sample::Origin::counted, true}};
  run.threads.resize(1);
  run.clock = {1, 0, begin + 1s};
  run.calls = {{0, 0, 0, 2'500'000'000}, {0, 0, 0, 1'000}};
  run.values = {{2'500'000'000, 500'000'000}, {1'000, 1'000}};
  add_energy(run, *course);
  ASSERT_EQ(run.quantities.size(), 2u);
  EXPECT_EQ(run.values_of(0)[1], (sample::CallValue{2'500'000, 500'000}));
  EXPECT_EQ(run.values_of(1)[1], sample::kUnknownValue);
  EXPECT_EQ(run.statistics[0].of[1].calls, 1u);
  EXPECT_THAT(run.notes, testing::Contains(HasSubstr("not known of 1 of 2")));
}

TEST(NativeCalls, WatchesLibrariesThatAreLoadedLater) {
  const CallRun run = watch({"cbrt"}, {"library", "libm.so.6"});
  EXPECT_EQ(run.end.shell_status(), 0);
  EXPECT_EQ(of(run, "cbrt").calls, 100u);
}

// A program that answers each byte after 100 calls.
class Answering {
 public:
  Answering() {
    int in[2];
    int out[2];
    EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    to_ = Fd(in[1]);
    from_ = Fd(out[0]);
    const Fd child_in(in[0]);
    const Fd child_out(out[1]);
    auto child =
        ChildProcess::prepare({LOFT_TEST_CALLS, "waits"}, {child_in.get(), child_out.get(), -1});
    EXPECT_TRUE(child);
    EXPECT_TRUE(child->start());
    child_.emplace(std::move(*child));
    ask();
  }

  [[nodiscard]] pid_t pid() const { return child_->pid(); }
  void ask(char byte = 'x') {
    EXPECT_EQ(::write(to_.get(), &byte, 1), 1);
    EXPECT_EQ(::read(from_.get(), &byte, 1), 1);
  }
  int end() {
    to_ = Fd();
    const auto end = child_->wait();
    return end ? end->shell_status() : -1;
  }
  // What it has mapped, and the bytes of its own code.
  [[nodiscard]] std::pair<std::string, std::vector<std::byte>> look() const {
    const auto text = read_file("/proc/" + std::to_string(pid()) + "/maps").value_or("");
    const auto memory = Memory::open(pid());
    std::vector<std::byte> code;
    for (const MemoryRange& range : parse_mappings(text)) {
      if (!range.is_code || !range.path.ends_with("loft_test_calls")) continue;
      code.resize(static_cast<std::size_t>(range.end - range.start));
      EXPECT_TRUE(memory && memory->read(range.start, code));
    }
    return {text, code};
  }

 private:
  Fd to_;
  Fd from_;
  std::optional<ChildProcess> child_;
};

TEST(NativeCalls, LeavesARunningProgramAsItWas) {
  Answering program;
  const auto before = program.look();
  for (int round = 0; round < 5; ++round) {
    CallRun run;
    sample::CallRequest request;
    request.patterns = {"step"};
    CallResults results(run, 0);
    PlanStore plans(request, false, run.functions);
    CallTracer tracer(plans, {}, results);
    const auto attached = tracer.attach(program.pid());
    ASSERT_TRUE(attached) << to_string(attached.error());
    EXPECT_NE(program.look().second, before.second);
    for (int i = 0; i < 3; ++i) program.ask();
    const auto detached = tracer.detach();
    ASSERT_TRUE(detached) << to_string(detached.error());
    EXPECT_EQ(of(run, "step").calls, 300u);
    EXPECT_EQ(program.look(), before);
    program.ask();
  }
  EXPECT_EQ(program.end(), 0);
}

TEST(NativeCalls, LeavesHotFunctionsAloneAndSaysSo) {
  Answering program;
  sample::CallRequest request;
  request.patterns = {"step"};
  request.has_budget = true;
  request.budget = 1e-6;
  CallWatch watch(request);
  const auto attached = watch.attach(program.pid());
  ASSERT_TRUE(attached) << to_string(attached.error());
  for (int i = 0; i < 1'000; ++i) program.ask();  // a millisecond of its time, and more
  watch.look();
  program.ask();
  ASSERT_TRUE(watch.detach());
  const CallRun run = watch.take();
  EXPECT_EQ(of(run, "step").calls, 100'000u) << "the last were not seen";
  EXPECT_THAT(run.functions[0].why_not, HasSubstr("left alone"));
  EXPECT_EQ(program.end(), 0);
}

TEST(NativeCalls, SaysWhatWatchingTook) {
  EXPECT_THAT(watch({"fib"}, {"fib", "25"}).notes,
              testing::Contains(HasSubstr("watching fib took")));
}

// A process that watches another and then does nothing more; 0 where it may not.
pid_t start_watcher(pid_t pid) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 0;
  const pid_t watcher = ::fork();
  if (watcher == 0) {
    CallRun run;
    sample::CallRequest request;
    request.patterns = {"step"};
    CallResults results(run, 0);
    PlanStore plans(request, false, run.functions);
    CallTracer tracer(plans, {}, results);
    const char done = tracer.attach(pid) ? 'y' : 'n';
    if (::write(ends[1], &done, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char done = 'n';
  const ssize_t got = ::read(ends[0], &done, 1);
  ::close(ends[0]);
  ::close(ends[1]);
  if (got == 1 && done == 'y') return watcher;
  ::kill(watcher, SIGKILL);
  ::waitpid(watcher, nullptr, 0);
  return 0;
}

// A filter that ends a program which maps memory, as a sandbox has it.
void forbid_mapping() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(77);
}

TEST(NativeCalls, LeavesAProgramThatFiltersItsSystemCallsAlone) {
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    forbid_mapping();
    if (::write(ready[1], "", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  NativeCalls calls;
  calls.request.patterns = {"*"};
  calls.processes = {child};
  calls.most = std::chrono::milliseconds(1);
  const auto run = watch_calls(calls);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it was ended";
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_THAT(run->notes, testing::Contains(HasSubstr("filters its system calls")));
}

TEST(NativeCalls, AProgramOutlivesTheOneThatWatchesIt) {
  Answering program;
  const pid_t watcher = start_watcher(program.pid());
  if (watcher == 0) GTEST_SKIP() << "a process that is no child cannot be traced here";
  program.ask();
  ::kill(watcher, SIGKILL);
  ::waitpid(watcher, nullptr, 0);
  program.ask();
  program.ask('l');  // nobody answers the loader any more
  program.ask();
  EXPECT_EQ(program.end(), 0);
}

}  // namespace
}  // namespace loft::source::calls

#endif
