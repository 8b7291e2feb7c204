// loft record as a user runs it. Without the rights for BPF the cases that are about it are
// skipped.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.hpp"
#include "cli/run_loft.hpp"

namespace loft {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Record : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  [[nodiscard]] std::string file() const { return folder_ + "/perf.data"; }
  Said record(const std::string& flags, const std::string& command) {
    return run_loft("record -o " + file() + " " + flags + " -- " + command);
  }
  json report(const std::string& flags) {
    const Said said = run_loft("report " + file() + " --format json " + flags);
    EXPECT_EQ(said.status, 0) << said.notes;
    return json::parse(said.out, nullptr, false);
  }
  // As a user of its own with these capabilities ("+bpf,+perfmon"); its files are in the folder.
  // Nothing where that cannot be tried.
  std::optional<Said> record_as_user(const std::string& capabilities, const std::string& flags,
                                     const std::string& command) {
    if (::geteuid() != 0 || std::system("setpriv --version >/dev/null 2>&1") != 0)
      return std::nullopt;
    const std::string user = std::to_string(200'000 + ::getpid());
    const std::string list = capabilities.empty() ? "-all" : "-all," + capabilities;
    const std::string line =
        "chmod 777 " + folder_ + " && cp " LOFT_PROGRAM " " LOFT_TEST_THREADS " " + folder_ +
        " && cd " + folder_ + " && setpriv --reuid=" + user + " --regid=" + user +
        " --clear-groups --inh-caps=" + list + " --ambient-caps=" + list + " ./loft record -o " +
        file() + " " + flags + " -- " + command + " >" + folder_ + "/out 2>" + folder_ +
        "/notes </dev/null";
    Said said;
    const int raw = std::system(line.c_str());
    said.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    said.out = read_file(folder_ + "/out").value_or("");
    said.notes = read_file(folder_ + "/notes").value_or("");
    return said;
  }
  // Records by a way to watch that this user or kernel may not have: then the case is skipped,
  // and the answer is false. What the kernel's verifier refuses is our own mistake.
  bool recorded_by(const std::string& recorder, const std::string& flags,
                   const std::string& command) {
    said_ = record("--by " + recorder + " " + flags, command);
    const bool is_refused =
        said_.status == 125 && said_.notes.find("the verifier says") == std::string::npos;
    if (is_refused) [this] { GTEST_SKIP() << said_.notes; }();
    EXPECT_TRUE(is_refused || said_.status == 0) << said_.notes;
    return said_.status == 0;
  }
  [[nodiscard]] bool has_said(const std::string& words) const {
    return said_.notes.find(words) != std::string::npos;
  }

  std::string folder_ = "/tmp/loft-record-XXXXXX";
  Said said_;  // by recorded_by()
};

// Once the perf recorder counted what the kernel told, and the file what was made of it.
TEST_F(Record, WhatWasSeenIsWrittenOrLost) {
  const auto fact = [this](const std::string& name) -> std::uint64_t {
    const std::string bytes = read_file(file()).value_or("");
    const std::size_t at = bytes.find("\n" + name + "=");
    EXPECT_NE(at, std::string::npos) << name;
    return at == std::string::npos ? 0 : std::stoull(bytes.substr(at + name.size() + 2, 20));
  };
  for (const char* recorder : {"bpf", "perf", "threads", "proc"}) {
    if (record(std::string("--recorder ") + recorder, LOFT_TEST_THREADS " 3").status != 0) continue;
    EXPECT_GT(fact("written"), 0u) << recorder;
    EXPECT_EQ(fact("seen"), fact("written") + fact("lost")) << recorder;
  }
}

TEST_F(Record, EveryThreadIsInTheTreeWithItsName) {
  const Said said = record("", LOFT_TEST_THREADS " 3");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json threads = report("--threads");
  std::set<std::string> names;
  for (const json& task : threads["tasks"]) names.insert(task["comm"].get<std::string>());
  EXPECT_THAT(names, ::testing::IsSupersetOf({"work0", "work1", "work2"}));
  EXPECT_EQ(threads["tasks"].size(), 5u);  // work0 has a thread of its own
  EXPECT_EQ(threads["lost"], 0);
}

// Two ways to the same time: the slices, and the switches in and out. A kernel that kept a switch
// to itself makes them differ; the recording says so, and another one is made.
TEST_F(Record, SlicesOfAThreadAddUpToTheTimeBetweenItsSwitches) {
  constexpr int kMostTries = 10;
  bool is_whole = false;
  for (int i = 0; i < kMostTries && !is_whole; ++i) {
    if (!recorded_by("bpf", "-t 1", LOFT_TEST_THREADS " 4")) return;
    is_whole = !has_said("did not tell that a task got a CPU");
  }
  if (!is_whole) GTEST_SKIP() << "the kernel kept switches to itself each time: " << said_.notes;
  std::map<std::uint32_t, std::uint64_t> between;
  const json schedule = report("--schedule");
  for (const json& run : schedule["runs"])
    between[schedule["tasks"][run["task"].get<std::size_t>()]["tid"].get<std::uint32_t>()] +=
        run["end_ns"].get<std::uint64_t>() - run["start_ns"].get<std::uint64_t>();
  std::size_t checked = 0;
  const json threads = report("--threads");
  EXPECT_EQ(threads["lost"], 0);  // a switch that is lost would be missing on one side
  for (const json& task : threads["tasks"]) {
    if (task["tid"] == task["pid"]) continue;  // began between switches, with its exec
    EXPECT_EQ(task["run_ns"], between[task["tid"].get<std::uint32_t>()]) << task.dump();
    ++checked;
  }
  EXPECT_EQ(checked, 5u);
}

TEST_F(Record, AThreadThatRanLongHasManySlicesOfTheirLength) {
  if (!recorded_by("bpf", "-t 2", LOFT_TEST_THREADS " 6")) return;
  const json threads = report("--threads");
  ASSERT_EQ(threads["tasks"].size(), 8u);
  for (const json& task : threads["tasks"])
    EXPECT_GE(task["slices"].get<std::uint64_t>(), task["run_ns"].get<std::uint64_t>() / 4'000'000)
        << task.dump();
}

TEST_F(Record, WithoutPrivilegeThreadsAreRecordedByPerfEvents) {
  if (!recorded_by("perf", "-e page-faults", LOFT_TEST_THREADS " 3")) return;
  EXPECT_THAT(said_.notes, HasSubstr("perf_events"));
  const json threads = report("--threads");
  EXPECT_EQ(threads["watched_by"], "perf");
  EXPECT_EQ(threads["tasks"].size(), 5u);
}

// Two ways to the same time: the slices of all threads, and what the shell was told by the kernel.
TEST_F(Record, InheritedEventsCountTheTimeOfEachThreadOnce) {
  if (!recorded_by("perf", "-t 50 -e page-faults,minor-faults,cpu-clock",
                   "sh -c '" LOFT_TEST_THREADS " 6; cat /proc/$$/stat'"))
    return;
  if (has_said("is missing")) GTEST_SKIP() << said_.notes;
  constexpr std::size_t kUserOfChildren = 13, kSystemOfChildren = 14;  // after the name
  const std::string fields = said_.out.substr(said_.out.rfind(')') + 2);
  const auto words = split(fields, ' ');
  ASSERT_GT(words.size(), kSystemOfChildren) << said_.out;
  const double ticks = parse_double(words[kUserOfChildren]).value_or(0) +
                       parse_double(words[kSystemOfChildren]).value_or(0);
  const double told = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  double run = 0;
  const json threads = report("--threads");
  for (const json& task : threads["tasks"])
    if (!task["run_ns"].is_null()) run += task["run_ns"].get<double>() * 1e-9;
  EXPECT_GT(run, told / 2);
  EXPECT_LT(run, told * 2 + 0.05);
}

TEST_F(Record, TheStatusOfTheProgramIsPassedOn) {
  EXPECT_EQ(record("", "sh -c 'exit 7'").status, 7);
  EXPECT_EQ(record("", "sh -c 'kill -TERM $$'").status, 128 + SIGTERM);
}

TEST_F(Record, AProgramThatIsNotThereLeavesTheOldRecordingAlone) {
  ASSERT_TRUE(replace_file(file(), "old"));
  const Said said = record("", "/no/such/program");
  EXPECT_EQ(said.status, 127);
  EXPECT_EQ(read_file(file()).value_or(""), "old");
}

TEST_F(Record, ProcessesThatExecAreFollowed) {
  const Said said = record("", "sh -c 'sh -c \"/bin/true; /bin/true\"; /bin/true'");
  ASSERT_EQ(said.status, 0) << said.notes;
  std::size_t trues = 0;
  const json threads = report("--threads");
  for (const json& task : threads["tasks"]) trues += task["comm"] == "true";
  EXPECT_EQ(trues, 3u);
}

TEST_F(Record, AFileThatMayNotGrowEndsTheRecordingAndNotTheProgram) {
  const std::string command = "ulimit -f 40; trap '' XFSZ; " LOFT_PROGRAM " record -t 1 -o " +
                              file() +
                              " -- sh -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); "
                              "done; echo done; exit 3' >" +
                              folder_ + "/out 2>" + folder_ + "/notes";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(read_file(folder_ + "/out").value_or(""), "done\n");
  const std::string notes = read_file(folder_ + "/notes").value_or("");
  EXPECT_THAT(notes, HasSubstr("the program goes on"));
  EXPECT_THAT(notes, HasSubstr("is not the whole recording")) << "whatever the program's status";
  // What loft says that it recorded is what the file holds.
  const std::size_t slices = report("--interval")["slices"].size();
  EXPECT_THAT(notes, HasSubstr(": " + std::to_string(slices) + " slices")) << notes;
}

TEST_F(Record, AStreamHoldsTheRecordingAndNotTheOutputOfTheProgram) {
  const std::string fifo = folder_ + "/fifo";
  const std::string loop =
      " -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo said'";
  for (const std::string& command :
       {LOFT_PROGRAM " record -q -o - " + loop + " 2>" + folder_ + "/notes | cat >" + file(),
        "mkfifo " + fifo + "; cat " + fifo + " >" + file() + " & " LOFT_PROGRAM " record -q -o " +
            fifo + loop + " 2>&1 >" + folder_ + "/notes; wait"}) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_EQ(read_file(folder_ + "/notes").value_or(""), "said\n") << command;
    const json threads = report("--threads");
    ASSERT_EQ(threads["tasks"].size(), 1u) << command;
    EXPECT_EQ(threads["tasks"][0]["comm"], "sh");
    EXPECT_GT(threads["tasks"][0]["slices"], 0);
    EXPECT_FALSE(threads["watched_by"].empty());
  }
}

