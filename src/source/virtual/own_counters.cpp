#include "source/virtual/own_counters.hpp"

#include <algorithm>
#include <utility>

#ifdef LOFT_HAS_ENGINE
#include "engine/classify/events.hpp"
#include "engine/door.hpp"
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

Result<OwnCounters> OwnCounters::open(std::span<const event::Event> events) {
  std::vector<engine::EventRule> rules;
  for (const event::Event& event : events)
    rules.push_back(engine::event_table()[event.encoding.config]);
  const std::uint64_t set = door::open(rules);
  if (set == 0)
    return failure(ErrorKind::unsupported, "count inside of the virtual PMU",
                   rules.size() > door::kMaxRulesOfSet
                       ? "a set has more events than the engine reads at once, which is 64"
                       : "more sets or different events are open than the engine keeps",
                   "close sets that are not needed any more");
  OwnCounters counters(set, events.size());
  return counters;
}

OwnCounters::~OwnCounters() {
  if (set_ != 0) door::ask(door::Request::close, set_);
}

bool OwnCounters::ask() { return door::ask(door::Request::read, set_, address_of(now_)) == 1; }

// Blocks that are met for the first time are weighed at the first read: a second one is quick.
void OwnCounters::start() {
  if (is_running_) return;
  is_running_ = true;
  door::ask(door::Request::read, set_, address_of(base_));
}

void OwnCounters::stop() {
  const bool has_answer = ask();
  if (!is_running_) return;
  is_running_ = false;
  for (std::size_t i = 0; has_answer && i < sum_.size(); ++i) sum_[i] += now_[i] - base_[i];
}

void OwnCounters::reset() {
  std::ranges::fill(sum_, 0);
  if (is_running_) door::ask(door::Request::read, set_, address_of(base_));
}

bool OwnCounters::read(std::span<std::uint64_t> counts) {
  const bool has_answer = !is_running_ || ask();
  for (std::size_t i = 0; i < counts.size() && i < sum_.size(); ++i)
    counts[i] = sum_[i] + (is_running_ ? now_[i] - base_[i] : 0);
  return has_answer;
}

#else
bool OwnCounters::are_here() { return false; }
bool OwnCounters::counts(const event::Event&) { return false; }
Result<OwnCounters> OwnCounters::open(std::span<const event::Event>) {
  return failure(ErrorKind::unsupported, "count inside of the virtual PMU",
                 "loft was built without its engine, which exists for x86-64 alone");
}
OwnCounters::~OwnCounters() = default;
bool OwnCounters::ask() { return false; }
void OwnCounters::start() {}
void OwnCounters::stop() {}
void OwnCounters::reset() {}
bool OwnCounters::read(std::span<std::uint64_t>) { return false; }
#endif

OwnCounters::OwnCounters(OwnCounters&& other) noexcept
    : set_(std::exchange(other.set_, 0)),
      is_running_(other.is_running_),
      base_(std::move(other.base_)),
      now_(std::move(other.now_)),
      sum_(std::move(other.sum_)) {}

OwnCounters& OwnCounters::operator=(OwnCounters&& other) noexcept {
  std::swap(set_, other.set_);
  std::swap(is_running_, other.is_running_);
  std::swap(base_, other.base_);
  std::swap(now_, other.now_);
  std::swap(sum_, other.sum_);
  return *this;
}

}  // namespace loft::source::virtual_pmu
