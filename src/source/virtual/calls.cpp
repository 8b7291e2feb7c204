#include "source/virtual/calls.hpp"

#ifdef LOFT_HAS_ENGINE
#include <fmt/format.h>
#include <x86intrin.h>

#include <map>
#include <optional>

#include "engine/call_areas.hpp"
#include "engine/classify/events.hpp"
#include "engine/run.hpp"
#include "source/supervisor.hpp"
#include "source/virtual/call_guide.hpp"
#include "source/virtual/region.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
namespace {

using engine::kCallQuantities;
using engine::kMaxCallEvents;
using sample::CallQuantity;
using sample::CallRequest;
using sample::CallRun;
using sample::CallValue;

Result<engine::EventIndex> find_event(const std::string& name) {
  const auto refuse = [&](const char* why) {
    return failure(ErrorKind::invalid_input, "count '" + name + "' per call", why,
                   "'loft list virtual' shows what the virtual PMU counts");
  };
  const auto event = engine::find_event(name);
  if (!event) return refuse("the virtual PMU counts no such event exactly");
  const engine::Measure measure = engine::event_table()[*event].measure;
  if (measure == engine::Measure::taken || measure == engine::Measure::not_taken)
    return refuse("which way branches go is known at the end of a run alone");
  return *event;
}

// Ticks of the time-stamp counter beside the clock, at two moments.
class TickScale {
 public:
  TickScale() : start_ticks_(__rdtsc()), start_(now()) {}
  [[nodiscard]] double nanoseconds_per_tick() const {
    const auto ticks = static_cast<double>(__rdtsc() - start_ticks_);
    return ticks > 0 ? static_cast<double>((now() - start_).count()) / ticks : 1;
  }
  // Only when there was not yet time enough to tell.
  void wait_for(Nanoseconds time) const {
    while (now() - start_ < time) {
    }
  }
  [[nodiscard]] std::uint64_t start_ticks() const { return start_ticks_; }
  [[nodiscard]] Nanoseconds start() const { return start_; }

 private:
  std::uint64_t start_ticks_;
  Nanoseconds start_;
};

class CallCounting {
 public:
  CallCounting(const CallRequest& request, engine::Run run)
      : request_(request), run_(std::move(run)), guide_(request) {}

  Result<CallRun> count() {
    LOFT_CHECK(give_order());
    LOFT_CHECK(follow());
    LOFT_CHECK(run_.check());
    result_.route = "virtual";
    result_.functions = guide_.take_functions();
    result_.statistics.resize(result_.functions.size());
    for (auto& statistics : result_.statistics) statistics.of.resize(result_.quantities.size());
    result_.clock = {scale_.nanoseconds_per_tick(), scale_.start_ticks(), scale_.start()};
    result_.quantities.back().scale = result_.clock.nanoseconds_per_tick;
    result_.has_all_calls = request_.keeps_calls;
    const auto slots = run_.shared().slots();
    for (std::uint32_t i = 0; i < slots.size(); ++i) LOFT_CHECK(add_thread(i, slots[i]));
    result_.seen = result_.calls.size() + result_.lost;
    add_notes();
    return std::move(result_);
  }

 private:
  Result<void> give_order() {
    engine::CallOrder order{};
    std::vector<std::string> events = request_.events;
    if (events.empty()) events.emplace_back("instructions");
    if (events.size() > kMaxCallEvents)
      return failure(ErrorKind::invalid_input, "count events per call",
                     fmt::format("{} are too many", events.size()),
                     fmt::format("ask for at most {}", kMaxCallEvents));
    for (const std::string& name : events) {
      LOFT_TRY(const engine::EventIndex event, find_event(name));
      order.event[order.events++] = engine::event_table()[event];
      result_.quantities.push_back(
          {.name = name, .unit = engine::event_table()[event].unit, .scale = 1});
      places_.push_back(order.events - 1);
    }
    result_.quantities.push_back({.name = "time", .unit = "ns", .scale = 1, .is_time = true});
    places_.push_back(engine::kTicks);
    order.keeps_calls = request_.keeps_calls ? 1 : 0;
    order.depth = request_.depth;
    order.most_kept = request_.most_kept;
    if (request_.longer.count() > 0) {
      scale_.wait_for(std::chrono::milliseconds(3));
      order.least_ticks = static_cast<std::uint64_t>(static_cast<double>(request_.longer.count()) /
                                                     scale_.nanoseconds_per_tick());
    }
    run_.shared().ask_for_calls(order);
    return {};
  }

  Result<void> follow() {
    const MappingGuide guide(run_.shared(),
                             [this](const auto& mapping) { return guide_.starts_in(mapping); });
    LOFT_TRY(Supervisor supervisor,
             Supervisor::create([this](int signal) { run_.signal(signal); }));
    LOFT_CHECK(run_.start());
    LOFT_CHECK(supervisor.follow(run_.pid()));
    while (!supervisor.is_over()) LOFT_CHECK(supervisor.wait(std::nullopt));
    LOFT_TRY(result_.end, run_.child().wait());
    return {};
  }

  // When the thread was last seen to run.
  [[nodiscard]] std::uint64_t last_tick(const engine::SlotEntry& slot) const {
    const Nanoseconds end =
        slot.ended_ns != 0 ? Nanoseconds(static_cast<std::int64_t>(slot.ended_ns)) : now();
    const double ticks =
        static_cast<double>((end - scale_.start()).count()) / result_.clock.nanoseconds_per_tick;
    return scale_.start_ticks() + static_cast<std::uint64_t>(std::max(0.0, ticks));
  }

