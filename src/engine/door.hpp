// What a program asks of the engine that runs it: counts of its own, exactly, from inside. Natively
// the answer to everything is 0.
//
//   if (door::ask(door::Request::hello) == door::kVersion) ...   // it runs under this engine
//   const auto set = door::open(rules);                          // 0: no room for more
//   door::ask(door::Request::read, set, address);                // of one number for each rule
//
// runtime/door.hpp says how the question gets there.
#pragma once

#include <cstdint>
#include <span>

#include "engine/classify/event_rule.hpp"
#include "engine/layout.hpp"

namespace loft::engine::door {

enum class Request : std::uint32_t {
  hello = 1,
  open,    // address of EventRules, how many: the number of a set, or 0
  read,    // number of a set, address of the counts: what the calling thread has counted so far; 1
  close,   // number of a set
  arm,     // address of an AlarmRequest: the number of an alarm, or 0
  disarm,  // number of an alarm
  read_others  // address of an OthersRequest: how many threads were found, ended ones included
};

enum class Whose : std::uint32_t {
  thread,       // one
  process,      // all threads of the calling process
  descendants,  // one, and all threads and processes that it or they made since a moment
};

// What others of the run have counted so far. Of a thread that runs meanwhile it is a moment's
// view; of one that waits or has ended it is exact.
struct OthersRequest {
  std::uint64_t set = 0;     // its number
  std::uint64_t counts = 0;  // address of one number for each rule
  std::uint32_t thread = 0;  // of `whose`
  Whose whose = Whose::thread;
  std::uint64_t since_ns = 0;  // CLOCK_MONOTONIC, for descendants
  std::uint64_t cpu_ns = 0;    // the answer: what they ran
};

// The calling thread gets a signal, with `value`, behind the instruction with which its count of
// the event (as `read` tells it) comes to `target`; once. Then it may be armed again, with its
// number.
struct AlarmRequest {
  EventRule rule;
  std::uint32_t signal = 0;
  std::uint32_t number = 0;  // 0: a new one
  std::uint64_t target = 0;
  std::uint64_t value = 0;
};

// The answer to read_others when one of them has become a program that the engine does not run, or
// its counters cannot be had.
inline constexpr std::uint64_t kOutside = ~std::uint64_t{0};
inline constexpr std::uint64_t kVersion = kSharedMagic;
inline constexpr std::uint32_t kMaxSets = 4096;  // open at a time, in a process
inline constexpr std::uint32_t kMaxRules = 256;  // different ones at a time
inline constexpr std::uint32_t kMaxRulesOfSet = 64;

inline std::uint64_t ask(Request what, std::uint64_t a = 0, std::uint64_t b = 0) {
  std::uint64_t answer = 0;
#if defined(__x86_64__)
  auto number = static_cast<std::uint64_t>(what);
  asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 3, 0x46, 0x4f, 0x4c"
               : "+a"(answer), "+D"(number), "+S"(a), "+d"(b)
               :
               : "rcx", "r8", "r9", "r10", "r11", "cc", "memory");
#else
  static_cast<void>(what), static_cast<void>(a), static_cast<void>(b);
#endif
  return answer;
}

inline std::uint64_t open(std::span<const EventRule> rules) {
  return ask(Request::open, reinterpret_cast<std::uint64_t>(rules.data()), rules.size());
}

}  // namespace loft::engine::door
