#include "engine/runtime/window.hpp"

#include <sys/mman.h>

#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/mark.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/stream.hpp"

namespace loft::engine::runtime {
namespace {

StreamMode mode() { return static_cast<StreamMode>(shared_header()->stream_mode.load()); }

bool is_open(std::uint32_t window) { return window % 2 != 0; }

// Maps the page that the next change of the window takes away; gives the present window.
std::uint32_t map_poll(Context* context) {
  const std::uint32_t window = shared_header()->window.load() % kMaxWindow;
  const long memory = map_own(Own::polls, word(context) + kPollOffset, kPollBytes,
                              polls_after(window + 1) + context->slot * kPollBytes);
  if (is_error(memory)) stop(Message("the descriptor of the stream's windows is gone"));
  return window;
}

void leave_side(Context* context) {
  flush_stream(context);
  context->version = Version::counting;
  shared_header()->left.fetch_add(1);
}

}  // namespace

bool has_windows() { return mode() == StreamMode::windows; }

void start_version(Context* context) {
  context->version = Version::counting;
  context->window = 0;
  if (has_windows()) return follow_window(context);
  if (mode() == StreamMode::none) return;
  open_stream(context);
  context->version = Version::streaming;
}

bool is_poll(const Context* context, std::uint64_t address) {
  const std::uint64_t page = word(context) + kPollOffset;
  return has_windows() && address >= page && address < page + kPollBytes;
}

void follow_window(Context* context) {
  const std::uint32_t window = map_poll(context);
  if (context->version == Version::streaming &&
      (context->window != window || context->window_bytes == 0))
    leave_window(context);
  if (context->version == Version::counting && is_open(window) && context->window != window) {
    join_window(context, window);
    context->version = Version::streaming;
  }
}

void join_window(Context* context, std::uint32_t window) {
  if (!has_windows() || context->window == window) return;
  open_stream(context);
  context->window = window;
  context->window_bytes = shared_header()->window_bytes.load();
  shared_header()->joined.fetch_add(1);
}

void leave_window(Context* context) {
  if (!has_windows() || context->version != Version::streaming) return;
  const std::uint32_t window = context->window;
  for_each_of_thread(context, [&](Context& own) {
    if (&own == context || own.window == window) leave_side(&own);
  });
  Context* other = context->region_other;
  if (other != nullptr && other->window == window) leave_side(other);
}

void leave_own_window(Context* context) {
  leave_side(context);
  context->window = 0;
}

void spend_window(Context* context, std::uint64_t bytes) {
  if (!has_windows()) return;
  const bool is_over = bytes >= context->window_bytes || !has_reader();
  context->window_bytes = is_over ? 0 : context->window_bytes - bytes;
  if (is_over) kernel(SYS_mprotect, word(context) + kPollOffset, kPollBytes, PROT_NONE);
}

}  // namespace loft::engine::runtime
