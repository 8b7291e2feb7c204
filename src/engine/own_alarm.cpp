#include "engine/own_alarm.hpp"

#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "engine/door.hpp"

namespace loft::engine {
namespace {

// Alarms that are set. A signal may come after its alarm was cleared: it carries the place and how
// often that was used.
struct Place {
  std::atomic<OwnAlarm*> alarm{nullptr};
  std::atomic<std::uint64_t> uses{0};
};
constexpr std::uint64_t kPlaces = 4096;
Place g_places[kPlaces];

std::uint64_t alarm_value(std::uint64_t place) {
  return g_places[place].uses.load() * kPlaces + place;
}

// The place of a new alarm; kPlaces when all are taken.
std::uint64_t take_place(OwnAlarm* alarm) {
  for (std::uint64_t place = 0; place < kPlaces; ++place) {
    OwnAlarm* none = nullptr;
    if (g_places[place].alarm.compare_exchange_strong(none, alarm)) return place;
  }
  return kPlaces;
}

bool arm(const EventRule& rule, std::uint64_t target, std::uint64_t value, std::uint32_t& number) {
  door::AlarmRequest request;
  request.rule = rule;
  request.signal = static_cast<std::uint32_t>(OwnAlarm::signal());
  request.number = number;
  request.target = target;
  request.value = value;
  number = static_cast<std::uint32_t>(
      door::ask(door::Request::arm, reinterpret_cast<std::uint64_t>(&request)));
  return number != 0;
}

}  // namespace

void serve_own_alarm(std::uint64_t value, void* context) {
  const std::uint64_t place = value % kPlaces;
  OwnAlarm* alarm = g_places[place].alarm.load();
  if (alarm == nullptr || alarm_value(place) != value) return;
  void* address = nullptr;
#if defined(__x86_64__)
  address = reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#endif
  const std::uint64_t next = alarm->callback_(alarm->data_, {alarm->target_, address, context});
  // The callback may have cleared it.
  if (next == 0 || g_places[place].alarm.load() != alarm || alarm_value(place) != value) return;
  alarm->target_ = next;
  arm(alarm->rule_, next, value, alarm->number_);
}

namespace {

void on_signal(int, siginfo_t* info, void* context) {
  const int error = errno;
  if (info->si_code == SI_QUEUE)
    serve_own_alarm(reinterpret_cast<std::uint64_t>(info->si_value.sival_ptr), context);
  errno = error;
}

// Whether the signal is ours: a program that uses it itself keeps it.
bool take_signal() {
  static const bool is_taken = [] {
    struct sigaction present {};
    if (::sigaction(OwnAlarm::signal(), nullptr, &present) != 0) return false;
    if ((present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL) return false;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    return ::sigaction(OwnAlarm::signal(), &action, nullptr) == 0;
  }();
  return is_taken;
}

}  // namespace

int OwnAlarm::signal() { return SIGRTMAX - 5; }

bool OwnAlarm::set(std::uint64_t target) {
  if (!take_signal()) return false;
  if (number_ == 0) {
    place_ = take_place(this);
    if (place_ == kPlaces) return false;
  }
  target_ = target;
  if (arm(rule_, target, alarm_value(place_), number_)) return true;
  g_places[place_].alarm = nullptr;
  return false;
}

void OwnAlarm::clear() {
  if (number_ == 0) return;
  door::ask(door::Request::disarm, std::exchange(number_, 0u));
  ++g_places[place_].uses;
  g_places[place_].alarm = nullptr;
}

OwnAlarm::~OwnAlarm() { clear(); }

}  // namespace loft::engine
