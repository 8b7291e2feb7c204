// Counts of the virtual PMU per function and thread, of a program whose counts are known.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/file.hpp"
#include "engine/run.hpp"
#include "engine/stream.hpp"
#include "engine/tally.hpp"
#include "source/virtual/counting.hpp"
#include "source/virtual/region.hpp"
#include "source/virtual/windows.hpp"
#include "source/virtual_request.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kEvents = "instructions,branches_taken,load_bytes,calls,returns";
const std::string kSamples = LOFT_SAMPLES;
const std::string kProgram = kSamples + "/functions.c";

Result<sample::RunCounts> count(Split split, std::vector<std::string> command,
                                std::string region = {}, const char* events = kEvents,
                                virtual_pmu::WindowKeeper* windows = nullptr) {
  LOFT_TRY(CountRequest request, virtual_request(events, std::move(command)));
  request.split = split;
  request.region = std::move(region);
  request.windows = windows;
  LOFT_TRY(const auto run, virtual_pmu::prepare(request));
  return watch(*run, request, {});
}

class VirtualFunctions : public testing::Test {
 protected:
  void run(Split split, std::vector<std::string> command, std::string region = {}) {
    auto counted = count(split, std::move(command), std::move(region));
    ASSERT_TRUE(counted) << to_string(counted.error());
    run_ = std::move(*counted);
  }

  // The only function of that name whose binary ends so.
  std::uint64_t instructions(const std::string& name, const std::string& binary) const {
    std::uint64_t value = 0;
    int found = 0;
    for (const auto& function : run_.functions)
      if (function.name == name && function.binary.ends_with(binary)) {
        value = function.counts[0].raw;
        ++found;
      }
    EXPECT_EQ(found, 1) << name << " of " << binary;
    return value;
  }

  sample::RunCounts run_;
};

TEST_F(VirtualFunctions, HaveTheirExactCounts) {
  run(Split::functions, {kProgram, kSamples + "/library_1.so", kSamples + "/library_2.so"});
  EXPECT_EQ(instructions("counted_loop", "/functions.c"), 8u * 2002);
  EXPECT_EQ(instructions("call_without_symbol", "/functions.c"), 4u * 2);
}

TEST_F(VirtualFunctions, SumUpToTheTotalOfEveryEvent) {
  run(Split::functions, {kProgram, kSamples + "/library_1.so"});
  for (std::size_t i = 0; i < run_.events.size(); ++i) {
    std::uint64_t sum = 0;
    for (const auto& function : run_.functions) sum += function.counts[i].raw;
    EXPECT_GT(sum, 0u) << run_.events[i].name;
    EXPECT_EQ(sum, run_.events[i].total.raw) << run_.events[i].name;
  }
}

TEST_F(VirtualFunctions, TotalsAreThoseOfARunThatIsNotSplit) {
  const auto whole = count(Split::none, {kSamples + "/counted.S"});
  ASSERT_TRUE(whole);
  run(Split::functions, {kSamples + "/counted.S"});
  for (std::size_t i = 0; i < run_.events.size(); ++i)
    EXPECT_EQ(run_.events[i].total.raw, whole->events[i].total.raw) << run_.events[i].name;
}

TEST_F(VirtualFunctions, ThatDidNothingOfWhatIsAskedForAreLeftOut) {
  for (const Split split : {Split::functions, Split::thread_functions, Split::blocks}) {
    const auto counted = count(split, {kProgram}, {}, "instructions");
    const auto calls = count(split, {kProgram}, {}, "syscalls");
    ASSERT_TRUE(counted && calls);
    const auto rows = [&](const sample::RunCounts& run) {
      return split == Split::blocks ? run.blocks.size() : run.functions.size();
    };
    EXPECT_GT(rows(*calls), 0u);
    EXPECT_LT(rows(*calls), rows(*counted));
    std::uint64_t sum = 0;
    for (const auto& part : calls->functions) sum += part.counts[0].raw;
    for (const auto& part : calls->blocks) sum += part.counts[0].raw;
    EXPECT_EQ(sum, calls->events[0].total.raw);
    for (const auto& part : calls->functions) EXPECT_NE(part.counts[0].raw, 0u) << part.name;
    for (const auto& part : calls->blocks) EXPECT_NE(part.counts[0].raw, 0u) << part.function;
    for (const auto& part : calls->thread_functions) EXPECT_NE(part.counts[0].raw, 0u);
  }
}

