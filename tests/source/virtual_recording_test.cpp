// Recordings by the virtual PMU, of programs whose counts are known.
#ifdef LOFT_HAS_ENGINE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "event/resolver.hpp"
#include "source/file/tasks.hpp"
#include "source/virtual/event_names.hpp"
#include "source/virtual/recording.hpp"

namespace loft::source {
namespace {

using testing::ElementsAre;

const std::string kSamples = LOFT_SAMPLES;

class VirtualRecording : public testing::Test {
 protected:
  void SetUp() override { ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1); }
  void TearDown() override { std::filesystem::remove(path_); }

  sample::TaskTable record(const std::string& events, std::vector<std::string> command) {
    event::ResolverOptions options;
    options.virtual_names = virtual_pmu::event_names;
    options.plain_names = event::PlainNames::virtual_first;
    scheduler::RecordRequest request;
    auto resolved = event::Resolver(options).resolve_list(events);
    EXPECT_TRUE(resolved);
    request.events = std::move(*resolved);
    request.command = std::move(command);
    request.slice = std::chrono::milliseconds(1);
    request.output = path_;
    const auto result = virtual_pmu::record(request);
    EXPECT_TRUE(result) << to_string(result.error());
    const auto recording = Recording::open(path_);
    EXPECT_TRUE(recording) << to_string(recording.error());
    return read_tasks(**recording);
  }

  const std::string path_ =
      testing::TempDir() + "loft-virtual-" + std::to_string(::getpid()) + ".data";
};

TEST_F(VirtualRecording, HoldsExactlyWhatAProgramDid) {
  const auto table = record("instructions,calls,branches_taken", {kSamples + "/counted.S"});
  EXPECT_THAT(table.counters,
              ElementsAre("virtual::instructions", "virtual::calls", "virtual::branches_taken"));
  ASSERT_EQ(table.tasks.size(), 1u);
  EXPECT_THAT(table.tasks[0].counted.counts,
              ElementsAre(5014005u, 1000u, 999u * 2000 + 999 + 2000));
  EXPECT_EQ(table.tasks[0].comm, "counted.S");
  EXPECT_TRUE(table.tasks[0].has_ended);
  EXPECT_GT(table.tasks[0].run_ns.value_or(0), 0u);
}

TEST_F(VirtualRecording, ItsSlicesAddUpToItsThreads) {
  const auto table = record("instructions,store_bytes", {kSamples + "/functions.c"});
  ASSERT_EQ(table.tasks.size(), 2u);
  for (std::size_t task = 0; task < table.tasks.size(); ++task) {
    std::vector<std::uint64_t> sum(2);
    std::uint64_t run_ns = 0;
    for (const sample::TaskSlice& slice : table.slices) {
      if (slice.task != task) continue;
      run_ns += slice.run_ns;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += slice.counted.counts[i];
    }
    EXPECT_EQ(sum, table.tasks[task].counted.counts);
    EXPECT_EQ(run_ns, table.tasks[task].run_ns);
  }
  // thread_of_five calls a loop of 2002 instructions five times.
  EXPECT_GT(table.tasks[1].counted.counts[0], 5u * 2002);
  EXPECT_EQ(table.tasks[1].parent, 0u);
}

}  // namespace
}  // namespace loft::source
#endif
