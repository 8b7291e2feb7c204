#include "papi/event_sets.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "engine/classify/events.hpp"
#include "engine/door.hpp"
#include "papi/interface.h"

namespace loft::papi {
namespace {

namespace door = engine::door;

// The set that the thread runs.
thread_local EventSet* t_running = nullptr;

const void* this_thread() { return &t_running; }

std::uint64_t nanoseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

double cycles_per_nanosecond() {
  static const double rate = [] {
#if defined(__x86_64__)
    const std::uint64_t start = nanoseconds(CLOCK_MONOTONIC);
    const std::uint64_t first = __builtin_ia32_rdtsc();
    std::uint64_t now = start;
    while (now - start < 2'000'000) now = nanoseconds(CLOCK_MONOTONIC);
    return static_cast<double>(__builtin_ia32_rdtsc() - first) / static_cast<double>(now - start);
#else
    return 1.0;
#endif
  }();
  return rate;
}

namespace {

// With whole numbers alone: floating-point operations would be counted as the program's own.
std::uint64_t cycles_in(std::uint64_t time_ns) {
  constexpr int kShift = 32;
  static const auto rate = static_cast<std::uint64_t>(std::ldexp(cycles_per_nanosecond(), kShift));
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{time_ns} * rate >> kShift);
}

}  // namespace

std::uint64_t thread_cycles() { return cycles_in(nanoseconds(CLOCK_THREAD_CPUTIME_ID)); }

int EventSet::add(int code) {
  if (is_running_) return PAPI_EISRUN;
  const Event* event = catalogue().at(code);
  if (event == nullptr || !event->is_available()) return PAPI_ENOEVNT;
  if (std::ranges::find(codes_, code) != codes_.end()) return PAPI_ECNFLCT;
  if (codes_.size() >= static_cast<std::size_t>(kCounters)) return PAPI_ECOUNT;
  std::vector<std::uint32_t> columns = columns_;
  Sum sum;
  for (Term term : event->terms) {
    auto known = std::ranges::find(columns, term.event);
    if (known == columns.end()) known = columns.insert(columns.end(), term.event);
    term.event = static_cast<std::uint32_t>(known - columns.begin());
    sum.terms.push_back(term);
  }
  if (columns.size() > door::kMaxRulesOfSet) return PAPI_ECNFLCT;
  close();
  sum.formula = event->formula;
  needs_time_ = needs_time_ || event->formula != nullptr;
  sum.is_double = event->is_double;
  columns_ = std::move(columns);
  codes_.push_back(code);
  sums_.push_back(std::move(sum));
  counts_.push_back(0);
  component = 0;
  return PAPI_OK;
}

int EventSet::remove(int code) {
  if (is_running_) return PAPI_EISRUN;
  const auto found = std::ranges::find(codes_, code);
  if (found == codes_.end()) return PAPI_EINVAL;
  const auto place = found - codes_.begin();
  if (!watches_.empty()) return PAPI_EINVAL;  // their places would change
  codes_.erase(found);
  sums_.erase(sums_.begin() + place);
  counts_.erase(counts_.begin() + place);
  return PAPI_OK;
}

int EventSet::clear() {
  if (is_running_) return PAPI_EISRUN;
  close();
  codes_.clear();
  sums_.clear();
  counts_.clear();
  columns_.clear();
  watches_.clear();
  component = -1;
  is_multiplexed = false;
  return PAPI_OK;
}

void EventSet::close() {
  if (t_running == this) t_running = nullptr;
  if (opened_ != 0) door::ask(door::Request::close, opened_);
  opened_ = 0;
}

int EventSet::open() {
  if (opened_ != 0) return PAPI_OK;
  std::vector<engine::EventRule> rules;
  for (const std::uint32_t column : columns_)
    if (column != Term::kTime) rules.push_back(engine::event_table()[column]);
  opened_columns_ = rules.size();
  base_.assign(columns_.size(), 0);
  now_.assign(columns_.size(), 0);
  if (rules.empty() && !counts_others()) return PAPI_OK;
  if (rules.empty()) rules.push_back(engine::event_table().front());  // others' time comes with it
  opened_ = door::open(rules);
  return opened_ != 0 ? PAPI_OK : PAPI_ECNFLCT;
}

// The engine's counts come in the order of its columns; time may stand between them.
bool EventSet::read_columns(std::vector<std::uint64_t>& columns) {
  std::array<std::uint64_t, door::kMaxRulesOfSet> counts{};
  std::uint64_t cycles = 0;
  if (counts_others()) {
    if (!read_others(counts.data(), cycles)) return false;
  } else if (opened_columns_ != 0 &&
             door::ask(door::Request::read, opened_,
                       reinterpret_cast<std::uint64_t>(counts.data())) != 1) {
    return false;
  }
  if (&columns == &now_ || &columns == &base_)
    (&columns == &now_ ? now_ns_ : started_ns_) = needs_time_ ? nanoseconds(CLOCK_MONOTONIC) : 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_time = columns_[i] == Term::kTime;
    columns[i] = !is_time ? counts[next++] : counts_others() ? cycles : thread_cycles();
  }
  return true;
}

