// The short way through the door. This file is compiled for general registers alone, and calls
// nothing that is not: the program's vector registers are live.
#include "engine/runtime/door.hpp"
#include "engine/runtime/event_sets.hpp"
#include "engine/runtime/mark.hpp"
#include "engine/runtime/same_name.hpp"
#include "engine/runtime/take_over.hpp"

namespace loft::engine::runtime {
namespace {

bool begin(Context* context, const char* name, std::uint64_t length) {
  Context* inside = context->mark.last;
  if (inside == nullptr || !has_name(inside->mark, name, length)) return false;
  take_over(inside, context);
  *inside->mark.visits += 1;
  return true;
}

bool end(Context* context, const char* name, std::uint64_t length, std::uint32_t block) {
  Context* outside = context->mark.parent;
  if (outside == nullptr || context->mark.depth != 0 || context->mark.hidden != 0 ||
      !has_name(context->mark, name, length))
    return false;
  take_over(outside, context);
  context->counters()[block] -= 1;
  outside->counters()[block] += 1;
  return true;
}

// When there is nothing new to learn, the counts are told at once.
bool read(Context* context, std::uint64_t number, std::uint64_t to) {
  if (number == 0 || number > door::kMaxSets) return false;
  const EventSet& set = event_sets().sets[number - 1];
  if (__atomic_load_n(&set.count, __ATOMIC_ACQUIRE) == 0 || !can_sum(context)) return false;
  sum_counters(context, *first_of_thread(context)->reader);
  return tell_events(context, set, to);
}

}  // namespace

// 1: done, with the program's answer in rax, which is 1, too. 0: take the long way.
extern "C" std::uint32_t engine_door_c(const char* name, std::uint64_t length, std::uint64_t third,
                                       std::uint32_t what, Context* context) {
  if (static_cast<Door>(what & ((1u << kDoorShift) - 1)) == Door::call)
    return reinterpret_cast<std::uint64_t>(name) == static_cast<std::uint64_t>(door::Request::read)
               ? read(context, length, third)
               : 0;
  if (context->version != Version::counting) return 0;
  const auto door = static_cast<Door>(what & ((1u << kDoorShift) - 1));
  if (door == Door::begin) return begin(context, name, length) ? 1 : 0;
  if (door == Door::end) return end(context, name, length, what >> kDoorShift) ? 1 : 0;
  return 0;
}

}  // namespace loft::engine::runtime
