// A program is called back when its own thread's count of an event comes to a number, exactly,
// under the engine (door.hpp).
//
//   OwnAlarm alarm(rule, callback, nullptr);
//   if (alarm.set(target)) work();   // of what Request::read tells; false: it cannot be watched
//
// The callback runs in a signal handler, of the signal OwnAlarm::signal(), on the thread that set
// the alarm, between the instruction with which the count is reached and the next. It gives the
// next target, or 0 for none. What it does counts, too. An alarm belongs to the thread that sets
// it.
#pragma once

#include <cstdint>

#include "engine/classify/event_rule.hpp"

namespace loft::engine {

class OwnAlarm {
 public:
  struct Hit {
    std::uint64_t target;
    void* address;  // where the program goes on
    void* context;  // ucontext_t
  };
  using Callback = std::uint64_t (*)(void* data, const Hit& hit);

  // What the handler itself counts behind the callback at most, of an event that it counts at all:
  // a target nearer than this would come before the program goes on.
  static constexpr std::uint64_t kNearest = 256;
  // What the count may be when the program goes on, where it is `now` at the end of a callback.
  [[nodiscard]] static std::uint64_t after_callback(const Hit& hit, std::uint64_t now) {
    return now > hit.target ? now + kNearest : now;
  }

  OwnAlarm(const EventRule& rule, Callback callback, void* data)
      : rule_(rule), callback_(callback), data_(data) {}
  OwnAlarm(const OwnAlarm&) = delete;
  OwnAlarm& operator=(const OwnAlarm&) = delete;
  ~OwnAlarm();

  [[nodiscard]] bool set(std::uint64_t target);
  void clear();

  // The signal that carries alarms, from the program's point of view.
  [[nodiscard]] static int signal();

 private:
  friend void serve_own_alarm(std::uint64_t value, void* context);

  EventRule rule_;
  Callback callback_;
  void* data_;
  std::uint64_t target_ = 0;
  std::uint32_t number_ = 0;  // the engine's, 0 while it has none
  std::uint64_t place_ = 0;   // in the table of those that are set
};

}  // namespace loft::engine
