// Modelled events of programs whose misses can be worked out by hand.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "core/geometry.hpp"
#include "source/virtual/counting.hpp"
#include "source/virtual_request.hpp"
#include "source/watch.hpp"

namespace loft::source {
namespace {

using testing::HasSubstr;

const std::string kSamples = LOFT_SAMPLES;
constexpr std::uint64_t kLines = 16384;  // of the 1 MiB that misses.S works on
// Two levels with LRU and no prefetchers: 32 KiB, and 8 MiB in which everything fits.
constexpr const char* kMachine = "cachegrind";

struct Asked {
  Split split = Split::none;
  std::string predictor;
  bool has_model = true;
  std::string region;
  bool is_sampled = false;
  std::vector<std::string> arguments = {};
};

Result<sample::RunCounts> count(const std::string& program, const char* events, Asked asked = {}) {
  std::vector<std::string> command{kSamples + "/" + program};
  command.insert(command.end(), asked.arguments.begin(), asked.arguments.end());
  LOFT_TRY(CountRequest request, virtual_request(events, std::move(command)));
  request.split = asked.split;
  request.region = asked.region;
  LOFT_TRY(auto machine, core::find_machine(kMachine));
  if (!asked.predictor.empty()) {
    LOFT_TRY(machine.branches, core::parse_predictor(asked.predictor, machine.branches));
  }
  if (asked.has_model) request.model = &machine;
  request.model_is_sampled = asked.is_sampled;
  LOFT_TRY(const auto run, virtual_pmu::prepare(request));
  return watch(*run, request, {});
}

// Events of one function by name.
std::map<std::string, std::uint64_t> of(const sample::RunCounts& run, const std::string& function) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& each : run.functions)
    if (each.name == function)
      for (std::size_t i = 0; i < run.events.size(); ++i)
        counts[run.events[i].name] = each.counts[i].raw;
  return counts;
}

// The program is over before its first window is, which begins with it: nothing is estimated.
TEST(VirtualModel, SamplesAShortRunAsAWhole) {
  const auto run = count("misses.S", "l1d_accesses,l1d_hits,l1d_misses,l2_data_misses,page_walks",
                         {.split = Split::functions, .is_sampled = true});
  ASSERT_TRUE(run) << to_string(run.error());
  const auto counts = of(*run, "stream");
  EXPECT_EQ(counts.at("l1d_accesses"), 2 * kLines);
  EXPECT_EQ(counts.at("l1d_misses"), 2 * kLines);
  EXPECT_EQ(counts.at("l2_data_misses"), kLines);
  EXPECT_EQ(counts.at("page_walks"), 256u);
  for (const auto& event : run->events) {
    EXPECT_EQ(event.total.origin, sample::Origin::modelled) << event.name;
    EXPECT_FALSE(event.total.range) << event.name;
  }
}

// A loop that always does the same: its accesses are known to the last one but for the frame. On a
// busy machine few windows fit into a run: then it is repeated for longer.
TEST(VirtualModel, SamplesALongRunWithAnInterval) {
  sample::Count accesses;
  double loads = 0;
  for (int times = 32; !accesses.is_available() && times <= 512; times *= 4) {
    const auto run = count(
        "windows.c", "l1d_accesses,instructions,l1d_evictions",
        {.split = Split::functions, .is_sampled = true, .arguments = {"1", std::to_string(times)}});
    ASSERT_TRUE(run) << to_string(run.error());
    EXPECT_THAT(run->events[2].total.why, HasSubstr("--model full"));
    const auto sum = std::ranges::find(run->functions, "sum", &sample::FunctionCounts::name);
    ASSERT_NE(sum, run->functions.end());
    accesses = sum->counts[0];
    loads = 5000 * 4096.0 * times;  // one of 4 bytes for each number
  }
  ASSERT_TRUE(accesses.is_available()) << accesses.why;
  ASSERT_TRUE(accesses.range);
  EXPECT_NEAR(accesses.value(), loads, loads / 100);
  EXPECT_LE(accesses.range->low, accesses.value());
  EXPECT_GE(accesses.range->high, accesses.value());
}