bool EventSet::read_others(std::uint64_t* counts, std::uint64_t& cycles) {
  door::OthersRequest request{.set = opened_,
                              .counts = reinterpret_cast<std::uint64_t>(counts),
                              .thread = attached_ != 0 ? attached_ : own_tid_,
                              .whose = inherits_ ? door::Whose::descendants : door::Whose::thread,
                              .since_ns = inherits_since_};
  // A thread that was attached to before it began has done nothing yet.
  const auto found =
      door::ask(door::Request::read_others, reinterpret_cast<std::uint64_t>(&request));
  if (found == door::kOutside || (found == 0 && attached_ == 0)) return false;
  if (std::ranges::find(columns_, Term::kTime) != columns_.end())
    cycles = cycles_in(request.cpu_ns);
  return true;
}

namespace {

std::uint64_t ask_for(std::uint64_t set, std::uint32_t thread) {
  std::uint64_t count = 0;
  door::OthersRequest request{.set = set,
                              .counts = reinterpret_cast<std::uint64_t>(&count),
                              .thread = thread,
                              .whose = door::Whose::thread};
  return door::ask(door::Request::read_others, reinterpret_cast<std::uint64_t>(&request));
}

// The number behind a key of /proc/PID/status, or 0.
std::uint32_t status_number(std::uint32_t thread, std::string_view key) {
  std::ifstream lines("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key))
      return static_cast<std::uint32_t>(std::strtoul(line.c_str() + key.size(), nullptr, 10));
  return 0;
}

// Whether the engine runs a thread of that number. One that has just been made, and was stopped by
// a debugger before it could say so, is known by who made it.
bool is_under_engine(std::uint32_t thread) {
  const engine::EventRule rule = engine::event_table().front();
  const std::uint64_t set = door::open({&rule, 1});
  if (set == 0) return false;
  std::uint64_t found = ask_for(set, thread);
  for (const char* maker : {"Tgid:", "PPid:"})
    if (found == 0)
      if (const std::uint32_t other = status_number(thread, maker); other != 0)
        found = ask_for(set, other);
  door::ask(door::Request::close, set);
  return found != 0 && found != door::kOutside;
}

}  // namespace

int EventSet::attach(unsigned long thread) {
  if (is_running_) return PAPI_EISRUN;
  if (component < 0) return PAPI_ENOCMP;
  if (!watches_.empty()) return PAPI_ECNFLCT;
  if (thread == 0 || thread > static_cast<unsigned long>(std::numeric_limits<pid_t>::max()))
    return PAPI_EINVAL;
  if (!is_under_engine(static_cast<std::uint32_t>(thread))) return PAPI_ENOSUPP;
  close();
  attached_ = static_cast<std::uint32_t>(thread);
  return PAPI_OK;
}

int EventSet::detach() {
  if (is_running_) return PAPI_EISRUN;
  if (attached_ == 0) return PAPI_EINVAL;
  close();
  attached_ = 0;
  return PAPI_OK;
}

int EventSet::set_inherit(bool inherits) {
  if (is_running_) return PAPI_EISRUN;
  if (component < 0) return PAPI_ENOCMP;
  if (inherits && !watches_.empty()) return PAPI_ECNFLCT;
  close();
  inherits_ = inherits;
  return PAPI_OK;
}

bool EventSet::is_own_thread() const { return thread_ == this_thread(); }

int EventSet::start() {
  // A set that counts another thread is beside the calling thread's own.
  if (is_running_ || (t_running != nullptr && attached_ == 0)) return PAPI_EISRUN;
  if (codes_.empty()) return PAPI_EINVAL;
  if (const int error = open(); error != PAPI_OK) return error;
  own_tid_ = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  inherits_since_ = nanoseconds(CLOCK_MONOTONIC);
  std::ranges::fill(counts_, 0);
  if (!read_columns(base_)) return PAPI_ESYS;  // what is new is learnt now, not inside
  is_running_ = true;
  if (attached_ == 0) t_running = this;
  thread_ = this_thread();
  if (!read_columns(base_)) return PAPI_ESYS;
  return watches_.empty() || start_overflows() ? PAPI_OK : PAPI_ECMP;
}

namespace {

// How many of the columns before this one the engine counts.
std::size_t place_in_engine(const std::vector<std::uint32_t>& columns, std::size_t column) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < column; ++i) place += columns[i] != Term::kTime ? 1 : 0;
  return place;
}

}  // namespace

