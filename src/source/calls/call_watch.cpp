#include "source/calls/call_watch.hpp"

#ifdef LOFT_HAS_ENGINE

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "source/calls/budget.hpp"
#include "source/calls/call_tracer.hpp"
#include "source/tick_clock.hpp"

namespace loft::source::calls {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kRound = 50ms;      // between two looks at what functions cost
constexpr Nanoseconds kKeptRound = 10ms;  // and at what was kept
constexpr std::uint64_t kMostUnread = 1u << 18;

ArenaOptions options_for(const sample::CallRequest& request, const TickClock& clock) {
  ArenaOptions options;
  if (!request.keeps_calls) return options;
  options.kept_calls = static_cast<std::uint32_t>(
      std::bit_ceil(std::clamp<std::uint64_t>(request.most_kept, 1, kMostUnread)));
  options.longer = clock.ticks_of(request.longer);
  options.depth = request.depth;
  return options;
}

}  // namespace

struct CallWatch::State {
  explicit State(const sample::CallRequest& wanted)
      : request(wanted),
        results(run, request.most_kept),
        plans(request, request.only_counts, run.functions),
        tracer(plans, options_for(request, clock), results),
        budget(request.budget, cost_of_call(request.only_counts)) {}

  sample::CallRequest request;
  TickClock clock;
  sample::CallRun run;
  CallResults results;
  PlanStore plans;
  CallTracer tracer;
  Budget budget;

  Result<void> check() const {
    if (request.events.empty()) return {};
    return failure(ErrorKind::unsupported, "count events of calls natively",
                   "the native route measures time alone", "use --source virtual");
  }

  void leave_costly_alone() {
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
};

CallWatch::CallWatch(const sample::CallRequest& request)
    : state_(std::make_unique<State>(request)) {}

Result<void> CallWatch::launch(pid_t held) {
  LOFT_CHECK(state_->check());
  return state_->tracer.launch(held);
}

Result<void> CallWatch::attach(pid_t running) {
  LOFT_CHECK(state_->check());
  return state_->tracer.attach(running);
}

int CallWatch::fd() const { return state_->tracer.fd(); }

void CallWatch::drain() { state_->tracer.drain(); }

void CallWatch::look() {
  if (state_->request.keeps_calls) state_->tracer.read();
  if (state_->request.has_budget) state_->leave_costly_alone();
}

std::optional<Nanoseconds> CallWatch::interval() const {
  if (state_->request.keeps_calls) return kKeptRound;
  if (state_->request.has_budget) return kRound;
  return std::nullopt;
}

const std::optional<Error>& CallWatch::error() const { return state_->tracer.error(); }

Result<void> CallWatch::detach() { return state_->tracer.detach(); }

Nanoseconds CallWatch::held() const { return state_->tracer.held(); }

sample::CallRun CallWatch::take() {
  sample::CallRun run = std::move(state_->run);
  run.route = sample::kNativeRoute;
  const double scale = state_->clock.nanoseconds_per_tick();
  run.clock = {scale, state_->clock.start_tick(), state_->clock.start_time()};
  run.quantities.push_back({"time", "ns", scale, sample::Origin::counted, true});
  run.statistics.resize(run.functions.size());
  for (sample::CallStatistics& statistics : run.statistics) statistics.of.resize(1);
  run.has_values = !state_->request.only_counts;
  if (run.has_values) run.overhead_ns = cost_of_clock();
  if (!run.has_values)
    for (sample::CallStatistics& statistics : run.statistics) statistics.of[0] = {};
  run.has_all_calls = state_->request.keeps_calls;
  return run;
}

}  // namespace loft::source::calls

#else

namespace loft::source::calls {

struct CallWatch::State {
  std::optional<Error> error;
};

namespace {

Failure other_code() {
  return failure(ErrorKind::unsupported, "watch calls natively",
                 "this way knows the code of x86-64 alone");
}

}  // namespace

CallWatch::CallWatch(const sample::CallRequest&) : state_(std::make_unique<State>()) {}
Result<void> CallWatch::launch(pid_t) { return other_code(); }
Result<void> CallWatch::attach(pid_t) { return other_code(); }
int CallWatch::fd() const { return -1; }
void CallWatch::drain() {}
void CallWatch::look() {}
std::optional<Nanoseconds> CallWatch::interval() const { return std::nullopt; }
const std::optional<Error>& CallWatch::error() const { return state_->error; }
Result<void> CallWatch::detach() { return {}; }
Nanoseconds CallWatch::held() const { return Nanoseconds(0); }
sample::CallRun CallWatch::take() { return {}; }

}  // namespace loft::source::calls

#endif

namespace loft::source::calls {

CallWatch::CallWatch(CallWatch&&) noexcept = default;
CallWatch::~CallWatch() = default;

}  // namespace loft::source::calls
