#include "source/several_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace loft::source {
namespace {

using sample::Count;
using sample::Origin;
using std::chrono::milliseconds;

CountRequest request_of(const std::vector<std::string>& names) {
  CountRequest request;
  for (const std::string& name : names) {
    request.groups.push_back({{request.events.size()}, false});
    event::Event event;
    event.name = name;
    event.meaning = event::meaning_of(name);
    request.events.push_back(std::move(event));
  }
  return request;
}

// A machine with so many counters, whose events of a set that is too large take turns. Every run
// is a tenth longer than the one before.
class FakeMachine {
 public:
  explicit FakeMachine(std::size_t counters) : counters_(counters) {}

  Result<sample::RunCounts> count(const CountRequest& request) {
    const double length = 1 + 0.1 * runs_++;
    sample::RunCounts run;
    run.wall = milliseconds(100);
    const auto needed = static_cast<std::size_t>(std::ranges::count_if(
        request.events, [](const auto& event) { return event.name != "task-clock"; }));
    for (const auto& event : request.events) {
      const auto value = static_cast<std::uint64_t>(value_of(event.name) * length + 0.5);
      const bool shares = needed > counters_ && event.name != "task-clock";
      run.events.push_back({event.name, "test", "", 1, false,
                            shares
                                ? Count::of_reading(value / 3, milliseconds(100), milliseconds(40))
                                : Count::of_reading(value, milliseconds(100), milliseconds(100))});
      run.events.back().id = event.identity();
    }
    return run;
  }

  [[nodiscard]] int runs() const { return runs_; }

  static double value_of(const std::string& name) {
    return name == "instructions" ? 1e6 : 1000.0 * static_cast<double>(name.back());
  }

 private:
  std::size_t counters_;
  int runs_ = 0;
};

sample::RunCounts counted(FakeMachine& machine, const CountRequest& request, unsigned most = 64) {
  const CountOnce once = [&](const CountRequest& part) { return machine.count(part); };
  auto run = count_in_several_runs(request, once(request).value(), once, most);
  EXPECT_TRUE(run);
  return run.value_or(sample::RunCounts{});
}

TEST(SeveralRuns, ARunThatSharedNothingIsEnough) {
  FakeMachine machine(4);
  const auto run = counted(machine, request_of({"instructions", "a", "b"}));
  EXPECT_EQ(machine.runs(), 1);
  EXPECT_EQ(run.events[1].total.origin, Origin::counted);
}

TEST(SeveralRuns, SplitUntilNothingShares) {
  FakeMachine machine(3);
  const auto request = request_of({"task-clock", "a", "b", "c", "instructions", "d", "e"});
  const auto run = counted(machine, request);
  ASSERT_EQ(run.events.size(), 7u);
  // Everything is brought to one length: ratios to the instructions are those of every run.
  const double instructions = run.events[4].value();
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    EXPECT_EQ(run.events[i].name, request.events[i].name) << "in the order that was asked for";
    if (run.events[i].name == "task-clock") continue;
    EXPECT_NEAR(run.events[i].value() / instructions,
                FakeMachine::value_of(run.events[i].name) / 1e6, 1e-5)
        << run.events[i].name;
  }
  EXPECT_EQ(run.events[0].total.origin, Origin::counted) << "what every run counted is averaged";
  EXPECT_FALSE(run.notes.empty());
}

TEST(SeveralRuns, EndWhereThereIsNoEnd) {
  FakeMachine machine(0);
  const auto run = counted(machine, request_of({"instructions", "a", "b", "c", "d"}), 6);
  EXPECT_LE(machine.runs(), 6);
  EXPECT_EQ(run.events[1].total.origin, Origin::scaled) << "what still shared stays an estimate";
}

TEST(SeveralRuns, PassAFailureOn) {
  FakeMachine machine(1);
  const auto request = request_of({"instructions", "a"});
  const auto run = count_in_several_runs(request, machine.count(request).value(),
                                         [](const CountRequest&) -> Result<sample::RunCounts> {
                                           return failure(ErrorKind::limit, "count", "no more");
                                         });
  EXPECT_FALSE(run);
}

}  // namespace
}  // namespace loft::source
