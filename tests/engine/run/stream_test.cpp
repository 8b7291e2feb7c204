// The address stream against a single-stepped run of the same program: every access of every
// instruction, in order.
#include <map>

#include "engine/classify/single_step.hpp"
#include "streaming.hpp"
#include "under_engine.hpp"

namespace loft::engine {
namespace {

struct Access {
  std::uint64_t pc;
  Touch touch;
  bool operator==(const Access&) const = default;
};

void PrintTo(const Access& access, std::ostream* out) {
  *out << std::hex << access.pc << (access.touch.is_store ? " stores " : " loads ") << std::dec
       << access.touch.size << " at " << std::hex << access.touch.address;
}

struct Seen {
  std::vector<std::uint64_t> path;  // a repeated instruction once, however it was stepped
  std::vector<Access> accesses;
  std::uint64_t first_outside = 0;

  // Stacks lie elsewhere in every run: their addresses count from the first that is seen.
  void add(std::uint64_t pc, std::span<const Touch> touched) {
    constexpr std::uint64_t kImageEnd = 0x10000000;
    if (path.empty() || path.back() != pc) path.push_back(pc);
    for (Touch touch : touched) {
      if (touch.address >= kImageEnd) {
        if (first_outside == 0) first_outside = touch.address;
        touch.address -= first_outside;
      }
      accesses.push_back({pc, touch});
    }
  }
};

using Ranges = std::vector<FunctionRange>;

bool is_in(const Ranges& ranges, std::uint64_t pc) {
  for (const auto& [start, end] : ranges)
    if (pc >= start && pc < end) return true;
  return false;
}

Seen streamed(const std::string& path, const Ranges& ranges) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  Seen seen;
  Captured captured;
  auto run = Run::prepare({path});
  EXPECT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::handed_over);
  Listening listener([&](const StreamedBlock& ran) {
    for (const StreamedInstruction& instruction : instructions_of(ran))
      if (is_in(ranges, instruction.address)) seen.add(instruction.address, instruction.touched);
  });
  StreamReader reader(run->shared(), listener);
  EXPECT_TRUE(run->start());
  const auto end = run->wait();
  reader.finish();
  EXPECT_TRUE(end) << to_string(end.error());
  EXPECT_EQ(reader.totals().lost_bytes, 0u);
  return seen;
}

Seen stepped(const std::string& path, const Ranges& ranges) {
  Seen seen;
  const auto run = step_through({path}, [&](std::uint64_t pc, const std::vector<Touch>& touched) {
    if (is_in(ranges, pc)) seen.add(pc, touched);
  });
  EXPECT_TRUE(run) << to_string(run.error());
  return seen;
}

void expect_same(const Seen& found, const Seen& expected) {
  EXPECT_GT(expected.accesses.size(), 0u);
  EXPECT_EQ(found.path.size(), expected.path.size());
  EXPECT_TRUE(found.path == expected.path);
  EXPECT_EQ(found.accesses.size(), expected.accesses.size());
  int told = 0;
  for (std::size_t i = 0; i < found.accesses.size() && i < expected.accesses.size(); ++i)
    if (!(found.accesses[i] == expected.accesses[i]) && ++told < 5)
      ADD_FAILURE() << "access " << i << ": " << testing::PrintToString(found.accesses[i])
                    << ", not " << testing::PrintToString(expected.accesses[i]);
}

constexpr int kNotHere = 77;

std::string exact_program(const std::string& name) {
  return std::string(LOFT_EXACT_PROGRAMS) + "/exact_" + name;
}

TEST(Stream, EqualsASteppedRunOfEveryClassOfInstruction) {
  const Ranges all{{0, ~0ull}};
  const std::string path = exact_program("classes");
  Seen found = streamed(path, all);
  found.path.pop_back();  // the exit, of which no step comes back
  expect_same(found, stepped(path, all));
}

class StreamOfKernels : public testing::TestWithParam<const char*> {};

TEST_P(StreamOfKernels, EqualsASteppedRun) {
  const std::string path = exact_program(GetParam());
  const auto functions = functions_of(path);
  ASSERT_TRUE(functions);
  // Those that the program says something about: they touch their own arrays and the stack.
  const auto ran = natively({path});
  if (ran.status == kNotHere) GTEST_SKIP() << "this processor has no tiles";
  Ranges ranges;
  for (const auto& [name, range] : *functions)
    if (ran.output.find("expect " + name + " ") != std::string::npos) ranges.push_back(range);
  ASSERT_GT(ranges.size(), 1u);
  expect_same(streamed(path, ranges), stepped(path, ranges));
}

INSTANTIATE_TEST_SUITE_P(All, StreamOfKernels, testing::Values("kernels", "masks", "tiles"),
                         [](const auto& which) { return std::string(which.param); });