bool EventSet::start_overflows() {
  bool is_good = true;
  for (Watch& watch : watches_) {
    const auto index = static_cast<std::size_t>(watch.overflow->index());
    const std::size_t column = sums_[index].terms.front().event;
    is_good =
        watch.overflow->start(opened_, place_in_engine(columns_, column), base_[column]) && is_good;
  }
  return is_good;
}

int EventSet::set_overflow(int code, int threshold, int flags, Overflow::Call call,
                           std::shared_ptr<void> data) {
  if (is_running_) return PAPI_EISRUN;
  if (codes_.empty()) return PAPI_EINVAL;
  if (counts_others()) return PAPI_ECNFLCT;
  const auto found = std::ranges::find(codes_, code);
  if (found == codes_.end()) return PAPI_ENOEVNT;
  const auto index = static_cast<std::size_t>(found - codes_.begin());
  const auto known = std::ranges::find(watches_, code, &Watch::code);
  if (threshold < 0) return PAPI_EINVAL;
  if (threshold == 0) {
    if (known == watches_.end()) return PAPI_EINVAL;
    watches_.erase(known);
    return PAPI_OK;
  }
  if (known != watches_.end() || sums_[index].terms.size() != 1 || sums_[index].formula)
    return PAPI_EINVAL;
  const std::uint32_t event = columns_[sums_[index].terms.front().event];
  auto overflow = std::make_unique<Overflow>(
      static_cast<int>(index), event, static_cast<std::uint64_t>(threshold), call, data.get());
  watches_.push_back({code, flags, std::move(data), std::move(overflow)});
  return PAPI_OK;
}

int EventSet::overflow_state() const {
  int state = 0;
  for (const Watch& watch : watches_) state |= watch.flags;
  return state;
}

