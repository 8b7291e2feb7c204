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

// From here on gs points to `to`, which uses the stacks of the thread's first context. What is its
// own stays: counters, stream, and where it stands among regions.
inline void take_over(Context* to, Context* from) {
  static_assert(offsetof(Context, mark) % 8 == 0 && sizeof from->held % 8 == 0);
  Context* const self = to->self;
  const std::uint64_t region_check = to->region_check;
  const std::uint64_t region_outside = to->region_outside;
  const std::uint64_t region_suspended = to->region_suspended;
  Context* const region_other = to->region_other;
  const std::uint64_t stream_base = to->stream_base;
  const std::uint32_t window = to->window;
  const std::uint64_t window_bytes = to->window_bytes;
  const std::uint32_t slot = to->slot;
  Context* const next = to->next;
  Reader* const reader = to->reader;
  std::uint64_t* const seen = to->seen;
  const std::uint64_t seen_slot = to->seen_slot;
  // A signal that is held, and the tiles of one instruction, are not of both.
  copy_fields(to, from, 0, offsetof(Context, tiles));
  copy_fields(to, from, offsetof(Context, call), offsetof(Context, held));
  copy_fields(to, from, offsetof(Context, held_mask), offsetof(Context, mark));
  to->self = self;
  to->region_check = region_check;
  to->region_outside = region_outside;
  to->region_suspended = region_suspended;
  to->region_other = region_other;
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
  if (from->pending == 0) return;
  // A signal that came until now was held there.
  copy_words(&to->held, &from->held, sizeof to->held);
  to->held_mask = from->held_mask;
  to->forced = from->forced;
  to->pending = from->pending;
  from->pending = 0;
}

}  // namespace loft::engine::runtime
