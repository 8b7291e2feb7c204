#include "source/virtual/own_counters.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#ifdef LOFT_HAS_ENGINE
#include "engine/classify/events.hpp"
#include "engine/door.hpp"
#include "engine/own_alarm.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
namespace {

namespace door = engine::door;

std::uint64_t address_of(std::vector<std::uint64_t>& counts) {
  return reinterpret_cast<std::uint64_t>(counts.data());
}

}  // namespace

bool OwnCounters::are_here() { return door::ask(door::Request::hello) == door::kVersion; }

bool OwnCounters::counts(const event::Event& event) {
  return event.encoding.is_virtual() && event.encoding.config < engine::event_table().size();
}

Result<OwnCounters> OwnCounters::open(std::span<const event::Event> events,
                                      std::optional<std::uint32_t> thread) {
  std::vector<engine::EventRule> rules;
  std::vector<std::uint32_t> numbers;
  for (const event::Event& event : events) {
    numbers.push_back(static_cast<std::uint32_t>(event.encoding.config));
    rules.push_back(engine::event_table()[numbers.back()]);
  }
  const std::uint64_t set = door::open(rules);
  if (set == 0)
    return failure(ErrorKind::unsupported, "count inside of the virtual PMU",
                   rules.size() > door::kMaxRulesOfSet
                       ? "a set has more events than the engine reads at once, which is 64"
                       : "more sets or different events are open than the engine keeps",
                   "close sets that are not needed any more");
  OwnCounters counters(set, std::move(numbers));
  counters.of_ = thread;
  if (!counters.ask(counters.now_))
    return failure(ErrorKind::not_found, "count another thread",
                   "the engine runs no thread of this number", "use what gettid() gives there");
  return counters;
}

OwnCounters::~OwnCounters() {
  if (set_ != 0) door::ask(door::Request::close, set_);
}

bool OwnCounters::ask(std::vector<std::uint64_t>& counts) {
  if (!of_) return door::ask(door::Request::read, set_, address_of(counts)) == 1;
  door::OthersRequest request{.set = set_,
                              .counts = address_of(counts),
                              .thread = *of_,
                              .whose = *of_ == 0 ? door::Whose::process : door::Whose::thread};
  const auto found =
      door::ask(door::Request::read_others, reinterpret_cast<std::uint64_t>(&request));
  return found != 0 && found != door::kOutside;
}

// Vectors keep their memory when counters are moved, so it may point there.
struct OwnCounters::Threshold {
  Threshold(std::size_t its_event, std::uint64_t its_every, OnThreshold its_callback,
            void* its_data, const engine::EventRule& rule)
      : event(its_event),
        every(its_every),
        callback(its_callback),
        data(its_data),
        alarm(rule, on_hit, this) {}

  [[nodiscard]] std::uint64_t count_at(std::uint64_t of_thread) const {
    return *sum + of_thread - *base;
  }
  // The next multiple that is not passed yet, nor will be before the program goes on.
  [[nodiscard]] std::uint64_t next_target(std::uint64_t count) const {
    const std::uint64_t multiple = (count / every + 1) * every;
    return *base + multiple - *sum;
  }
  static std::uint64_t on_hit(void* data, const engine::OwnAlarm::Hit& hit);

  std::size_t event;
  std::uint64_t every;
  OnThreshold callback;
  void* data;
  std::uint64_t set = 0;
  const std::uint64_t* base = nullptr;
  const std::uint64_t* sum = nullptr;
  engine::OwnAlarm alarm;
};

std::uint64_t OwnCounters::Threshold::on_hit(void* data, const engine::OwnAlarm::Hit& hit) {
  const auto& own = *static_cast<const Threshold*>(data);
  const std::uint64_t count = own.count_at(hit.target);
  own.callback(own.data, own.event, count, hit.address);
  std::array<std::uint64_t, door::kMaxRulesOfSet> now{};
  if (door::ask(door::Request::read, own.set, reinterpret_cast<std::uint64_t>(now.data())) != 1)
    return 0;
  const std::uint64_t reached = own.count_at(engine::OwnAlarm::after_callback(hit, now[own.event]));
  return own.next_target(std::max(count, reached < count + own.every ? count : reached));
}

