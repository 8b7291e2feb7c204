// Alarms: the program wants a signal when a thread's count of an event comes to a number, exactly.
//
// They are thresholds (thresholds.hpp) that the program sets itself, through the door. A thread
// stops in the block that brings it there. What the block has counted is taken back, and the thread
// goes on instruction by instruction, in code of its own (Version::stepping) whose every trace ends
// at the dispatcher. Behind the instruction with which the count is reached the signal is sent, so
// that it finds the program there.
//
// Distances may be too short (after a repeated instruction that was interrupted, in a new thread),
// never too long: who comes to 0 looks at the exact count first.
#pragma once

#include <cstdint>

#include "engine/door.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// How many events alarms are on in this process.
extern std::uint32_t g_alarm_count;

const EventRule& alarm_rule(std::uint32_t alarm);

// The answers to the program: the alarm's number or 0, and whether there was one.
std::uint64_t arm(Context* context, std::uint64_t address);
std::uint64_t disarm(Context* context, std::uint64_t number);

// The thread has come to the distance of an alarm, in a block that goes on at `resume`: next_pc is
// where it stands.
void serve_alarm(Context* context, std::uint32_t alarm);

// Between two instructions of a thread that steps: sends what is due, and ends the stepping then.
void follow_alarms(Context* context);

// The thread goes on in another context of its own. Uses general registers alone.
inline void carry_distances(Context* to, Context* from) {
  for (std::uint32_t i = 0; i < g_alarm_count; ++i)
    to->counters()[kFirstDistance + i] = from->counters()[kFirstDistance + i];
}

}  // namespace loft::engine::runtime