TEST_F(VirtualFunctions, ABlockOfTwoFunctionsIsDividedBetweenThem) {
  run(Split::functions, {kProgram});
  EXPECT_EQ(instructions("runs_into", "/functions.c"), 10u * 3);
  EXPECT_EQ(instructions("is_run_into", "/functions.c"), 10u * 2);
}

TEST_F(VirtualFunctions, CodeThatWasUnmappedAndReplacedKeepsItsName) {
  run(Split::functions, {kProgram, kSamples + "/library_1.so", kSamples + "/library_2.so",
                         kSamples + "/library_1.so"});
  EXPECT_EQ(instructions("in_library", "/library_1.so"), 2u * (3 + 2 * 100));
  EXPECT_EQ(instructions("in_library", "/library_2.so"), 3u + 3 * 100);
}

TEST_F(VirtualFunctions, AFileThatWasReplacedGivesNoWrongNames) {
  const std::string copy = kSamples + "/library_replaced.so";
  const std::string other = kSamples + "/library_2.so";
  std::filesystem::copy_file(kSamples + "/library_1.so", copy,
                             std::filesystem::copy_options::overwrite_existing);
  // A shell that runs the program and then puts another library in the place of the one it used.
  run(Split::functions,
      {"/bin/sh", "-c", kProgram + " " + copy + " && rm " + copy + " && cp " + other + " " + copy});
  std::uint64_t of_copy = 0;
  for (const auto& function : run_.functions) {
    if (!function.binary.ends_with("/library_replaced.so")) continue;
    EXPECT_NE(function.name, "in_library");
    of_copy += function.counts[0].raw;
  }
  EXPECT_GE(of_copy, 3u + 2 * 100);
  EXPECT_THAT(run_.notes, testing::Contains(HasSubstr("library_replaced.so")));
  std::filesystem::remove(copy);
}

TEST_F(VirtualFunctions, CodeWithoutASymbolIsShownByItsAddress) {
  run(Split::functions, {kProgram});
  bool found = false;
  for (const auto& function : run_.functions)
    found = found || (function.name.starts_with("functions.c+0x") && function.binary == kProgram &&
                      function.counts[0].raw == 4u * 5);
  EXPECT_TRUE(found);
}

// A stripped file still has tables for unwinding, and these know where functions start.
TEST_F(VirtualFunctions, OfAStrippedFileAreToldApartByTheirStart) {
  run(Split::functions, {kProgram});
  std::vector<std::uint64_t> expected;
  for (const char* name : {"main", "make_code", "thread_of_five"})
    expected.push_back(instructions(name, "/functions.c"));
  const std::string stripped = kSamples + "/functions_stripped";
  ASSERT_EQ(std::system(("strip -o " + stripped + " " + kProgram).c_str()), 0);
  run(Split::functions, {stripped});
  std::vector<std::uint64_t> found;
  for (const auto& function : run_.functions)
    if (function.binary == stripped && function.name.starts_with("functions_stripped+0x"))
      found.push_back(function.counts[0].raw);
  EXPECT_THAT(found, testing::IsSupersetOf(expected));
  std::filesystem::remove(stripped);
}

TEST_F(VirtualFunctions, CodeMadeWhileRunningIsNamedByItsMapOrIsOneFunction) {
  run(Split::functions, {kProgram, "map"});
  EXPECT_EQ(instructions("made_while_running", "//anon"), 7u * 2);
  EXPECT_EQ(instructions("[code without a name]", "//anon"), 9u * 2);
  for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
    if (!entry.path().filename().string().starts_with("perf-")) continue;
    const auto text = read_file(entry.path());
    if (text && text->find("made_while_running") != std::string::npos)
      std::filesystem::remove(entry.path());
  }
}