TEST_F(Record, AnEventIsSampledAfterSoManyCounts) {
  const Said said = record("-e page-faults -c 10",
                           "sh -c 'i=0; while [ $i -lt 30 ]; do "
                           "/bin/true; i=$((i+1)); done'");
  ASSERT_EQ(said.status, 0) << said.notes;
  const json whole = report("");
  std::uint64_t samples = 0;
  std::uint64_t period = 0;
  for (const json& event : whole["events"])
    if (event["name"].get<std::string>().starts_with("page-faults")) {
      samples += event["samples"].get<std::uint64_t>();
      period += event["period"].get<std::uint64_t>();
    }
  EXPECT_GT(samples, 10u);
  EXPECT_EQ(period, 10 * samples);
}

TEST_F(Record, AnEnvironmentGivesTheFlagsThatAreNotGiven) {
  const std::string home = "XDG_CONFIG_HOME=" + folder_ + " ";
  const auto run = [&](const std::string& words) {
    return std::system((home + LOFT_PROGRAM " " + words + " >" + folder_ + "/out 2>&1").c_str());
  };
  ASSERT_EQ(run("env add quick --events page-faults -t 1 --types pmu,fork"), 0);
  EXPECT_NE(run("env add quick -t 2"), 0) << "it is there already";
  ASSERT_EQ(run("env list"), 0);
  EXPECT_EQ(read_file(folder_ + "/out").value_or(""),
            "quick\t-e page-faults -t 1 --types pmu,fork\n");
  ASSERT_EQ(run("record --env quick -o " + file() + " -- " LOFT_TEST_THREADS " 2"), 0);
  const json threads = report("--threads");
  EXPECT_TRUE(threads["tasks"][0]["counts"].contains("page-faults"));
  const json schedule = report("--schedule");
  EXPECT_TRUE(schedule["runs"].empty()) << "switches were not wanted";
  EXPECT_NE(run("record --env none -o " + file() + " -- true"), 0);
  EXPECT_EQ(run("env remove quick"), 0);
  EXPECT_NE(run("env remove quick"), 0);
}