// PAPI's values are whole numbers, and there is none that means "no value".
long long EventSet::value_of(const Sum& sum, const std::vector<std::uint64_t>& now) const {
  std::uint64_t total = 0;
  std::vector<std::uint64_t> counts;
  for (const Term& term : sum.terms) {
    const std::uint64_t more = now[term.event] - base_[term.event];
    total += term.factor > 0 ? more : 0 - more;
    if (sum.formula) counts.push_back(more);
  }
  if (!sum.formula) return static_cast<long long>(total);
  const double seconds = static_cast<double>(now_ns_ - started_ns_) * 1e-9;
  const auto value = sum.formula->evaluate(counts, seconds);
  if (sum.is_double)
    return std::bit_cast<long long>(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  const bool fits = value && std::fabs(*value) < 9e18;
  return fits ? static_cast<long long>(*value) : std::numeric_limits<long long>::min();
}

// What was counted since the last start or reset is in counts_ then.
void EventSet::add_counts_until(const std::vector<std::uint64_t>& now) {
  for (std::size_t i = 0; i < sums_.size(); ++i) counts_[i] = value_of(sums_[i], now);
}

int EventSet::read(long long* values) {
  if (values == nullptr) return PAPI_EINVAL;
  if (is_running_) {
    if (!is_own_thread()) return PAPI_EINVAL;
    if (!read_columns(now_)) return PAPI_ESYS;
    add_counts_until(now_);
  }
  std::ranges::copy(counts_, values);
  return PAPI_OK;
}

int EventSet::stop(long long* values) {
  if (!is_running_) return PAPI_ENOTRUN;
  if (!is_own_thread()) return PAPI_EINVAL;
  if (!read_columns(now_)) return PAPI_ESYS;
  for (const Watch& watch : watches_) watch.overflow->stop();
  add_counts_until(now_);
  is_running_ = false;
  if (t_running == this) t_running = nullptr;
  if (values != nullptr) std::ranges::copy(counts_, values);
  return PAPI_OK;
}

int EventSet::reset() {
  std::ranges::fill(counts_, 0);
  if (!is_running_) return PAPI_OK;
  if (!is_own_thread()) return PAPI_EINVAL;
  if (!read_columns(base_)) return PAPI_ESYS;
  return watches_.empty() || start_overflows() ? PAPI_OK : PAPI_ECMP;
}

int EventSet::accumulate(long long* values) {
  if (values == nullptr) return PAPI_EINVAL;
  if (is_running_) {
    if (!is_own_thread()) return PAPI_EINVAL;
    if (!read_columns(now_)) return PAPI_ESYS;
    add_counts_until(now_);
    base_ = now_;
    started_ns_ = now_ns_;
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) values[i] += counts_[i];
  std::ranges::fill(counts_, 0);
  return PAPI_OK;
}

int EventSet::write(const long long* values) {
  if (values == nullptr) return PAPI_EINVAL;
  if (is_running_) return PAPI_ENOSUPP;  // counters of the engine cannot be set
  std::copy_n(values, counts_.size(), counts_.begin());
  return PAPI_OK;
}

int EventSets::create() {
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::find_if(sets_, [](const auto& set) { return set == nullptr; });
  const auto number = static_cast<int>(free - sets_.begin());
  if (free == sets_.end())
    sets_.push_back(std::make_unique<EventSet>());
  else
    *free = std::make_unique<EventSet>();
  return number;
}

EventSets::Held::Held(std::mutex& mutex, const std::vector<std::unique_ptr<EventSet>>& sets,
                      int number)
    : lock_(mutex),
      set_(number >= 0 && static_cast<std::size_t>(number) < sets.size()
               ? sets[static_cast<std::size_t>(number)].get()
               : nullptr) {}

EventSets::Held EventSets::find(int number) { return {mutex_, sets_, number}; }

int EventSets::destroy(int number) {
  {
    const Held set = find(number);
    if (!set) return PAPI_ENOEVST;
    if (set->is_running()) return PAPI_EISRUN;
    if (!set->codes().empty()) return PAPI_EINVAL;
  }
  const std::lock_guard lock(mutex_);
  sets_[static_cast<std::size_t>(number)].reset();
  return PAPI_OK;
}

void EventSets::forget_all(bool is_child) {
  // Threads that the child does not have may have held it.
  if (is_child) new (&mutex_) std::mutex();
  const std::lock_guard lock(mutex_);
  t_running = nullptr;
  sets_.clear();
}

EventSets& event_sets() {
  static EventSets& all = *new EventSets();  // programs stop sets when they end, in any order
  return all;
}

}  // namespace loft::papi
