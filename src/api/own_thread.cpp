#include "api/own_thread.hpp"

#include <pthread.h>

#include <algorithm>

#include "source/groups.hpp"
#include "source/virtual/event_names.hpp"

namespace loft::api {
namespace {

using source::virtual_pmu::OwnCounters;

// Another one in each thread.
const void* this_thread() {
  static thread_local const char place = 0;
  return &place;
}

// Another one in each child of fork; no system call.
unsigned this_process() {
  static unsigned generation = 0;
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++generation; });
  static_cast<void>(registered);
  return generation;
}

// The kernel's own events need no counter: in one group they are read with one system call.
void join_software_events(std::vector<source::EventGroup>& groups,
                          const std::vector<event::Event>& events) {
  source::EventGroup all;
  std::vector<source::EventGroup> others;
  for (source::EventGroup& group : groups) {
    const bool is_software =
        !group.keep_together && group.members.size() == 1 &&
        events[group.members.front()].encoding.kind() == event::PmuKind::software;
    if (is_software)
      all.members.push_back(group.members.front());
    else
      others.push_back(std::move(group));
  }
  if (!all.members.empty()) others.push_back(std::move(all));
  groups = std::move(others);
}

}  // namespace

event::ResolverOptions known_names() {
  event::ResolverOptions options;
  if (!OwnCounters::are_here()) return options;
  options.virtual_names = source::virtual_pmu::event_names;
  options.plain_names = event::PlainNames::virtual_first;
  return options;
}

OwnThread::OwnThread() : thread_(this_thread()), process_(this_process()) {}

Result<OwnThread> OwnThread::open(std::vector<event::Event> events,
                                  std::optional<std::uint32_t> thread) {
  OwnThread own;
  const bool is_here = OwnCounters::are_here();
  std::vector<event::Event> counted, others;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_counted = is_here && OwnCounters::counts(events[i]);
    (is_counted ? own.of_engine_ : own.of_kernel_).push_back(i);
    (is_counted ? counted : others).push_back(events[i]);
  }
  if (!counted.empty()) {
    LOFT_TRY(own.engine_, OwnCounters::open(counted, thread));
    own.scratch_.resize(counted.size());
  }
  if (thread && counted.empty())
    return failure(ErrorKind::unsupported, "count other threads",
                   "only the virtual PMU counts more than the calling thread from inside",
                   "run the program with 'loft stat --source virtual'");
  if (thread) {
    for (const std::size_t place : own.of_kernel_)
      events[place].uncountable = "from inside the kernel's events are those of the calling thread";
  } else if (!others.empty()) {
    LOFT_TRY(auto groups, source::groups_of(others));
    join_software_events(groups, others);
    auto kernel = source::perf_events::OwnThreadCounters::open(others, groups);
    if (!kernel && !own.engine_) return Failure(std::move(kernel).error());
    if (kernel) {
      own.kernel_ = *std::move(kernel);
      for (std::size_t i = 0; i < own.of_kernel_.size(); ++i)
        events[own.of_kernel_[i]] = own.kernel_->events()[i];
    } else {
      for (const std::size_t place : own.of_kernel_) events[place].uncountable = kernel.error().why;
    }
  }
  own.events_ = std::move(events);
  return own;
}

Result<void> OwnThread::check_owner() const {
  if (thread_ == this_thread() && process_ == this_process()) return {};
  return failure(ErrorKind::invalid_input, "use these counters",
                 "they count the thread that opened them, which is another one",
                 "open counters in each thread and process that counts");
}

Result<void> OwnThread::start() {
  LOFT_CHECK(check_owner());
  if (kernel_) LOFT_CHECK(kernel_->start());
  if (engine_) engine_->start();
  return {};
}

Result<void> OwnThread::stop() {
  LOFT_CHECK(check_owner());
  if (engine_) engine_->stop();
  return kernel_ ? kernel_->stop() : Result<void>{};
}

Result<void> OwnThread::reset() {
  LOFT_CHECK(check_owner());
  if (kernel_) {
    LOFT_TRY(zero_, kernel_->read());
  }
  if (engine_) engine_->reset();
  return {};
}

Result<std::vector<sample::Count>> OwnThread::read_all() {
  std::vector<sample::Count> counts(events_.size());
  if (engine_) {
    if (!engine_->read(scratch_))
      return failure(ErrorKind::unsupported, "read the counters", "the engine does not answer");
    for (std::size_t i = 0; i < of_engine_.size(); ++i)
      counts[of_engine_[i]] = sample::Count::exact(scratch_[i]);
  }
  for (const std::size_t place : of_kernel_)
    counts[place] = sample::Count::missing(events_[place].uncountable);
  if (!kernel_) return counts;
  LOFT_TRY(auto own, kernel_->read());
  for (std::size_t i = 0; i < own.size(); ++i)
    counts[of_kernel_[i]] = zero_.empty() ? std::move(own[i]) : own[i].since(zero_[i]);
  return counts;
}

Result<std::vector<sample::Count>> OwnThread::read() {
  LOFT_CHECK(check_owner());
  return read_all();
}

Result<void> OwnThread::set_threshold(std::size_t event, std::uint64_t every,
                                      OwnCounters::OnThreshold callback, void* data) {
  LOFT_CHECK(check_owner());
  const auto place = std::ranges::find(of_engine_, event);
  if (place == of_engine_.end())
    return failure(ErrorKind::unsupported, "watch the count of an event",
                   "only counts of the virtual PMU have thresholds",
                   "run the program with 'loft stat --source virtual'");
  return engine_->set_threshold(static_cast<std::size_t>(place - of_engine_.begin()), every,
                                callback, data);
}

bool OwnThread::read_plain(std::span<std::uint64_t> counts) {
  if (counts.size() < events_.size() || !check_owner()) return false;
  if (!kernel_ && of_kernel_.empty()) return engine_->read(counts);
  const auto all = read_all();
  if (!all) return false;
  for (std::size_t i = 0; i < all->size(); ++i) {
    if (!(*all)[i].is_available()) return false;
    counts[i] = static_cast<std::uint64_t>((*all)[i].value());
  }
  return true;
}

}  // namespace loft::api