// "==123== D1  misses:       49,152  (32,832 rd ..." by the words before the colon.
std::map<std::string, std::uint64_t> run_cachegrind(const std::string& program) {
  const std::string command =
      "valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 "
      "--LL=8388608,16,64 --cachegrind-out-file=/dev/null " +
      kSamples + "/" + program + " 2>&1";
  std::map<std::string, std::uint64_t> counts;
  FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return counts;
  char line[512];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    const std::string text = line;
    const auto mark = text.find("== "), colon = text.find(':');
    if (mark == std::string::npos || colon == std::string::npos) continue;
    std::uint64_t value = 0;
    const auto first = text.find_first_not_of(' ', colon + 1);
    for (std::size_t i = first; i < text.size() && (text[i] == ',' || std::isdigit(text[i])); ++i)
      if (text[i] != ',') value = value * 10 + static_cast<std::uint64_t>(text[i] - '0');
    counts[text.substr(mark + 3, colon - mark - 3)] = value;
  }
  ::pclose(output);
  return counts;
}

// A program without a C library, so that both run the same instructions.
TEST(VirtualModel, CountsWhatCachegrindCounts) {
  if (std::system("command -v valgrind >/dev/null") != 0)
    GTEST_SKIP() << "valgrind is not installed";
  auto expected = run_cachegrind("misses.S");
  if (expected["D1  misses"] == 0) GTEST_SKIP() << "valgrind does not run here";
  const auto run = count("misses.S", "l1i_misses,l1d_misses,l2_code_misses,l2_data_misses");
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_EQ(run->events[0].total.raw, expected["I1  misses"]);
  EXPECT_EQ(run->events[1].total.raw, expected["D1  misses"]);
  EXPECT_EQ(run->events[2].total.raw, expected["LLi misses"]);
  EXPECT_EQ(run->events[3].total.raw, expected["LLd misses"]);
}

TEST(VirtualModel, CountsWhatWasWorkedOutByHand) {
  const auto run = count("misses.S",
                         "l1d_accesses,l1d_hits,l1d_misses,l2_data_misses,l1d_write_backs,"
                         "dtlb_misses,page_walks,memory_write_bytes,instructions",
                         {.split = Split::functions});
  ASSERT_TRUE(run) << to_string(run.error());
  // Twice through more than L1 holds; L2 and its TLB keep it.
  auto counts = of(*run, "stream");
  EXPECT_EQ(counts["l1d_accesses"], 2 * kLines);
  EXPECT_EQ(counts["l1d_misses"], 2 * kLines);
  EXPECT_EQ(counts["l2_data_misses"], kLines);
  EXPECT_EQ(counts["dtlb_misses"], 2u * 256);
  EXPECT_EQ(counts["page_walks"], 256u);
  EXPECT_EQ(counts["instructions"], 2 + 4 * 2 * kLines + 4 * 2);
  // A hundred times through one page, which L2 has.
  counts = of(*run, "resident");
  EXPECT_EQ(counts["l1d_misses"], 64u);
  EXPECT_EQ(counts["l1d_hits"], 6400u - 64);
  EXPECT_EQ(counts["l2_data_misses"], 0u);
  EXPECT_EQ(counts["dtlb_misses"], 1u);
  EXPECT_EQ(counts["page_walks"], 0u);
  // A string instruction touches each line of its range once; the first page is in L1.
  counts = of(*run, "write_all");
  EXPECT_EQ(counts["l1d_accesses"], kLines);
  EXPECT_EQ(counts["l1d_misses"], kLines - 64);
  EXPECT_EQ(counts["l1d_write_backs"], kLines - 512);
  EXPECT_EQ(counts["l2_data_misses"], 0u);
  EXPECT_EQ(counts["memory_write_bytes"], 0u);
}

TEST(VirtualModel, SaysThatItIsAModelAndOfWhat) {
  const auto run = count("misses.S", "l1d_misses,instructions");
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_EQ(run->events[0].total.origin, sample::Origin::modelled);
  EXPECT_EQ(run->events[0].total.raw, 2 * kLines + 64 + kLines - 64);
  EXPECT_EQ(run->events[1].total.origin, sample::Origin::counted);
  EXPECT_THAT(run->notes, testing::Contains(HasSubstr("L1D=32k,8,64,lru")));
}

TEST(VirtualModel, WithoutOneEventsAreMissingNotZero) {
  const auto run = count("misses.S", "l1d_misses,instructions", {.has_model = false});
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_FALSE(run->events[0].total.is_available());
  EXPECT_THAT(run->events[0].total.why, HasSubstr("--model full"));
  EXPECT_TRUE(run->events[1].total.is_available());
}

