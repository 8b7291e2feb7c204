// Regions that the program marks itself (include/loft/region.h), counted apart by call path.
//
// Each region that a thread has been in has a context with counters of its own. Beginning and
// ending one changes gs, so the code in the cache is the same everywhere, and what is counted is
// exact by the same means: signals, repeated instructions, masks.
//
//   outside ── begin "a" ──► a ── begin "b" ──► a/b      a context each, kept until the thread ends
//   outside ◄── end "a" ─── a ◄─── end "b" ─── a/b
//
// An end that does not name the innermost region is ignored, and loft is told.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Whether marked regions are to be counted apart.
bool has_marks();

// The thread's context outside of all regions.
inline Context* home_of(Context* context) {
  return context->mark.home != nullptr ? context->mark.home : context;
}
inline const Context* home_of(const Context* context) {
  return context->mark.home != nullptr ? context->mark.home : context;
}

// Calls visit(context) for all contexts that the thread has for marked regions, and for its home.
template <class Visit>
void for_each_of_thread(Context* context, Visit&& visit) {
  for (Context* own = home_of(context); own != nullptr; own = own->mark.next) visit(*own);
}

// The long way of the door: new regions, recursion, mistakes. Both give the context that is in use
// from now on. The end stands in the block of that number, which is counted outside of the region.
Context* begin_mark(Context* context, const char* name, std::uint64_t length);
Context* end_mark(Context* context, const char* name, std::uint64_t length, std::uint32_t block);

// In the child of a fork, whose context has new counters already: so do the regions that are open.
void reopen_marks(Context* context);

}  // namespace loft::engine::runtime
