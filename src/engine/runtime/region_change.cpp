// Compiled for general registers alone and called with the program's fs: nothing here may call a
// library, not even memcpy.
#include "engine/runtime/calls.hpp"
#include "engine/runtime/region.hpp"
#include "engine/runtime/take_over.hpp"

namespace loft::engine::runtime {

// The other context goes on where this one stands; both use the first one's stacks.
Context* other_side(Context* from) {
  static_assert(sizeof(Context) % 8 == 0 && sizeof call_state(from) % 8 == 0);
  Context* to = from->region_other;
  const OwnFields own(to);
  copy_words(to, from, sizeof *to);
  copy_words(&call_state(to), &call_state(from), sizeof call_state(to));
  own.put_back(to);
  go_on_in(to, from);
  return to;
}

extern "C" {

void engine_region_entered(Context* context, std::uint64_t limit) {
  other_side(context)->region_check = ~limit;
}

void engine_region_left(Context* context) { other_side(context); }

}  // extern "C"

}  // namespace loft::engine::runtime
