#include "engine/runtime/region.hpp"

#include "engine/runtime/threads.hpp"
#include "engine/runtime/window.hpp"

namespace loft::engine::runtime {
namespace {

bool is_inside(const Context* context) { return context->region_outside == 0; }

std::uint64_t limit_of(const Context* inside) { return ~inside->region_check; }

Context* change_side(Context* from) {
  Context* to = other_side(from);
  if (to->version == Version::streaming) join_window(to, from->window);
  return to;
}

}  // namespace

Context* enter_region(Context* context, std::uint64_t limit) {
  if (is_inside(context)) return context;
  if (context->region_other == nullptr) open_inner_context(context);
  Context* inside = change_side(context);
  inside->region_check = ~limit;
  return inside;
}

Context* leave_region(Context* context) {
  return is_inside(context) ? change_side(context) : context;
}

Context* start_handler(Context* context, std::uint64_t rsp, std::uint64_t interrupted) {
  constexpr std::uint64_t kLargestFrame = 256u << 10;
  if (interrupted - rsp <= kLargestFrame) return context;  // the same stack
  if (!is_inside(context)) {
    context->region_suspended = 0;
    return context;
  }
  const std::uint64_t limit = limit_of(context);
  Context* outside = leave_region(context);
  outside->region_suspended = limit;
  return outside;
}

Context* end_handler(Context* context, std::uint64_t rsp) {
  if (is_inside(context)) return rsp > limit_of(context) ? leave_region(context) : context;
  const std::uint64_t limit = context->region_suspended;
  context->region_suspended = 0;
  return limit != 0 && rsp <= limit ? enter_region(context, limit) : context;
}

}  // namespace loft::engine::runtime
