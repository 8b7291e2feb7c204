// A thread that has several contexts, each with counters of its own, goes on in another one. Uses
// general registers alone: the program's vector registers may be live.
#pragma once

#include <cstddef>

#include "engine/runtime/alarms.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Multiples of 8. The loop stays one: memcpy would use vector registers.
inline void copy_words(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<std::uint64_t*>(to);
  const auto* source = static_cast<const std::uint64_t*>(from);
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    target[i] = source[i];
    asm volatile("" : : : "memory");
  }
}

// The fields from `first` up to, not including, `end`.
inline void copy_fields(Context* to, const Context* from, std::size_t first, std::size_t end) {
  copy_words(reinterpret_cast<std::uint8_t*>(to) + first,
             reinterpret_cast<const std::uint8_t*>(from) + first, end - first);
}

// What stays with a context when a thread goes on in it: where it stands among regions, its stream,
// its place among others, and what was read of its counters.
class OwnFields {
 public:
  explicit OwnFields(const Context* context)
      : self_(context->self),
        region_check_(context->region_check),
        region_outside_(context->region_outside),
        region_suspended_(context->region_suspended),
        region_other_(context->region_other),
        stream_base_(context->stream_base),
        window_(context->window),
        window_bytes_(context->window_bytes),
        slot_(context->slot),
        next_(context->next),
        reader_(context->reader),
        seen_(context->seen),
        seen_slot_(context->seen_slot) {}

  void put_back(Context* context) const {
    context->self = self_;
    context->region_check = region_check_;
    context->region_outside = region_outside_;
    context->region_suspended = region_suspended_;
    context->region_other = region_other_;
    context->stream_base = stream_base_;
    context->window = window_;
    context->window_bytes = window_bytes_;
    context->slot = slot_;
    context->next = next_;
    context->reader = reader_;
    context->seen = seen_;
    context->seen_slot = seen_slot_;
  }

 private:
  Context* self_;
  std::uint64_t region_check_, region_outside_, region_suspended_;
  Context* region_other_;
  std::uint64_t stream_base_;
  std::uint32_t window_;
  std::uint64_t window_bytes_;
  std::uint32_t slot_;
  Context* next_;
  Reader* reader_;
  std::uint64_t* seen_;
  std::uint64_t seen_slot_;
};

// From here on gs points to `to`. A signal that came until then was held in `from`.
inline void go_on_in(Context* to, Context* from) {
  static_assert(sizeof from->held % 8 == 0);
  carry_distances(to, from);
  asm volatile("wrgsbase %0" : : "r"(to) : "memory");
  if (from->pending == 0) return;
  copy_words(&to->held, &from->held, sizeof to->held);
  to->held_mask = from->held_mask;
  to->forced = from->forced;
  to->pending = from->pending;
  from->pending = 0;
}

// Goes on in `to`, which uses the stacks of the thread's first context. Its counters stay its own.
inline void take_over(Context* to, Context* from) {
  static_assert(offsetof(Context, mark) % 8 == 0);
  const OwnFields own(to);
  // A signal that is held, and the tiles of one instruction, are not of both.
  copy_fields(to, from, 0, offsetof(Context, tiles));
  copy_fields(to, from, offsetof(Context, call), offsetof(Context, held));
  copy_fields(to, from, offsetof(Context, held_mask), offsetof(Context, mark));
  own.put_back(to);
  go_on_in(to, from);
}

}  // namespace loft::engine::runtime