TEST_F(VirtualFunctions, CodeMadeWhileRunningIsNamedByItsJitdumpInForkedProcessesToo) {
  std::string folder = testing::TempDir() + "loft-dump-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  run(Split::functions, {kProgram, "dump", folder});
  EXPECT_EQ(instructions("told_in_a_dump", "//anon"), 12u * 2);
  std::filesystem::remove_all(folder);
}

TEST_F(VirtualFunctions, TheVdsoIsABinaryOfItsOwn) {
  run(Split::functions, {kProgram});
  std::uint64_t returns = 0;
  for (const auto& function : run_.functions)
    if (function.binary == "[vdso]") {
      EXPECT_THAT(function.name, testing::AnyOf(HasSubstr("clock_gettime"), HasSubstr("vdso")));
      returns += function.counts[4].raw;
    }
  EXPECT_GE(returns, 6u);
}

TEST_F(VirtualFunctions, AreKnownPerThread) {
  run(Split::thread_functions, {kProgram});
  ASSERT_EQ(run_.threads.size(), 2u);
  std::vector<std::vector<std::uint64_t>> sums(2, std::vector<std::uint64_t>(run_.events.size()));
  std::vector<std::uint64_t> loop(2);
  for (const auto& part : run_.thread_functions) {
    for (std::size_t i = 0; i < run_.events.size(); ++i) sums[part.thread][i] += part.counts[i].raw;
    if (run_.functions[part.function].name == "counted_loop")
      loop[part.thread] = part.counts[0].raw;
  }
  EXPECT_EQ(loop, (std::vector<std::uint64_t>{3u * 2002, 5u * 2002}));
  for (std::size_t i = 0; i < run_.events.size(); ++i) {
    EXPECT_EQ(sums[0][i], run_.threads[0].counts[i].raw);
    EXPECT_EQ(sums[1][i], run_.threads[1].counts[i].raw);
    EXPECT_EQ(sums[0][i] + sums[1][i], run_.events[i].total.raw);
  }
}

// counted_loop is entered at its top; its loop is a block of its own, whatever the engine made of
// it.
TEST_F(VirtualFunctions, BasicBlocksAreDisjointAndShowTheirCode) {
  run(Split::blocks, {kProgram});
  std::map<std::uint64_t, std::pair<std::vector<std::string>, std::uint64_t>> loop;
  std::uint64_t sum = 0;
  for (const auto& block : run_.blocks) {
    sum += block.counts[0].raw;
    if (block.function != "counted_loop") continue;
    EXPECT_TRUE(loop.try_emplace(block.offset, std::pair(block.code, block.counts[0].raw)).second);
  }
  EXPECT_EQ(sum, run_.events[0].total.raw);
  ASSERT_EQ(loop.size(), 3u);
  EXPECT_EQ(loop[0].first, std::vector<std::string>{"mov ecx, 0x3E8"});
  EXPECT_EQ(loop[0].second, 8u);
  EXPECT_EQ(loop[5].first.front(), "dec ecx");
  EXPECT_EQ(loop[5].first.size(), 2u);
  EXPECT_EQ(loop[5].second, 8u * 2000);
  EXPECT_EQ(loop[9].first, std::vector<std::string>{"ret"});
  EXPECT_EQ(loop[9].second, 8u);
}

// Inside one function alone. counted_loop has 2002 instructions and is called everywhere.
class VirtualRegion : public VirtualFunctions {
 protected:
  void inside(const std::string& function, const std::string& way, Split split = Split::functions) {
    run(split, {kSamples + "/region.cpp", way}, function);
    ASSERT_EQ(run_.exit_status, 0);
  }
  std::uint64_t loops() const { return instructions("counted_loop", "/region.cpp"); }
};

TEST_F(VirtualRegion, IsExact) {
  inside("straight", "straight");
  EXPECT_EQ(run_.events[0].total.raw, 3u * (4 + 2 * 2005));
  EXPECT_EQ(loops(), 3u * 2 * 2002);
  EXPECT_THAT(run_.notes, testing::Contains(HasSubstr("inside 'straight'")));
}

