#include "source/calls/native.hpp"

#ifdef LOFT_HAS_ENGINE

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "source/calls/budget.hpp"
#include "source/calls/call_tracer.hpp"
#include "source/supervisor.hpp"

namespace loft::source::calls {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kRound = 50ms;      // between two looks at what functions cost
constexpr Nanoseconds kKeptRound = 10ms;  // and at what was kept
constexpr std::uint64_t kMostUnread = 1u << 18;
constexpr Nanoseconds kShortestCalibration = 20ms;

// Ticks of the processor against the system's clock, from here to finish().
class TickClock {
 public:
  TickClock() : ticks_(read_ticks()), time_(now()) {}

  sample::CallClock finish() const {
    if (const Nanoseconds passed = now() - time_; passed < kShortestCalibration)
      std::this_thread::sleep_for(kShortestCalibration - passed);
    const std::uint64_t ticks = read_ticks();
    const Nanoseconds time = now();
    const auto passed = static_cast<double>((time - time_).count());
    return {passed / static_cast<double>(ticks - ticks_), ticks_, time_};
  }
  [[nodiscard]] std::uint64_t ticks_of(Nanoseconds time) const {
    if (time.count() <= 0) return 0;
    const double scale = finish().nanoseconds_per_tick;
    return static_cast<std::uint64_t>(static_cast<double>(time.count()) / scale);
  }

 private:
  std::uint64_t ticks_;
  Nanoseconds time_;
};

ArenaOptions options_for(const sample::CallRequest& request, const TickClock& clock) {
  ArenaOptions options;
  if (!request.keeps_calls) return options;
  options.kept_calls = static_cast<std::uint32_t>(
      std::bit_ceil(std::clamp<std::uint64_t>(request.most_kept, 1, kMostUnread)));
  options.longer = clock.ticks_of(request.longer);
  options.depth = request.depth;
  return options;
}

void leave_costly_alone(Budget& budget, CallTracer& tracer, sample::CallRun& run) {
  std::vector<std::uint32_t> functions;
  for (const OverBudget& over : budget.look(tracer.calls(), tracer.cpu_time())) {
    sample::WatchedFunction& function = run.functions[over.function];
    if (!function.is_watched()) continue;
    function.why_not = fmt::format(
        "it was left alone after a while: watching it took {:.0f} % of the program's time",
        100 * over.share);
    function.hint = "raise --budget";
    functions.push_back(over.function);
  }
  if (!functions.empty()) tracer.leave_alone(functions);
}

Result<void> follow(const NativeCalls& calls, Supervisor& supervisor, CallTracer& tracer,
                    sample::CallRun& run) {
  supervisor.on_readable(tracer.fd(), [&] { tracer.drain(); });
  const Nanoseconds begin = now();
  const bool keeps = calls.request.keeps_calls;
  Budget budget(calls.request.budget, cost_of_call(calls.only_counts));
  while (!supervisor.is_over() && !tracer.error()) {
    std::optional<Nanoseconds> wait;
    if (calls.request.has_budget) wait = kRound;
    if (keeps) wait = kKeptRound;
    if (calls.most) wait = std::min(wait.value_or(*calls.most), *calls.most - (now() - begin));
    if (wait && *wait <= 0ns) break;
    LOFT_CHECK(supervisor.wait(wait));
    if (keeps) tracer.read();
    if (calls.request.has_budget) leave_costly_alone(budget, tracer, run);
  }
  return {};
}

Result<void> run_command(const NativeCalls& calls, CallTracer& tracer, sample::CallRun& run) {
  LOFT_TRY(auto child, ChildProcess::prepare(calls.command, calls.streams));
  LOFT_TRY(auto supervisor, Supervisor::create([&](int signal) { child.signal(signal); }));
  LOFT_CHECK(tracer.launch(child.pid()));
  LOFT_CHECK(child.start([&] { tracer.drain(); }));
  LOFT_CHECK(supervisor.follow(child.pid()));
  LOFT_CHECK(follow(calls, supervisor, tracer, run));
  if (tracer.error()) {
    LOFT_CHECK(tracer.detach());
    return tl::make_unexpected(*tracer.error());
  }
  tracer.drain();
  LOFT_TRY(run.end, child.wait());
  return tracer.detach();  // processes that have outlived it
}

Result<void> run_attached(const NativeCalls& calls, CallTracer& tracer, sample::CallRun& run) {
  LOFT_TRY(auto supervisor, Supervisor::create({}));
  const Nanoseconds begin = now();
  for (const pid_t pid : calls.processes) {
    LOFT_CHECK(supervisor.follow(pid));
    LOFT_CHECK(tracer.attach(pid));
  }
  LOFT_CHECK(follow(calls, supervisor, tracer, run));
  tracer.drain();
  LOFT_CHECK(tracer.detach());
  run.notes.push_back(fmt::format("the program was held for {:.1f} ms at most",
                                  static_cast<double>(tracer.held().count()) / 1e6));
  run.end.elapsed = now() - begin;
  if (tracer.error()) return tl::make_unexpected(*tracer.error());
  return {};
}

}  // namespace

Result<sample::CallRun> watch_calls(const NativeCalls& calls) {
  if (!calls.request.events.empty())
    return failure(ErrorKind::unsupported, "count events of calls natively",
                   "the native route measures time alone", "use --source virtual");
  sample::CallRun run;
  run.route = "native";
  run.quantities.push_back({"time", "ns", 1, sample::Origin::counted, true});
  const TickClock clock;
  CallResults results(run, calls.request.most_kept);
  PlanStore plans(calls.request, calls.only_counts, run.functions);
  {
    CallTracer tracer(plans, options_for(calls.request, clock), results);
    LOFT_CHECK(calls.command.empty() ? run_attached(calls, tracer, run)
                                     : run_command(calls, tracer, run));
  }
  run.statistics.resize(run.functions.size());
  for (sample::CallStatistics& statistics : run.statistics) statistics.of.resize(1);
  run.clock = clock.finish();
  run.quantities[0].scale = run.clock.nanoseconds_per_tick;
  run.overhead_ns = calls.only_counts ? 0 : cost_of_clock();
  run.has_all_calls = calls.request.keeps_calls;
  return run;
}

}  // namespace loft::source::calls

#else

namespace loft::source::calls {

Result<sample::CallRun> watch_calls(const NativeCalls&) {
  return failure(ErrorKind::unsupported, "watch calls natively",
                 "this way knows the code of x86-64 alone");
}

}  // namespace loft::source::calls

#endif