Result<void> OwnCounters::set_threshold(std::size_t event, std::uint64_t every,
                                        OnThreshold callback, void* data) {
  if (of_)
    return failure(ErrorKind::unsupported, "watch the count of an event",
                   "counts of other threads have no thresholds",
                   "open counters in the thread itself");
  std::erase_if(thresholds_, [&](const auto& known) { return known->event == event; });
  if (every == 0) return {};
  const engine::EventRule& rule = engine::event_table()[events_[event]];
  auto added = std::unique_ptr<Threshold, ThresholdDeleter>(
      new Threshold(event, every, callback, data, rule));
  added->set = set_;
  added->base = &base_[event];
  added->sum = &sum_[event];
  // Whether it can be watched is known when it is tried.
  if (!added->alarm.set(~std::uint64_t{0} >> 1))
    return failure(
        ErrorKind::unsupported, "watch the count of an event",
        "outcomes of branches, and any event beside models or loft's own thresholds, have "
        "no thresholds; or the signal of thresholds is used by the program");
  added->alarm.clear();
  thresholds_.push_back(std::move(added));
  if (is_running_) set_alarms();
  return {};
}

void OwnCounters::set_alarms() {
  for (const auto& threshold : thresholds_)
    static_cast<void>(threshold->alarm.set(threshold->next_target(sum_[threshold->event])));
}

// Blocks that are met for the first time are weighed at the first read: a second one is quick.
void OwnCounters::start() {
  if (is_running_) return;
  is_running_ = true;
  static_cast<void>(ask(base_));
  set_alarms();
}

void OwnCounters::stop() {
  const bool has_answer = ask(now_);
  if (!is_running_) return;
  for (const auto& threshold : thresholds_) threshold->alarm.clear();
  is_running_ = false;
  for (std::size_t i = 0; has_answer && i < sum_.size(); ++i) sum_[i] += now_[i] - base_[i];
}

void OwnCounters::reset() {
  std::ranges::fill(sum_, 0);
  if (!is_running_) return;
  static_cast<void>(ask(base_));
  set_alarms();
}

bool OwnCounters::read(std::span<std::uint64_t> counts) {
  const bool has_answer = !is_running_ || ask(now_);
  for (std::size_t i = 0; i < counts.size() && i < sum_.size(); ++i)
    counts[i] = sum_[i] + (is_running_ ? now_[i] - base_[i] : 0);
  return has_answer;
}

#else
struct OwnCounters::Threshold {};
void OwnCounters::set_alarms() {}
Result<void> OwnCounters::set_threshold(std::size_t, std::uint64_t, OnThreshold, void*) {
  return failure(ErrorKind::unsupported, "watch the count of an event",
                 "loft was built without its engine, which exists for x86-64 alone");
}
bool OwnCounters::are_here() { return false; }
bool OwnCounters::counts(const event::Event&) { return false; }
Result<OwnCounters> OwnCounters::open(std::span<const event::Event>, std::optional<std::uint32_t>) {
  return failure(ErrorKind::unsupported, "count inside of the virtual PMU",
                 "loft was built without its engine, which exists for x86-64 alone");
}
OwnCounters::~OwnCounters() = default;
bool OwnCounters::ask(std::vector<std::uint64_t>&) { return false; }
void OwnCounters::start() {}
void OwnCounters::stop() {}
void OwnCounters::reset() {}
bool OwnCounters::read(std::span<std::uint64_t>) { return false; }
#endif

void OwnCounters::ThresholdDeleter::operator()(Threshold* threshold) const { delete threshold; }

OwnCounters::OwnCounters(OwnCounters&& other) noexcept
    : set_(std::exchange(other.set_, 0)),
      of_(other.of_),
      events_(std::move(other.events_)),
      is_running_(other.is_running_),
      base_(std::move(other.base_)),
      now_(std::move(other.now_)),
      sum_(std::move(other.sum_)),
      thresholds_(std::move(other.thresholds_)) {}

OwnCounters& OwnCounters::operator=(OwnCounters&& other) noexcept {
  std::swap(set_, other.set_);
  std::swap(of_, other.of_);
  std::swap(is_running_, other.is_running_);
  std::swap(base_, other.base_);
  std::swap(now_, other.now_);
  std::swap(sum_, other.sum_);
  std::swap(events_, other.events_);
  std::swap(thresholds_, other.thresholds_);
  return *this;
}

}  // namespace loft::source::virtual_pmu