// A recorder that is killed leaves a file that can be read, and a program that goes on.
TEST_F(Record, KilledAtAnyMomentItLeavesAReadableFile) {
  const std::string start =
      std::string(LOFT_PROGRAM) + " record -t 1 -o " + file() + " -- sh -c 'echo $$ >" + folder_ +
      "/program; while :; do :; done' 2>/dev/null & echo $! >" + folder_ + "/loft";
  ASSERT_EQ(std::system(start.c_str()), 0);
  for (int i = 0; i < 100 && !file_exists(folder_ + "/program"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const pid_t loft = std::atoi(read_line(folder_ + "/loft").value_or("0").c_str());
  const pid_t program = std::atoi(read_line(folder_ + "/program").value_or("0").c_str());
  ASSERT_GT(loft, 1);
  ASSERT_GT(program, 1);
  ::kill(loft, SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(::kill(program, 0), 0) << "the program must go on";
  ::kill(program, SIGKILL);
  const json threads = report("--threads");
  ASSERT_TRUE(threads.is_object());
  std::uint64_t run = 0;
  for (const json& task : threads["tasks"])
    run += task["run_ns"].is_null() ? 0 : task["run_ns"].get<std::uint64_t>();
  EXPECT_GT(run, 0u);
}

#ifdef LOFT_TEST_CALLS
// Which is what a user knows as loft: another process has measured, ends that, and writes it.
TEST_F(Record, KilledWhileItRecordsCallsItLosesNoneThatHadEnded) {
  int in[2], out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  const pid_t loft = ::fork();
  if (loft == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(::open("/dev/null", O_WRONLY), 2);
    ::execl(LOFT_PROGRAM, "loft", "record", "--calls", "step", "-o", file().c_str(), "--",
            LOFT_TEST_CALLS, "waits", nullptr);
    ::_exit(1);
  }
  ::close(in[0]);
  ::close(out[1]);
  const auto ask = [&] {
    char byte = 'x';
    return ::write(in[1], &byte, 1) == 1 && ::read(out[0], &byte, 1) == 1;
  };
  EXPECT_TRUE(ask() && ask() && ask());
  ::kill(loft, SIGKILL);
  ::waitpid(loft, nullptr, 0);
  Said said;
  for (int i = 0; i < 200; ++i) {
    said = run_loft("report " + file() + " --format json --calls");
    if (said.status == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(ask()) << "the program must go on";
  ::close(in[1]);
  char byte = 0;
  EXPECT_EQ(::read(out[0], &byte, 1), 0) << "it ends";
  ::close(out[0]);
  ASSERT_EQ(said.status, 0) << said.notes;
  const json calls = json::parse(said.out, nullptr, false);
  EXPECT_EQ(calls["functions"][0]["calls"], 300);
  EXPECT_EQ(calls["calls"].size(), 300u);
  EXPECT_THAT(calls["notes"].dump(), HasSubstr("loft was ended"));
}
#endif

// Two loops share a CPU: the first has waited for it long before anybody watched.
TEST_F(Record, WhatAProcessWaitedBeforeItWasWatchedIsNotInItsRecording) {
  const std::string stop = folder_ + "/stop";
  const std::string loop = "taskset -c 0 sh -c 'while [ ! -e " + stop + " ]; do :; done' & ";
  const std::string begin = loop + "first=$!; " + loop +
                            "sleep 0.4; " LOFT_PROGRAM " record --by bpf -t 1 -o " + file() +
                            " -p $first & loft=$!; ";
  // Until there are slices, or loft has ended since it may not record.
  const std::string command = "{ " + begin + "while kill -0 $loft && [ $(cat " + file() +
                              " | wc -c) -lt 20000 ]; do sleep 0.05; done; touch " + stop +
                              "; wait; } >/dev/null 2>&1";
  (void)std::system(command.c_str());
  if (!read_file(file())) GTEST_SKIP() << "this user may not record by BPF";
  std::uint64_t end = 0;
  const json slices = report("--interval");
  for (const json& slice : slices["slices"])
    end = std::max(end, slice["end_ns"].get<std::uint64_t>());
  const json task = report("--threads")["tasks"].at(0);
  ASSERT_GT(end, task["start_ns"].get<std::uint64_t>());
  EXPECT_LE(task["wait_ns"].get<std::uint64_t>(), end - task["start_ns"].get<std::uint64_t>());
}

// A process goes on when one of its threads ends, and so does what the kernel tells of it.
TEST_F(Record, AnAttachedProcessKeepsItsNamesWhenOneOfItsThreadsEnds) {
  if (!recorded_by("bpf", "", "/bin/true")) return;
  std::filesystem::remove(file());
  const std::string script =
      "mkfifo " + folder_ +
      "/input; " LOFT_TEST_THREADS " wait " LOFT_TEST_KERNELS " triad 60000 >/dev/null <" +
      folder_ + "/input & pid=$!; exec 3>" + folder_ +
      "/input; " LOFT_PROGRAM " record --recorder bpf -t 1 -p $pid -o " + file() +
      " 2>/dev/null & " + "while ! [ -s " + file() + " ]; do sleep 0.05; done; echo >&3; wait";
  ASSERT_EQ(std::system(("timeout 60 bash -c '" + script + "'").c_str()), 0);
  bool has_kernel = false;
  const json recorded = report("");
  for (const json& row : recorded["rows"]) has_kernel |= row["function"] == "triad_kernel";
  EXPECT_TRUE(has_kernel) << recorded["rows"];
}

// Another program, which loft did not start, is there as well, and so are both CPUs' tasks.
TEST_F(Record, TheWholeMachineIsEverythingThatRuns) {
  const std::string other = folder_ + "/other";
  std::system(("cp /bin/sh " + other).c_str());
  // It works until it is told to stop, for some seconds at most.
  std::system((other + " -c 'i=0; while [ $i -lt 3000000 ] && ! [ -e " + folder_ +
               "/stop ]; do i=$((i + 1)); done' &")
                  .c_str());
  const bool is_recorded = recorded_by("bpf", "-a -F 500", LOFT_TEST_THREADS " 2");
  ASSERT_TRUE(replace_file(folder_ + "/stop", ""));
  if (!is_recorded) return;
  std::map<std::string, std::uint64_t> run_ns;
  const json tasks = report("--tasks");
  for (const json& task : tasks["tasks"])
    if (task["run_ns"].is_number()) run_ns[task["comm"]] += task["run_ns"].get<std::uint64_t>();
  EXPECT_GT(run_ns["other"], 0u) << "it ran already";
  EXPECT_GT(run_ns["work1"], 0u) << "the command";
  std::uint64_t sampled = 0;
  bool has_idle = false;
  const json by_process = report("--by process");
  for (const json& row : by_process["rows"]) {
    sampled += row["comm"] == "other" ? row["samples"].get<std::uint64_t>() : 0;
    has_idle |= row["pid"] == 0;
  }
  EXPECT_GT(sampled, 0u);
  EXPECT_FALSE(has_idle) << "idle time is nobody's";
}

TEST_F(Record, WhoMayNotWatchTheWholeMachineIsToldWhatItTakes) {
  const auto said = record_as_user("", "-a", "true");
  if (!said) GTEST_SKIP() << "needs root and setpriv";
  EXPECT_EQ(said->status, 125);
  EXPECT_THAT(said->notes, HasSubstr("record the whole machine"));
  EXPECT_THAT(said->notes, HasSubstr("cap_bpf,cap_perfmon"));
}

// With -F the kernel chooses how many faults lie between two samples, and says it in each.
TEST_F(Record, AnyEventIsSampledAtAFrequency) {
  const Said said = record("-e page-faults -F 2000", "sh -c 'ls >/dev/null; ls >/dev/null'");
  ASSERT_EQ(said.status, 0) << said.notes;
  bool is_sampled = false;
  const json profile = report("");
  for (const json& event : profile["events"]) {
    const std::string name = event["name"];
    EXPECT_FALSE(name.starts_with("cpu-clock") || name.starts_with("cycles")) << name;
    if (!name.starts_with("page-faults")) continue;
    is_sampled = event["samples"].get<std::uint64_t>() > 1;
    EXPECT_GE(event["period"].get<std::uint64_t>(), event["samples"].get<std::uint64_t>());
  }
  EXPECT_TRUE(is_sampled) << profile;
}

TEST_F(Record, CallStacksAreInTheSameFile) {
  const Said said = record("-F 2000 -g fp", LOFT_TEST_THREADS " 3");
  ASSERT_EQ(said.status, 0) << said.notes;
  bool has_stacks = false;
  const json profile = report("");
  for (const json& event : profile["events"])
    has_stacks |= event["name"].get<std::string>().starts_with("cpu-clock") ||
                  event["name"].get<std::string>().starts_with("cycles");
  EXPECT_TRUE(has_stacks);
}

TEST_F(Record, TwoCapabilitiesAreEnoughForTheProbeAndAreDroppedWhenItIsLoaded) {
  if (!recorded_by("bpf", "", "/bin/true")) return;
  const auto said = record_as_user("+bpf,+perfmon", "--by bpf",
                                   "sh -c 'grep CapEff /proc/$PPID/status; ./loft_test_threads 2'");
  if (!said) GTEST_SKIP() << "needs root and setpriv";
  ASSERT_EQ(said->status, 0) << said->notes;
  EXPECT_THAT(said->out, ::testing::StartsWith("CapEff:\t0000000000000000\n"));
  EXPECT_EQ(report("--threads")["watched_by"], "bpf");
}

TEST_F(Record, AUserWithoutAnyCapabilityRecordsTheSlicesOfEveryThread) {
  const auto said = record_as_user("", "-t 1", "./loft_test_threads 3");
  if (!said) GTEST_SKIP() << "needs root and setpriv";
  ASSERT_EQ(said->status, 0) << said->notes;
  const json threads = report("--threads");
  if (threads["watched_by"] == "proc") GTEST_SKIP() << said->notes;
  EXPECT_EQ(threads["watched_by"], "perf");
  ASSERT_EQ(threads["tasks"].size(), 5u);
  for (const json& task : threads["tasks"]) EXPECT_GT(task["slices"], 0) << task.dump();
}

TEST_F(Record, EveryThreadCanHaveCountersOfItsOwn) {
  if (!recorded_by("threads", "-e page-faults", LOFT_TEST_THREADS " 3")) return;
  const json threads = report("--threads");
  EXPECT_EQ(threads["watched_by"], "threads");
  std::set<std::string> names;
  ASSERT_EQ(threads["tasks"].size(), 5u);
  for (const json& task : threads["tasks"]) {
    names.insert(task["comm"].get<std::string>());
    EXPECT_GT(task["run_ns"], 0) << task.dump();
    EXPECT_GT(task["slices"], 0) << task.dump();
    EXPECT_TRUE(task["wait_ns"].is_null()) << "nobody has measured it";
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"work0", "work1", "work2"}));
}

// A clock counts the run time while its set has its turn: scaled, it must give all of it.
void expect_run_time(const json& task) {
  const json& clock = task["estimates"]["cpu-clock"];
  EXPECT_EQ(clock["kind"], "scaled") << task.dump();
  EXPECT_GT(clock["running"], 0.0) << task.dump();
  EXPECT_LT(clock["running"], 1.0) << task.dump();
  const double run = task["run_ns"].get<double>();
  EXPECT_NEAR(task["counts"]["cpu-clock"].get<double>(), run, 0.1 * run) << task.dump();
}

constexpr const char* kLongLoop = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'";

TEST_F(Record, SetsOfEventsTakeTurnsAndAreScaled) {
  for (const char* recorder : {"bpf", "threads"}) {
    if (!recorded_by(recorder, "-t 5 -e 'cpu-clock;page-faults,alignment-faults'", kLongLoop))
      return;
    EXPECT_THAT(said_.notes, HasSubstr("2 sets of events took turns"));
    const json threads = report("--threads");
    ASSERT_EQ(threads["tasks"].size(), 1u) << threads.dump();
    const json& task = threads["tasks"][0];
    expect_run_time(task);
    const double shares = task["estimates"]["cpu-clock"]["running"].get<double>() +
                          task["estimates"]["page-faults"]["running"].get<double>();
    EXPECT_GT(shares, 0.5) << recorder;
    EXPECT_LE(shares, 1.0) << recorder;
  }
}

TEST_F(Record, WhereSetsTookTurnsASliceTellsWhatItKnows) {
  if (!recorded_by("bpf", "-t 1 -e 'cpu-clock;page-faults'", kLongLoop)) return;
  std::size_t unknown = 0;
  const json slices = report("--interval");
  for (const json& slice : slices["slices"]) {
    const auto kind =
        slice["estimates"].value("cpu-clock", json::object()).value("kind", "counted");
    EXPECT_EQ(slice["counts"]["cpu-clock"].is_null(), kind == "missing") << slice.dump();
    unknown += kind == "missing" ? 1 : 0;
  }
  EXPECT_GT(unknown, 0u) << "turns are longer than these slices";
  EXPECT_THAT(run_loft("report " + file()).out, HasSubstr("2 sets of events took turns"));
  EXPECT_LT(unknown, slices["slices"].size());
}

// The program writes the control file itself. Its faults, which both sets have, are those that the
// kernel counted, and all of them although sets changed meanwhile.
TEST_F(Record, EventsAreChangedByAFileWhileTheProgramRuns) {
  const std::string script =
      "faults() { read -r a b c d e f g h i faults rest </proc/$$/stat; echo $faults; }\n"
      "faults\n"
      "until grep -q 'counts minor-faults,cpu-clock' notes; do\n"
      "  [ \"$(cat control)\" = minor-faults,cpu-clock ] || echo minor-faults,cpu-clock >control\n"
      "done\n"
      "echo no-such-event >control\n"
      "until grep -q \"not used.*no-such-event\" notes; do :; done\n"
      "echo minor-faults >control\n"
      "until grep -q 'counts minor-faults$' notes; do :; done\n"
      "faults\n";
  ASSERT_TRUE(replace_file(folder_ + "/script", script));
  ASSERT_TRUE(replace_file(folder_ + "/control", "minor-faults # at first\n"));
  const std::string line = "cd " + folder_ +
                           " && " LOFT_PROGRAM
                           " record --by bpf --control control -t 5 -o perf.data -- sh script "
                           ">out 2>notes </dev/null";
  const int status = std::system(line.c_str());
  const std::string notes = read_file(folder_ + "/notes").value_or("");
  if (WEXITSTATUS(status) == 125 && notes.find("the verifier says") == std::string::npos)
    GTEST_SKIP() << notes;
  ASSERT_EQ(status, 0) << notes;
  const std::string out = read_file(folder_ + "/out").value_or("");
  const auto lines = split(trim(out), '\n');
  ASSERT_EQ(lines.size(), 2u);
  const std::uint64_t first = parse_u64(lines[0]).value_or(0);
  const std::uint64_t last = parse_u64(lines[1]).value_or(0);
  const json threads = report("--threads");
  const json& task = threads["tasks"][0];
  const auto faults = task["counts"]["minor-faults"].get<std::uint64_t>();
  EXPECT_FALSE(task["estimates"].contains("minor-faults")) << "it was counted all the time";
  EXPECT_GE(faults, last - first) << notes;
  EXPECT_LE(faults, last + 50) << "what it does after the last line is little";
  EXPECT_EQ(task["estimates"]["cpu-clock"]["kind"], "scaled") << task.dump();
  std::size_t counted = 0;
  const json slices = report("--interval");
  for (const json& slice : slices["slices"]) {
    const auto kind =
        slice["estimates"].value("cpu-clock", json::object()).value("kind", "counted");
    EXPECT_NE(kind, "scaled") << "a slice is of one set: " << slice.dump();
    counted += kind == "counted" ? 1 : 0;
  }
  EXPECT_GT(counted, 0u);
  EXPECT_LT(counted, slices["slices"].size());
  EXPECT_TRUE(file_exists(folder_ + "/control")) << "it was there before";
}

TEST_F(Record, AControlFileIsForOneSetAfterTheOther) {
  EXPECT_THAT(record("--control " + folder_ + "/c -e 'cpu-clock;page-faults'", "true").notes,
              HasSubstr("one set of events after the other"));
  EXPECT_THAT(record("--by threads --control " + folder_ + "/c -e page-faults", "true").notes,
              HasSubstr("it cannot change events while it counts"));
  EXPECT_FALSE(file_exists(folder_ + "/c")) << "one that loft made goes with it";
}

TEST_F(Record, WhoCannotSwitchSetsSaysSo) {
  const Said said = record("--by perf -e 'cpu-clock;page-faults'", "/bin/true");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("turns"));
}

TEST_F(Record, WhoEndsWithTheProgramDoesNotPromiseToWaitForAll) {
  const Said said = record("--by threads --all", "/bin/true");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("--all"));
}

TEST_F(Record, LookingIntoProcTellsHowLongAProgramRan) {
  const Said said =
      record("--by proc",
             "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; cat /proc/$$/schedstat'");
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("/proc"));
  const json threads = report("--threads");
  EXPECT_EQ(threads["watched_by"], "proc");
  EXPECT_EQ(threads["tasks"][0]["comm"], "sh");
  // What it ran before its exec is not in the recording, and is not much.
  EXPECT_GT(threads["tasks"][0]["run_ns"].get<double>(), std::atof(said.out.c_str()) / 2);
}

