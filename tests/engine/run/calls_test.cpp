// Running totals of the events that are counted per call: what the counters of blocks say, to the
// last instruction, whatever cuts blocks off.
#include <unistd.h>

#include <numeric>
#include <thread>

#include "engine/call_layout.hpp"
#include "engine/run/under_engine.hpp"

namespace loft::engine {
namespace {

using namespace std::chrono_literals;

constexpr const char* kEvents[] = {"instructions", "load_bytes", "store_bytes", "flops"};

// Nothing is watched, but everything is counted as if it were.
Result<void> run_to_end(Run& run) {
  CallOrder order{};
  for (const char* name : kEvents) order.event[order.events++] = event_table()[*find_event(name)];
  run.shared().ask_for_calls(order);
  const std::jthread answers([&shared = run.shared()](const std::stop_token& stop) {
    for (std::uint32_t answered = 0; !stop.stop_requested();)
      for (const std::uint32_t known = shared.await_mapping(answered, 20ms); answered < known;)
        shared.answer(answered++, {});
  });
  LOFT_CHECK(run.start());
  LOFT_TRY([[maybe_unused]] const ProcessEnd end, run.wait());
  return {};
}

Result<Run> run_with_totals(const std::string& program) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  const Captured quiet;
  LOFT_TRY(Run run, Run::prepare({program}));
  LOFT_CHECK(run_to_end(run));
  return run;
}

std::uint64_t total(const Shared& shared, std::uint32_t slot, std::uint32_t event) {
  std::uint64_t lanes[kTotalLanes] = {};
  const std::uint64_t at =
      kCountersOffset + slot * kCountersPerSlot + total_counter(event, 0) * sizeof lanes[0];
  EXPECT_EQ(::pread(shared.descriptor(), lanes, sizeof lanes, static_cast<off_t>(at)),
            static_cast<ssize_t>(sizeof lanes));
  return std::accumulate(std::begin(lanes), std::end(lanes), std::uint64_t{0});
}

class CallTotals : public testing::TestWithParam<std::string> {};

TEST_P(CallTotals, AreWhatTheBlocksCount) {
  const bool is_exact = GetParam().starts_with("exact");
  const auto run =
      run_with_totals((is_exact ? LOFT_EXACT_PROGRAMS "/" : LOFT_SAMPLES "/") + GetParam());
  ASSERT_TRUE(run) << to_string(run.error());
  Tally tally(run->shared());
  const auto slots = tally.slots();
  ASSERT_FALSE(slots.empty());
  for (const std::uint32_t slot : slots) {
    const auto counted = tally.of_slot(slot);
    ASSERT_TRUE(counted);
    for (std::uint32_t i = 0; i < std::size(kEvents); ++i)
      EXPECT_EQ(total(run->shared(), slot, i), (*counted)[*find_event(kEvents[i])])
          << kEvents[i] << " of slot " << slot;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, CallTotals,
                         testing::Values("storm.c", "signals.c", "interrupted.c", "threads.cpp",
                                         "exact_masks", "exact_restarts", "exact_kernels"));

}  // namespace
}  // namespace loft::engine