TEST_F(VirtualRegion, EndsWithTheOutermostCallOfARecursion) {
  inside("recursive", "recursive");
  EXPECT_EQ(run_.events[0].total.raw, 3u * (3 + 7 * 5));
}

TEST_F(VirtualRegion, IsEnteredByRunningIntoIt) {
  inside("fallen_into", "falls");
  EXPECT_EQ(run_.events[0].total.raw, 3u * 2);
  inside("falls_in", "falls");
  EXPECT_EQ(run_.events[0].total.raw, 3u * 4);
}

TEST_F(VirtualRegion, EndsWithATailCallsReturn) {
  inside("tail", "tail");
  EXPECT_EQ(loops(), 3u * 2002);
  EXPECT_LT(run_.events[0].total.raw, 3u * 2100);
}

TEST_F(VirtualRegion, IsLeftByLongjmpAndByExceptions) {
  inside("jumps", "jumps");
  EXPECT_EQ(loops(), 3u * 2002);
  inside("throws", "throws");
  EXPECT_EQ(loops(), 3u * 2002);
}

TEST_F(VirtualRegion, HasTheHandlersOfItsOwnStackAndNotThoseOfAnother) {
  inside("raises", "raises");
  EXPECT_EQ(loops(), 3u * (2 + 7) * 2002);
  inside("raises", "raises-aside");
  EXPECT_EQ(loops(), 3u * 2 * 2002);
}

TEST_F(VirtualRegion, GoesOnInTheChildOfAFork) {
  inside("forks", "forks");
  EXPECT_EQ(loops(), 3u * (1 + 2) * 2002);
}

TEST_F(VirtualRegion, IsEachThreadsOwn) {
  inside("straight", "threads", Split::threads);
  ASSERT_EQ(run_.threads.size(), 4u);
  std::vector<std::uint64_t> counts;
  for (const auto& thread : run_.threads) counts.push_back(thread.counts[0].raw);
  EXPECT_THAT(counts,
              testing::UnorderedElementsAre(4 + 2005, 4 + 2 * 2005, 4 + 3 * 2005, 4 + 4 * 2005));
}

TEST_F(VirtualRegion, MayBeInALibraryThatIsLoadedLate) {
  run(Split::none, {kProgram, kSamples + "/library_1.so", kSamples + "/library_2.so"},
      "in_library");
  EXPECT_EQ(run_.events[0].total.raw, (3u + 2 * 100) + (3u + 3 * 100));
}

TEST_F(VirtualRegion, ThatDoesNotExistIsNotZero) {
  inside("no_such_function", "straight");
  EXPECT_FALSE(run_.events[0].total.is_available());
  EXPECT_THAT(run_.events[0].total.why, HasSubstr("no_such_function"));
}

TEST_F(VirtualRegion, ThatWasNeverCalledIsZero) {
  inside("throws", "straight");
  EXPECT_TRUE(run_.events[0].total.is_available());
  EXPECT_EQ(run_.events[0].total.raw, 0u);
  EXPECT_THAT(run_.notes, testing::Contains(HasSubstr("never called")));
}

