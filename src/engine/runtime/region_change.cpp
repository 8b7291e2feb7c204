// Compiled for general registers alone and called with the program's fs: nothing here may call a
// library, not even memcpy.
#include "engine/runtime/alarms.hpp"
#include "engine/runtime/calls.hpp"
#include "engine/runtime/region.hpp"

namespace loft::engine::runtime {
namespace {

template <typename T>
void copy(T* to, const T* from) {
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);
  auto* out = reinterpret_cast<std::uint64_t*>(to);
  const auto* in = reinterpret_cast<const std::uint64_t*>(from);
  for (std::size_t i = 0; i < sizeof(T) / sizeof *out; ++i) out[i] = in[i];
}

}  // namespace

// The other context goes on where this one stands; both use the first one's stacks.
Context* other_side(Context* from) {
  Context* to = from->region_other;
  const std::uint64_t check = to->region_check;
  const std::uint64_t outside = to->region_outside;
  const std::uint64_t suspended = to->region_suspended;
  const std::uint64_t stream_base = to->stream_base;
  const std::uint64_t window_bytes = to->window_bytes;
  const std::uint32_t window = to->window;
  const std::uint32_t slot = to->slot;
  Context* const next = to->next;
  Reader* const reader = to->reader;
  std::uint64_t* const seen = to->seen;
  const std::uint64_t seen_slot = to->seen_slot;
  copy(to, from);
  copy(&call_state(to), &call_state(from));
  to->self = to;
  to->region_check = check;
  to->region_outside = outside;
  to->region_suspended = suspended;
  to->region_other = from;
  to->stream_base = stream_base;
  to->window = window;
  to->window_bytes = window_bytes;
  to->slot = slot;
  to->next = next;
  to->reader = reader;
  to->seen = seen;
  to->seen_slot = seen_slot;
  carry_distances(to, from);
  asm volatile("wrgsbase %0" : : "r"(to) : "memory");
  if (from->pending != 0) {  // a signal that came until now was held there
    copy(&to->held, &from->held);
    to->held_mask = from->held_mask;
    to->forced = from->forced;
    to->pending = from->pending;
    from->pending = 0;
  }
  return to;
}

extern "C" {

void engine_region_entered(Context* context, std::uint64_t limit) {
  other_side(context)->region_check = ~limit;
}

void engine_region_left(Context* context) { other_side(context); }

}  // extern "C"

}  // namespace loft::engine::runtime