  Result<void> add_thread(std::uint32_t number, const engine::SlotEntry& slot) {
    const auto functions = static_cast<std::uint32_t>(result_.functions.size());
    LOFT_TRY(const engine::CallArea area,
             engine::read_calls(run_.shared(), number, functions, last_tick(slot)));
    thread_ = static_cast<std::uint32_t>(result_.threads.size());
    result_.threads.push_back(
        {static_cast<pid_t>(slot.process), static_cast<pid_t>(slot.thread), slot.name});
    for (const auto& [function, entry] : area.functions) add_function(function, entry);
    add_nodes(area);
    for (const engine::CallRecord& record : area.records) add_call(record, 0);
    for (const engine::OpenCall& open : area.open) add_open(open);
    result_.lost += area.lost;
    lost_nodes_ += area.lost_nodes;
    return {};
  }

  void add_function(std::uint32_t number, const engine::CallFunctionEntry& entry) {
    sample::CallStatistics& statistics = result_.statistics[number];
    statistics.calls += entry.calls;
    statistics.ended_early += entry.ended_early;
    statistics.unmeasured += entry.unmeasured;
    for (std::size_t q = 0; q < places_.size(); ++q) {
      const engine::CallSums& sums = entry.sums[places_[q]];
      sample::CallDistribution of;
      of.total = sums.total;
      of.self = sums.self;
      of.sum = sums.sum;
      if (entry.calls != 0) of.min = ~sums.inverse_min;
      of.max = sums.max;
      if (q == 0) of.histogram = sample::CallHistogram(entry.histogram);
      statistics.of[q] += of;
    }
    if (!request_.keeps_calls)
      for (std::uint32_t i = 0; i < entry.slowest_count; ++i) add_call(entry.slowest[i], 0);
  }

  void add_nodes(const engine::CallArea& area) {
    nodes_.assign(1, sample::kNoCallNode);
    for (const engine::CallNodeEntry& node : area.nodes) {
      const std::uint32_t parent = nodes_[node.parent];
      const auto [known, is_new] =
          node_numbers_.try_emplace(std::uint64_t{parent} << 32 | node.function,
                                    static_cast<std::uint32_t>(result_.nodes.size()));
      if (is_new) {
        result_.nodes.push_back({parent, node.function, 0});
        result_.node_values.resize(result_.node_values.size() + places_.size());
      }
      nodes_.push_back(known->second);
      result_.nodes[known->second].calls += node.calls;
      add_to_node(known->second, node.value, node.self);
    }
  }

  void add_to_node(std::uint32_t node, const std::uint64_t* value, const std::uint64_t* self) {
    for (std::size_t q = 0; q < places_.size(); ++q) {
      CallValue& sum = result_.node_values[node * places_.size() + q];
      sum.value += value[places_[q]];
      sum.self += self[places_[q]];
    }
  }

  void add_call(const engine::CallRecord& record, std::uint16_t flags) {
    if ((record.flags & engine::kFrameEndedEarly) != 0) flags |= sample::kEndedEarly;
    if ((record.flags & engine::kFrameRecursive) != 0) flags |= sample::kRecursive;
    result_.calls.push_back({record.function, thread_, record.begin, record.value[engine::kTicks],
                             record.depth,
                             record.caller == 0 ? sample::kNoFunction : record.caller - 1, flags});
    for (const std::uint32_t place : places_)
      result_.values.push_back({record.value[place], record.self[place]});
  }

  void add_open(const engine::OpenCall& open) {
    const engine::CallRecord& record = open.record;
    sample::CallStatistics& statistics = result_.statistics[record.function];
    ++statistics.open;
    const bool is_outermost = (record.flags & engine::kFrameRecursive) == 0;
    for (std::size_t q = 0; q < places_.size(); ++q) {
      if (is_outermost) statistics.of[q].total += record.value[places_[q]];
      statistics.of[q].self += record.self[places_[q]];
    }
    if (open.node != 0) add_to_node(nodes_[open.node], record.value, record.self);
    if (request_.keeps_calls) add_call(record, sample::kOpen);
  }

  void add_notes() {
    if (lost_nodes_ != 0)
      result_.notes.push_back(
          fmt::format("the tree lacks {} calls: there are more paths than {} per thread",
                      lost_nodes_, engine::kMaxCallNodes));
    if (guide_.left_out() != 0)
      result_.notes.push_back(fmt::format("{} functions were not watched: {} are the most",
                                          guide_.left_out(), engine::kMaxCallFunctions));
  }

  const CallRequest& request_;
  TickScale scale_;
  engine::Run run_;
  CallGuide guide_;
  CallRun result_;
  std::vector<std::uint32_t> places_;  // of each quantity in the engine's arrays
  std::uint32_t thread_ = 0;
  std::vector<std::uint32_t> nodes_;  // of the result, by the thread's number
  std::map<std::uint64_t, std::uint32_t> node_numbers_;
  std::uint64_t lost_nodes_ = 0;
};

}  // namespace

Result<CallRun> count_calls(const CallRequest& request, const std::vector<std::string>& command) {
  LOFT_TRY(engine::Run run, engine::Run::prepare(command));
  return CallCounting(request, std::move(run)).count();
}
#else
Result<sample::CallRun> count_calls(const sample::CallRequest&, const std::vector<std::string>&) {
  return failure(ErrorKind::unsupported, "watch calls with the virtual PMU",
                 "loft's engine runs x86-64 programs alone", "use --source native");
}
#endif

}  // namespace loft::source::virtual_pmu
