// Counting inside one function alone, and what it calls: the region.
//
// A thread has two contexts then, each with counters of its own: one outside, one inside. Only one
// is in use, the one that gs points to. Entering the function changes to the inner one; so the code
// in the cache is the same on both sides.
//
//   entering   a trace that starts where the function does asks, before its first block, whether it
//              is inside already (recursion)
//   leaving    rsp rises above where it was at the entry. Only returns and indirect jumps can do
//              that: a return, a tail call's return, longjmp, an exception's landing. Each of them
//              looks, without changing a flag.
//
// A signal handler that runs on the same stack belongs to what it interrupted. On an alternate
// stack it is outside, and the region is entered again when it returns.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// region_check where nothing leaves: the highest byte stays 0xFF whatever rsp is.
inline constexpr std::uint64_t kNeverLeaves = 0xFFull << 56;

// Both change gs and return the context that is in use from now on. `limit` is the highest rsp that
// is still inside: at the entry, where the return address is.
Context* enter_region(Context* context, std::uint64_t limit);
Context* leave_region(Context* context);
// The part of both that needs general registers alone (region_change.cpp): the way from translated
// code, once a thread has both contexts. Where a stream is written, the dispatcher does it.
Context* other_side(Context* from);

// A handler is about to start with this rsp, interrupting the program with that one.
Context* start_handler(Context* context, std::uint64_t rsp, std::uint64_t interrupted);
// A handler returns to the program with this rsp.
Context* end_handler(Context* context, std::uint64_t rsp);

}  // namespace loft::engine::runtime