TEST_F(Record, AnIsolatedProgramRunsWhereOthersDoNot) {
  const auto said = record_as_user(
      "", "--isolate", "sh -c 'grep Cpus_allowed_list /proc/self/status /proc/$PPID/status'");
  if (!said) GTEST_SKIP() << "needs root and setpriv";
  ASSERT_EQ(said->status, 0) << said->notes;
  if (said->notes.find("only one CPU") != std::string::npos) GTEST_SKIP() << said->notes;
  EXPECT_THAT(said->notes, HasSubstr("isolated: the program on CPU"));
  const auto program = said->out.substr(0, said->out.find('\n'));
  const auto loft = said->out.substr(said->out.find('\n') + 1);
  EXPECT_NE(program.substr(program.rfind('\t')), trim(loft).substr(trim(loft).rfind('\t')));
}

TEST_F(Record, APageIsWrittenBesideTheRecording) {
  const Said said =
      run_loft("record -F 500 -o " + folder_ + "/run.html -- " LOFT_TEST_THREADS " 2");
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(read_file(folder_ + "/run.html").value_or(""), HasSubstr("<html"));
  EXPECT_EQ(run_loft("report --threads " + folder_ + "/run.data").status, 0);
}

TEST_F(Record, HowToIsolateIsNothingWithoutIsolation) {
  EXPECT_THAT(record("--fifo", "/bin/true").notes, HasSubstr("--isolate"));
  EXPECT_THAT(record("--isolate --cpus 9999", "/bin/true").notes, HasSubstr("may use only"));
}

