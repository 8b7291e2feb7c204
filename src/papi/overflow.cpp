#include "papi/overflow.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <utility>

#include "engine/classify/events.hpp"
#include "engine/door.hpp"
#include "papi/event_sets.hpp"

namespace loft::papi {
namespace {

namespace door = engine::door;

int timer_signal() { return engine::OwnAlarm::signal() - 1; }

}  // namespace

std::atomic<int>& Inside::depth() {
  static thread_local std::atomic<int> depth{0};
  return depth;
}

Overflow::Overflow(int index, std::uint32_t event, std::uint64_t threshold, Call call, void* data)
    : index_(index), threshold_(threshold), call_(call), data_(data) {
  if (event == Term::kTime) return;
  const engine::EventRule& rule = engine::event_table()[event];
  is_polled_ = rule.measure == engine::Measure::taken || rule.measure == engine::Measure::not_taken;
  if (!is_polled_) alarm_.emplace(rule, on_alarm, this);
}

Overflow::~Overflow() { stop(); }

std::uint64_t Overflow::on_alarm(void* data, const engine::OwnAlarm::Hit& hit) {
  auto& own = *static_cast<Overflow*>(data);
  const std::uint64_t reached = own.due_ != 0 ? own.due_ : hit.target;
  if (Inside::depth() != 0) {
    own.due_ = reached;
    return hit.target + engine::OwnAlarm::kNearest;
  }
  own.due_ = 0;
  own.call_(own.data_, own.index_, hit.address, hit.context);
  if (own.set_ == 0) return 0;  // the function has stopped the set
  std::array<std::uint64_t, door::kMaxRulesOfSet> now{};
  if (door::ask(door::Request::read, own.set_, reinterpret_cast<std::uint64_t>(now.data())) != 1)
    return 0;
  // Multiples that the function itself has passed are left out.
  const std::uint64_t after = engine::OwnAlarm::after_callback(hit, now[own.column_]);
  const std::uint64_t count = after - own.base_;
  const std::uint64_t next = (reached - own.base_) / own.threshold_ + 1;
  const std::uint64_t first_left = count / own.threshold_ + 1;
  return own.base_ + own.threshold_ * (count < next * own.threshold_ ? next : first_left);
}

void Overflow::on_timer(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || Inside::depth() != 0) return;
  const int error = errno;
  auto* own = static_cast<Overflow*>(info->si_value.sival_ptr);
  if (own->is_polled_ && !own->has_passed()) return;
  void* address = nullptr;
#if defined(__x86_64__)
  address = reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#endif
  own->call_(own->data_, own->index_, address, context);
  errno = error;
}

bool Overflow::has_passed() {
  std::array<std::uint64_t, door::kMaxRulesOfSet> now{};
  if (door::ask(door::Request::read, set_, reinterpret_cast<std::uint64_t>(now.data())) != 1)
    return false;
  const std::uint64_t multiples = (now[column_] - base_) / threshold_;
  return std::exchange(passed_, multiples) != multiples;
}

bool Overflow::start_timer() {
  struct sigaction action {};
  action.sa_sigaction = on_timer;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (::sigaction(timer_signal(), &action, nullptr) != 0) return false;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = timer_signal();
  event.sigev_value.sival_ptr = this;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer{};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return false;
  timer_ = timer;
  constexpr double kPollEvery = 1e6;
  const double nanoseconds =
      is_polled_ ? kPollEvery : static_cast<double>(threshold_) / cycles_per_nanosecond();
  const auto whole = static_cast<long>(std::clamp(nanoseconds, 100'000.0, 1e15));
  itimerspec every{};
  every.it_interval = {whole / 1'000'000'000, whole % 1'000'000'000};
  every.it_value = every.it_interval;
  return ::timer_settime(timer, 0, &every, nullptr) == 0;
}

bool Overflow::start(std::uint64_t set, std::size_t column, std::uint64_t base) {
  set_ = set;
  column_ = column;
  base_ = base;
  due_ = passed_ = 0;
  return alarm_ ? alarm_->set(base + threshold_) : start_timer();
}

void Overflow::stop() {
  set_ = 0;
  if (alarm_) alarm_->clear();
  if (timer_) ::timer_delete(*timer_);
  timer_.reset();
}

}  // namespace loft::papi