TEST(VirtualModel, WhatTheMachineOrARegionLacksIsMissing) {
  const auto lacking = count("misses.S", "l3_misses,prefetches,l1d_misses");
  ASSERT_TRUE(lacking) << to_string(lacking.error());
  EXPECT_THAT(lacking->events[0].total.why, HasSubstr("no third-level cache"));
  EXPECT_THAT(lacking->events[1].total.why, HasSubstr("prefetches nothing"));
  EXPECT_TRUE(lacking->events[2].total.is_available());
  const auto region = count("misses.S", "l1d_misses,instructions", {.region = "stream"});
  ASSERT_TRUE(region) << to_string(region.error());
  EXPECT_THAT(region->events[0].total.why, HasSubstr("whole run"));
}

TEST(VirtualModel, PredictorsDifferWhereTheyShould) {
  const auto misses = [](const char* predictor) {
    const auto run = count("misses.S", "branch_misses_conditional",
                           {.split = Split::functions, .predictor = predictor});
    return run ? of(*run, "alternate")["branch_misses_conditional"] : 0;
  };
  EXPECT_GT(misses("bimodal"), 900u);
  EXPECT_LT(misses("gshare"), 100u);
  EXPECT_LT(misses("tage"), 100u);
}

// One instruction that writes 256 MiB: every line once, in memory that does not grow with them.
TEST(VirtualModel, AFillTakesEveryLineOnceInLittleMemory) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto run = count("filled.S", "l1d_accesses,l1d_misses,memory_write_bytes");
  ::getrusage(RUSAGE_SELF, &after);
  ASSERT_TRUE(run) << to_string(run.error());
  constexpr std::uint64_t kFilled = (256u << 20) / 64, kL2 = (8u << 20) / 64;
  // Beside the fill 800 bytes are read and written, in lines that left all caches long ago.
  EXPECT_GE(run->events[1].total.raw, kFilled);
  EXPECT_LE(run->events[1].total.raw, kFilled + 28);
  EXPECT_GE(run->events[0].total.raw, run->events[1].total.raw);
  EXPECT_NEAR(run->events[2].total.value(), 64.0 * (kFilled - kL2), 64.0 * 1024);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100 << 10);  // KiB
}

// Processes that fork, spawn and become others; code that is written and rewritten; eight threads.
class ModelOfPrograms : public testing::TestWithParam<const char*> {};

TEST_P(ModelOfPrograms, CountsEveryAccessOnceInEachWay) {
  constexpr const char* kEvents = "l1d_accesses,l1d_hits,l1d_misses,instructions,l1i_accesses";
  const auto by_function = count(GetParam(), kEvents, {.split = Split::functions});
  ASSERT_TRUE(by_function) << to_string(by_function.error());
  std::vector<std::uint64_t> sums(by_function->events.size());
  for (const auto& function : by_function->functions)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += function.counts[i].raw;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_GT(sums[i], 0u) << by_function->events[i].name;
    EXPECT_EQ(sums[i], by_function->events[i].total.raw) << by_function->events[i].name;
  }
  EXPECT_EQ(sums[0], sums[1] + sums[2]);
  for (const std::string& note : by_function->notes)
    EXPECT_THAT(note, testing::Not(HasSubstr("could not be read")));
}

INSTANTIATE_TEST_SUITE_P(All, ModelOfPrograms,
                         testing::Values("processes.c", "self_modifying.c", "threads.cpp"),
                         [](const auto& which) {
                           const std::string name = which.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(VirtualModel, PartsAddUpToTheWhole) {
  constexpr const char* kEvents =
      "l1d_accesses,instructions,l1i_accesses,branch_misses,l2_to_l1_bytes,line_transfers";
  for (const Split split :
       {Split::threads, Split::functions, Split::thread_functions, Split::blocks}) {
    const auto run = count("threads.cpp", kEvents, {.split = split});
    ASSERT_TRUE(run) << to_string(run.error());
    for (std::size_t i = 0; i < run->events.size(); ++i) {
      const std::uint64_t total = run->events[i].total.raw;
      const auto sum = [&](const auto& rows) {
        std::uint64_t all = 0;
        for (const auto& row : rows) all += row.counts[i].raw;
        return all;
      };
      // A program of several threads need not pass a line between them.
      if (i < 5) {
        EXPECT_GT(total, 0u) << run->events[i].name;
      }
      if (!run->threads.empty()) {
        EXPECT_EQ(sum(run->threads), total) << run->events[i].name;
      }
      if (!run->functions.empty()) {
        EXPECT_EQ(sum(run->functions), total) << run->events[i].name;
      }
      if (!run->blocks.empty()) {
        EXPECT_EQ(sum(run->blocks), total) << run->events[i].name;
      }
    }
    EXPECT_FALSE(run->threads.empty() && run->functions.empty() && run->blocks.empty());
  }
}

}  // namespace
}  // namespace loft::source
#endif
