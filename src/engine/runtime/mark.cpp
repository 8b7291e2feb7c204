#include "engine/runtime/mark.hpp"

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/same_name.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/take_over.hpp"
#include "engine/runtime/threads.hpp"
#include "engine/runtime/window.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kDeepest = 64;
constexpr std::uint32_t kSlotsForThreads = 4096;  // that regions leave alone

std::uint32_t depth_of(const Context* context) {
  std::uint32_t depth = 0;
  for (; context->mark.parent != nullptr; context = context->mark.parent) ++depth;
  return depth;
}

Context* find_child(Context* context, const char* name, std::uint64_t length) {
  Context* child = context->mark.first_child;
  while (child != nullptr && !has_name(child->mark, name, length)) child = child->mark.sibling;
  return child;
}

Context* hide(Context* context, const char* why) {
  if (context->mark.hidden++ == 0)
    note(Message("regions were counted as part of the one around "
                 "them: ")
             .add(why));
  return context;
}

// Null when it is not told apart.
Context* open_child(Context* context, const char* name, std::uint64_t length) {
  char copy[kMaxMarkName];
  Mark mark{};
  mark.length = kept_length(length);
  if (mark.length == 0 || engine_safe_copy(copy, name, mark.length) != mark.length) {
    hide(context, "their name is empty or cannot be read");
    return nullptr;
  }
  if (depth_of(context) >= kDeepest) {
    hide(context, "they are nested more than 64 deep");
    return nullptr;
  }
  const bool has_slots = shared_header()->slots.load() < kMaxSlots - kSlotsForThreads;
  mark.path = has_slots ? record_path(context->mark.path, copy, mark.length) : 0;
  if (mark.path == 0) {
    hide(context, "there are more regions and threads than can be told apart");
    return nullptr;
  }
  mark.name = recorded_path(mark.path);
  return open_mark_context(context, mark);
}

// Goes on in the other context, which is of the same thread.
Context* change_to(Context* to, Context* from) {
  // One that was made inside a window has joined it by itself; the thread may not have.
  if (to->version == Version::streaming && from->version == Version::counting && has_windows())
    leave_own_window(to);
  take_over(to, from);
  if (to->version == Version::streaming) join_window(to, from->window);
  return to;
}

void tell_wrong_end(const Context* context, const char* name, std::uint64_t length) {
  constexpr std::uint32_t kTold = 16;
  if (shared_header()->wrong_ends.fetch_add(1) >= kTold) return;
  char copy[kMaxMarkName + 1] = {};
  engine_safe_copy(copy, name, kept_length(length));
  char open[kMaxMarkName + 1] = {};
  for (std::uint32_t i = 0; i < context->mark.length; ++i) open[i] = context->mark.name[i];
  Message message("an end of the region '");
  message.add(copy).add("' was ignored, before ").add_place(context->next_pc);
  if (context->mark.length == 0)
    message.add(": no region is open there");
  else
    message.add(": the innermost open one is '").add(open).add("'");
  note(message);
}

}  // namespace

bool has_marks() { return shared_header()->has_marks.load(std::memory_order_relaxed) != 0; }

Context* begin_mark(Context* context, const char* name, std::uint64_t length) {
  Mark& mark = context->mark;
  if (mark.hidden != 0) {
    ++mark.hidden;
    return context;
  }
  if (mark.parent != nullptr && has_name(mark, name, length)) {
    ++mark.depth;
    *mark.visits += 1;
    return context;
  }
  Context* inside = find_child(context, name, length);
  if (inside == nullptr) inside = open_child(context, name, length);
  if (inside == nullptr) return context;
  if (inside->mark.is_closed) {
    open_counters(inside);
    inside->mark.is_closed = false;
  }
  mark.last = inside;
  change_to(inside, context);
  *inside->mark.visits += 1;
  return inside;
}

Context* end_mark(Context* context, const char* name, std::uint64_t length, std::uint32_t block) {
  Mark& mark = context->mark;
  if (mark.hidden != 0) {
    --mark.hidden;
    return context;
  }
  if (mark.parent == nullptr || !has_name(mark, name, length)) {
    tell_wrong_end(context, name, length);
    return context;
  }
  if (mark.depth != 0) {
    --mark.depth;
    return context;
  }
  Context* outside = change_to(mark.parent, context);
  context->counters()[block] -= 1;
  outside->counters()[block] += 1;
  return outside;
}

void reopen_marks(Context* context) {
  for_each_of_thread(context, [&](Context& own) {
    own.mark.last = nullptr;  // the long way looks whether it is closed
    if (&own == context) return;
    own.mark.is_closed = true;
    own.window = 0;
  });
  for (Context* open = context->mark.parent; open != nullptr; open = open->mark.parent) {
    open_counters(open);
    open->mark.is_closed = false;
  }
}

}  // namespace loft::engine::runtime