TEST_F(Record, NothingToRecordIsSaidBeforeAnythingIsWritten) {
  const Said said = run_loft("record -o " + file());
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("nothing to record"));
  EXPECT_FALSE(file_exists(file()));
}

// "cat" waits for somebody who opens the other end of its FIFO, which the shell does when it sees
// it wait.
TEST_F(Record, WhereThreadsBlockIsRecordedWithTheirStacksAndWhoWokeThem) {
  const std::string fifo = folder_ + "/fifo";
  const Said said = record("--off-cpu", "sh -c 'mkfifo " + fifo + "; cat " + fifo +
                                            " & while ! grep -q \"State:.S\" /proc/$!/status; do "
                                            ":; done; echo > " +
                                            fifo + "; wait'");
  if (said.status == 125) GTEST_SKIP() << said.notes;
  EXPECT_THAT(said.notes, HasSubstr("loft report --event offcpu-time"));
  std::map<std::string, double> blocked;
  const json threads = report("--event offcpu-time --by comm");
  for (const json& row : threads["rows"])
    blocked[row["comm"].get<std::string>()] += row["period"].get<double>();
  EXPECT_GT(blocked["cat"], 0);
  EXPECT_GT(blocked["sh"], 0) << "it waits for cat";
  EXPECT_THAT(run_loft("report " + file() + " --event offcpu-time --tree").out,
              ::testing::AnyOf(HasSubstr("schedule"), HasSubstr("[kernel]")));
  if (said.notes.find("who woke whom is not known") != std::string::npos) return;
  double known = 0;
  bool has_pair = false;
  const json wakeups = report("--wakeups");
  for (const json& one : wakeups["wakeups"]) {
    known += one["blocked_s"].get<double>();
    has_pair = has_pair || (one["woken"]["comm"] == "cat" && one["by"].is_object() &&
                            one["by"]["comm"] == "sh" && one["times"] >= 1);
  }
  EXPECT_TRUE(has_pair) << run_loft("report --wakeups " + file()).out;
  double all = 0;
  for (const auto& [name, period] : blocked) all += period * 1e-9;
  EXPECT_GE(known, all * 0.999) << "whoever did it, all that blocked was woken";
}

TEST_F(Record, BlockingNeedsSwitchesAndMoreThanAnOrdinaryUserMay) {
  EXPECT_THAT(record("--off-cpu --types pmu", "true").notes, HasSubstr("needs every switch"));
  EXPECT_EQ(record("--off-cpu --source virtual", "true").status, 125);
  const auto said = record_as_user("", "--off-cpu", "true");
  if (!said) GTEST_SKIP() << "needs root and setpriv";
  if (said->status == 0) GTEST_SKIP() << "perf_event_paranoid lets everybody";
  EXPECT_THAT(said->notes, HasSubstr("perf_event_paranoid"));
}

}  // namespace
}  // namespace loft