// Windows are kept beside counts that stay exact, and name the function that has the loop.
TEST(VirtualWindows, LeaveCountsExactAndNameTheHotFunction) {
  const std::vector<std::string> command = {kSamples + "/windows.c"};
  const auto without = count(Split::functions, command);
  ASSERT_TRUE(without) << to_string(without.error());
  virtual_pmu::WindowPlan plan{.warm_up = 20'000, .length = 4'000, .gap = 10'000};
  plan.stream.first = {};
  virtual_pmu::WindowKeeper keeper(core::find_machine("zen3").value(), plan);
  const auto with = count(Split::functions, command, {}, kEvents, &keeper);
  ASSERT_TRUE(with) << to_string(with.error());
  const auto sum_of = [](const sample::RunCounts& counted) {
    return std::ranges::find(counted.functions, "sum", &sample::FunctionCounts::name);
  };
  ASSERT_NE(sum_of(*with), with->functions.end());
  ASSERT_NE(sum_of(*without), without->functions.end());
  for (std::size_t i = 0; i < with->events.size(); ++i)
    EXPECT_EQ(sum_of(*with)->counts[i].raw, sum_of(*without)->counts[i].raw)
        << with->events[i].name;

  ASSERT_FALSE(keeper.windows().empty());
  std::map<std::string, std::size_t> executed;  // by function
  for (const auto& kept : keeper.windows()) {
    EXPECT_TRUE(core::check(kept.window));
    ASSERT_EQ(kept.functions.size(), kept.window.blocks.size());
    for (const auto& execution : kept.window.executions)
      ++executed[keeper.functions()
                     .at(kept.functions[kept.window.instructions[execution.instruction].block])
                     .name];
  }
  const auto most =
      std::ranges::max_element(executed, {}, [](const auto& entry) { return entry.second; });
  EXPECT_EQ(most->first, "sum");
}

// No window is due in this run: those that are kept were opened for the function that was named.
TEST(VirtualWindows, OpenWhileAHotFunctionRuns) {
  const std::vector<std::string> command = {kSamples + "/windows.c", "1", "8"};
  virtual_pmu::WindowPlan plan{.warm_up = 20'000, .length = 4'000, .gap = 10'000};
  plan.stream.first = std::chrono::hours(1);
  const auto windows_with = [&](std::vector<virtual_pmu::WindowedFunction> hot) {
    plan.hot = std::move(hot);
    virtual_pmu::WindowKeeper keeper(core::find_machine("zen3").value(), plan);
    const auto counted = count(Split::functions, command, {}, kEvents, &keeper);
    EXPECT_TRUE(counted) << to_string(counted.error());
    std::size_t found = 0;
    for (const auto& kept : keeper.windows())
      found += std::ranges::any_of(kept.functions, [&](std::uint32_t number) {
        return keeper.functions().at(number).name == "sum";
      });
    return found;
  };
  const std::string program = std::filesystem::canonical(command[0]).string();
  EXPECT_EQ(windows_with({}), 0u);
  EXPECT_EQ(windows_with({{"nothing_that_runs", program}}), 0u);
  EXPECT_GT(windows_with({{"nothing_that_runs", program}, {"sum", program}}), 0u);
}

// Each side of a region has a stream of its own, with all that it counted.
class VirtualStream : public testing::TestWithParam<const char*> {};

TEST_P(VirtualStream, GoesOnAcrossTheBordersOfARegion) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = engine::Run::prepare({kSamples + "/counted.S"});
  ASSERT_TRUE(run) << to_string(run.error());
  run->shared().ask_for_stream(engine::StreamMode::handed_over);
  const virtual_pmu::RegionGuide guide(run->shared(), GetParam());
  std::map<std::uint32_t, std::uint64_t> streamed;  // instructions by slot
  struct Counting : engine::StreamListener {
    explicit Counting(std::map<std::uint32_t, std::uint64_t>& sums) : by_slot(sums) {}
    void on_block(const engine::StreamedBlock& ran) override {
      by_slot[ran.slot] += ran.block->instructions().size();
    }
    std::map<std::uint32_t, std::uint64_t>& by_slot;
  } listener(streamed);
  engine::StreamReader reader(run->shared(), listener);
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  reader.finish();
  ASSERT_TRUE(end) << to_string(end.error());
  EXPECT_EQ(reader.totals().lost_bytes, 0u);
  engine::Tally tally(run->shared());
  ASSERT_EQ(run->shared().slots().size(), 2u);
  std::uint64_t all = 0;
  for (const std::uint32_t slot : {0u, 1u}) {
    const auto counted = tally.of_slot(slot);
    ASSERT_TRUE(counted);
    all += streamed[slot];
    EXPECT_EQ(streamed[slot], (*counted)[*engine::find_event("instructions")]) << slot;
  }
  EXPECT_EQ(all, 5014005u);
}

// Much outside and little inside; all inside, many buffers of it.
INSTANTIATE_TEST_SUITE_P(Of, VirtualStream, testing::Values("leaf", "_start"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace loft::source
#endif