// More than a thousand buffers' worth, and the counts of the same run agree.
TEST(Stream, HasAsManyInstructionsAsWereCounted) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = Run::prepare({sample("counted.S")});
  ASSERT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::handed_over);
  std::uint64_t loads = 0;
  std::uint64_t taken = 0;
  Listening listener([&](const StreamedBlock& ran) {
    for (const StreamTouch& touch : ran.touches()) loads += touch.is_store ? 0 : 1;
    taken += ran.branch() == StreamedBlock::Branch::taken ? 1 : 0;
  });
  StreamReader reader(run->shared(), listener);
  ASSERT_TRUE(run->start());
  ASSERT_TRUE(run->wait());
  reader.finish();
  const std::uint64_t instructions = reader.totals().instructions;
  EXPECT_EQ(instructions, 5014005u);
  EXPECT_EQ(instructions, count_of(*run, "instructions"));
  EXPECT_EQ(taken, 999u * 2000u + 999u);
  EXPECT_EQ(loads, count_of(*run, "loads"));
}

// Blocks are left in their middle by signals, and threads come and go: no instruction is lost.
TEST(Stream, StaysExactUnderSignalsAndThreads) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  for (const char* name : {"signals.c", "storm.c", "threads.cpp", "processes.c"}) {
    Captured captured;
    auto run = Run::prepare({sample(name)});
    ASSERT_TRUE(run);
    run->shared().ask_for_stream(StreamMode::handed_over);
    std::uint64_t instructions = 0;
    Listening listener([&](const StreamedBlock& ran) {
      instructions += ran.block->instructions().size() - (ran.block->is_finished() ? 0 : 1);
    });
    StreamReader reader(run->shared(), listener);
    ASSERT_TRUE(run->start());
    const auto end = run->wait();
    reader.finish();
    captured.release();
    ASSERT_TRUE(end) << name << to_string(end.error());
    EXPECT_EQ(reader.totals().lost_bytes, 0u) << name;
    EXPECT_EQ(instructions, count_of(*run, "instructions")) << name;
  }
}

// What an instruction did before it faulted is in the stream, and once.
TEST(Stream, HasEveryAccessOfInstructionsThatFaultAndStartAgain) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  const std::string path = exact_program("restarts");
  const auto functions = functions_of(path);
  ASSERT_TRUE(functions);
  Captured captured;
  auto run = Run::prepare({path});
  ASSERT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::handed_over);
  std::map<std::string, std::map<std::uint64_t, int>> loaded;  // bytes by function
  std::map<std::string, int> restarted;
  const auto take = [&](const StreamedInstruction& instruction) {
    for (const auto& [name, range] : *functions) {
      if (instruction.address < range.start || instruction.address >= range.end) continue;
      restarted[name] += instruction.is_finished ? 0 : 1;
      for (const Touch& touch : instruction.touched)
        for (std::uint64_t i = 0; i < touch.size; ++i)
          if (!touch.is_store) ++loaded[name][touch.address + i];
    }
  };
  Listening listener([&](const StreamedBlock& ran) {
    for (const StreamedInstruction& instruction : instructions_of(ran)) take(instruction);
  });
  StreamReader reader(run->shared(), listener);
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  reader.finish();
  captured.release();
  ASSERT_TRUE(end);
  ASSERT_EQ(end->shell_status(), 0);
  for (const auto& [name, bytes] : {std::pair{"copy_twice", 300}, std::pair{"gather_twice", 32},
                                    std::pair{"tile_twice", 64 + 16 * 64}}) {
    if (!loaded.contains(name)) continue;  // a processor without such instructions
    EXPECT_EQ(restarted[name], 1) << name;
    int once = 0;
    for (const auto& [address, times] : loaded[name]) once += times == 1 ? 1 : 0;
    EXPECT_EQ(once, bytes + 8) << name;  // and the return address
    EXPECT_EQ(loaded[name].size(), static_cast<std::size_t>(once)) << name;
  }
}

// A fill of 256 MiB is one range, not as many touches.
TEST(Stream, HasRangesOfStringInstructions) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = Run::prepare({sample("filled.S")});
  ASSERT_TRUE(run);
  run->shared().ask_for_stream(StreamMode::handed_over);
  std::vector<StreamTouch> ranges;
  Listening listener([&](const StreamedBlock& ran) {
    for (const StreamTouch& touch : ran.touches())
      if (touch.element != 0) ranges.push_back(touch);
  });
  StreamReader reader(run->shared(), listener);
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  reader.finish();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->shell_status(), 0);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].size, 256u << 20);
  EXPECT_TRUE(ranges[0].is_store);
  EXPECT_EQ(ranges[0].element, 1u);
  EXPECT_EQ(ranges[1].size, 800u);  // rep movsq of 100, downwards
  EXPECT_FALSE(ranges[1].is_store);
  EXPECT_TRUE(ranges[2].is_store && ranges[2].is_down);
  EXPECT_EQ(ranges[2].address - ranges[1].address, 4096u);
  EXPECT_EQ(ranges[1].address, ranges[0].address);
}

}  // namespace
}  // namespace loft::engine
