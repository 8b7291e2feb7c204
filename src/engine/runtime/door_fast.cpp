// The short way through the door. This file is compiled for general registers alone, and calls
// nothing that is not: the program's vector registers are live.
#include "engine/runtime/door.hpp"
#include "engine/runtime/event_sets.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/mark.hpp"
#include "engine/runtime/record.hpp"
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
  const EventSets& all = event_sets();
  if (number == 0 || number > door::kMaxSets) return false;
  const EventSet& set = all.sets[number - 1];
  if (__atomic_load_n(&set.count, __ATOMIC_ACQUIRE) == 0 || all.pending != 0 ||
      __atomic_load_n(&all.learnt, __ATOMIC_ACQUIRE) != shared_header()->blocks.load())
    return false;
  return tell_events(context, set, to);
}

}  // namespace

namespace {

void add_counts(const EventSet& set, const std::uint64_t* counters, std::uint64_t* sums) {
  for (std::uint32_t i = 0; i < set.count; ++i) {
    const BlockWeights& weights = event_sets().rules[set.rules[i]];
    std::uint64_t sum = 0;
    for (std::uint32_t block = kFirstBlock; block < weights.end; ++block)
      sum += counters[block] *
             static_cast<std::uint64_t>(static_cast<std::int64_t>(weights.of_block[block]));
    sums[i] += sum;
  }
}

}  // namespace

// The thread may have several contexts: for marked regions, or inside and outside of a function.
bool tell_events(Context* context, const EventSet& set, std::uint64_t to) {
  std::uint64_t sums[door::kMaxRulesOfSet];
  for (std::uint32_t i = 0; i < set.count; ++i) sums[i] = 0;
  for (Context* own = home_of(context); own != nullptr; own = own->mark.next)
    if (!own->mark.is_closed) add_counts(set, own->counters(), sums);
  if (context->region_other != nullptr) add_counts(set, context->region_other->counters(), sums);
  const auto bytes = static_cast<long>(set.count * sizeof sums[0]);
  return engine_safe_copy(reinterpret_cast<void*>(to), sums, bytes) == bytes;
}

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
