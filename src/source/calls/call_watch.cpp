#include "source/calls/call_watch.hpp"

#ifdef LOFT_HAS_ENGINE

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sample/unwatchable.hpp"
#include "source/calls/budget.hpp"
#include "source/calls/call_tracer.hpp"
#include "source/calls/energy_course.hpp"
#include "source/tick_clock.hpp"

namespace loft::source::calls {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kRound = 50ms;       // between two looks at what functions cost
constexpr Nanoseconds kKeptRound = 10ms;   // and at what was kept
constexpr Nanoseconds kEnergyRound = 1ms;  // as often as RAPL's meters move
constexpr std::uint64_t kMostUnread = 1u << 18;

sample::CallRequest with_single_calls(sample::CallRequest request) {
  request.keeps_calls = true;
  return request;
}

ArenaOptions options_for(const sample::CallRequest& request, const TickClock& clock,
                         double clock_ns, const Counters* counters) {
  ArenaOptions options;
  options.floor = clock.ticks_of(Nanoseconds(static_cast<std::int64_t>(clock_ns)));
  if (counters != nullptr) options.counters = static_cast<std::uint32_t>(counters->events().size());
  if (!request.keeps_calls) return options;
  options.kept_calls = static_cast<std::uint32_t>(
      std::bit_ceil(std::clamp<std::uint64_t>(request.most_kept, 1, kMostUnread)));
  options.longer = clock.ticks_of(request.longer);
  options.depth = request.depth;
  return options;
}

}  // namespace

struct CallWatch::State {
  State(const sample::CallRequest& wanted, CallMeters beside)
      : request(beside.energy ? with_single_calls(wanted) : wanted),
        meters(std::move(beside)),
        results(run, request.most_kept, counters()),
        plans(request, request.only_counts, run.functions),
        tracer(plans, options_for(request, clock, clock_ns, meters.counters.get()), results,
               meters.counters.get()),
        budget(request.budget, cost_of_call(request.only_counts)) {}

  [[nodiscard]] std::uint32_t counters() const {
    return meters.counters == nullptr
               ? 0
               : static_cast<std::uint32_t>(meters.counters->events().size());
  }

  sample::CallRequest request;
  CallMeters meters;
  TickClock clock;
  double clock_ns = cost_of_clock();
  std::optional<EnergyCourse> energy;
  sample::CallRun run;
  CallResults results;
  PlanStore plans;
  CallTracer tracer;
  Budget budget;

  Result<void> check() {
    if (meters.energy && !energy) {
      LOFT_TRY(energy, EnergyCourse::open(meters.root));
    }
    if (counters() > LOFT_CALLS_COUNTER_COUNT)
      return failure(ErrorKind::invalid_input, "count events of calls natively",
                     fmt::format("{} are too many", counters()),
                     fmt::format("ask for at most {}", LOFT_CALLS_COUNTER_COUNT));
    return meters.counters == nullptr ? Result<void>() : meters.counters->check();
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

CallWatch::CallWatch(const sample::CallRequest& request, CallMeters meters)
    : state_(std::make_unique<State>(request, std::move(meters))) {}

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
  if (state_->energy) state_->energy->sample(now());
  if (state_->request.keeps_calls) state_->tracer.read();
  if (state_->request.has_budget) state_->leave_costly_alone();
}

std::optional<Nanoseconds> CallWatch::interval() const {
  if (state_->meters.energy) return kEnergyRound;
  if (state_->request.keeps_calls) return kKeptRound;
  if (state_->request.has_budget) return kRound;
  return std::nullopt;
}

const std::optional<Error>& CallWatch::error() const { return state_->tracer.error(); }

Result<void> CallWatch::detach() { return state_->tracer.detach(); }

Nanoseconds CallWatch::held() const { return state_->tracer.held(); }

double CallWatch::nanoseconds_per_call() const { return cost_of_call(state_->request.only_counts); }

namespace {

// The counters' quantities, or none of them where one was not counted all the time.
void describe_counts(sample::CallRun& run, const Counters& counters, const CallResults& results) {
  std::string names;
  for (const event::Event& event : counters.events()) {
    names += (names.empty() ? "" : ", ") + event.name;
    run.quantities.push_back({event.name, event.unit.empty() ? "" : event.unit, event.scale});
  }
  if (!results.why_no_counts()) {
    run.notes.push_back(
        "counts of hardware hold a little of the measuring itself; calls that had not "
        "ended are in no count");
    return;
  }
  const std::size_t width = run.quantities.size();
  const auto narrow = [width](std::vector<sample::CallValue>& values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); i += width) values[kept++] = values[i];
    values.resize(kept);
  };
  narrow(run.values);
  narrow(run.node_values);
  run.quantities.resize(1);
  for (sample::CallStatistics& statistics : run.statistics) statistics.of.resize(1);
  run.notes.push_back(names + " are not known: " + *results.why_no_counts());
}

}  // namespace

sample::CallRun CallWatch::take() {
  sample::CallRun run = std::move(state_->run);
  run.route = sample::kNativeRoute;
  const double scale = state_->clock.nanoseconds_per_tick();
  run.clock = {scale, state_->clock.start_tick(), state_->clock.start_time()};
  run.quantities.push_back({"time", "ns", scale, sample::Origin::counted, true});
  run.statistics.resize(run.functions.size());
  for (sample::CallStatistics& statistics : run.statistics)
    statistics.of.resize(1 + state_->counters());
  run.has_values = !state_->request.only_counts;
  if (run.has_values) run.overhead_ns = state_->clock_ns;
  if (!run.has_values)
    for (sample::CallStatistics& statistics : run.statistics) statistics.of[0] = {};
  run.has_all_calls = state_->request.keeps_calls;
  if (state_->counters() != 0) describe_counts(run, *state_->meters.counters, state_->results);
  if (state_->energy) add_energy(run, *state_->energy);
  sample::add_unwatchable(run, state_->request, state_->plans.paths());
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

CallWatch::CallWatch(const sample::CallRequest&, CallMeters) : state_(std::make_unique<State>()) {}
Result<void> CallWatch::launch(pid_t) { return other_code(); }
Result<void> CallWatch::attach(pid_t) { return other_code(); }
int CallWatch::fd() const { return -1; }
void CallWatch::drain() {}
void CallWatch::look() {}
std::optional<Nanoseconds> CallWatch::interval() const { return std::nullopt; }
const std::optional<Error>& CallWatch::error() const { return state_->error; }
Result<void> CallWatch::detach() { return {}; }
Nanoseconds CallWatch::held() const { return Nanoseconds(0); }
double CallWatch::nanoseconds_per_call() const { return 0; }
sample::CallRun CallWatch::take() { return {}; }

}  // namespace loft::source::calls

#endif

namespace loft::source::calls {

CallWatch::CallWatch(CallWatch&&) noexcept = default;
CallWatch::~CallWatch() = default;

}  // namespace loft::source::calls
