#include "engine/runtime/threads.hpp"

#include <linux/sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/mark.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/region.hpp"
#include "engine/runtime/signals.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/trace.hpp"

extern "C" {
void engine_dispatch();
void engine_syscall();
void engine_changed();
void engine_threshold();
void engine_region_enter();
void engine_region_leave();
void engine_door();
void engine_leave_for_signal();
void engine_region_enter_fast();
void engine_region_leave_fast();
long engine_clone(std::uint64_t flags, std::uint64_t stack, std::uint64_t parent_tid,
                  std::uint64_t child_tid, std::uint64_t tls,
                  loft::engine::runtime::Context* child);
long engine_clone3(void* arguments, std::uint64_t size, loft::engine::runtime::Context* child);
void engine_dispatch_c(loft::engine::runtime::Context* context);
}

namespace loft::engine::runtime {
namespace {

Context* g_contexts = nullptr;  // guarded by cache_lock()

bool thread_is_gone(const Context& context) {
  const long result =
      kernel(SYS_tgkill, static_cast<std::uint64_t>(kernel(SYS_getpid)), context.thread, 0);
  return result == -ESRCH;
}

Context* reuse_context() {
  for (Context* context = g_contexts; context != nullptr; context = context->next) {
    if (context->state == kEnding && thread_is_gone(*context)) context->state = kFree;
    if (context->state == kFree) return context;
  }
  return nullptr;
}

Context* map_context() {
  auto* context = static_cast<Context*>(reserve(kContextBytes + kCountersPerSlot));
  context->next = g_contexts;
  g_contexts = context;
  return context;
}

// cache_lock() is held.
Context* take_context() {
  Context* context = reuse_context();
  if (context == nullptr) context = map_context();
  Context* const next = context->next;
  const std::uint64_t stream_base = context->stream_base;
  Reader* const reader = context->reader;
  std::uint64_t* const seen = context->seen;
  std::memset(static_cast<void*>(context), 0, sizeof *context);
  const std::uint64_t base = word(context);
  context->next = next;
  context->stream_base = stream_base;
  context->reader = reader;
  context->seen = seen;
  context->self = context;
  context->dispatch = word(&engine_dispatch);
  context->syscall = word(&engine_syscall);
  context->engine_stack = base + kEngineStackTop;
  context->xsave_area = base + kXsaveOffset;
  context->program_stack.ss_flags = SS_DISABLE;
  context->region_check = kNeverLeaves;
  context->region_outside = 1;
  context->changed = word(&engine_changed);
  context->threshold = word(&engine_threshold);
  context->door = word(&engine_door);
  context->leave = word(&engine_leave_for_signal);
  context->region_enter = word(&engine_region_enter);
  context->region_leave = word(&engine_region_leave);
  context->state = kRunning;
  return context;
}

void leave_syscall(Context* context, std::uint64_t result, std::uint64_t next_pc) {
  context->regs[kRax] = result;
  context->regs[kRcx] = next_pc;
  context->regs[kR11] = context->flags;
  context->next_pc = next_pc;
}

// The kernel gives a new thread or process the state of its parent but for what the tiles hold.
void forget_tile_data(Context* context) {
  constexpr std::uint64_t kHeader = 512;
  constexpr std::uint64_t kTileData = 1u << 18;
  *reinterpret_cast<std::uint64_t*>(context->xsave_area + kHeader) &= ~kTileData;
}

// A context that starts as a copy of its parent's state after the system call.
Context* make_child(Context* parent, std::uint64_t flags, std::uint64_t stack,
                    std::uint64_t next_pc) {
  const Holding holding(cache_lock());
  Context* child = take_context();
  std::memcpy(child->regs, parent->regs, sizeof child->regs);
  child->flags = parent->flags;
  child->creator = parent->thread;
  child->engine_fs = parent->engine_fs;
  child->program_fs = parent->program_fs;
  child->program_gs = parent->program_gs;
  child->xsave_compact = parent->xsave_compact;
  child->blocked_sync = parent->blocked_sync;
  child->filters = parent->filters;
  child->actions = (flags & CLONE_SIGHAND) != 0 ? parent->actions : copy_actions(*parent->actions);
  std::memcpy(reinterpret_cast<void*>(child->xsave_area),
              reinterpret_cast<void*>(parent->xsave_area), kXsaveBytes);
  forget_tile_data(child);
  if ((flags & CLONE_VFORK) != 0) child->program_stack = parent->program_stack;
  if (stack != 0) child->regs[kRsp] = stack;
  leave_syscall(child, 0, next_pc);
  return child;
}

void release_child(Context* child) {
  const Holding holding(cache_lock());
  if (child->exec_memory != nullptr)
    kernel(SYS_munmap, word(child->exec_memory), child->exec_bytes);
  child->exec_memory = nullptr;
  if (child->region_other != nullptr) child->region_other->state = kFree;
  for_each_of_thread(child, [](Context& own) { own.state = kFree; });
}

// In the child of a fork: it is alone, and counts for itself.
void become_own_process(Context* context, std::uint64_t stack, std::uint64_t tls_or_0) {
  if (tls_or_0 != 0) context->program_fs = tls_or_0;
  forget_tile_data(context);
  forget_descriptor_users();
  asm volatile("wrfsbase %0" : : "r"(context->engine_fs));
  for (Context* other = g_contexts; other != nullptr; other = other->next)
    if (home_of(other) != home_of(context) && other != context->region_other) other->state = kFree;
  if (stack != 0) context->regs[kRsp] = stack;
  const std::uint32_t creator = context->thread;
  for_each_of_thread(context, [&](Context& own) { own.creator = creator; });
  context->creator = creator;
  open_counters(context);
  if (context->region_other != nullptr) open_counters(context->region_other);
  reopen_marks(context);
}

}  // namespace

void open_inner_context(Context* context) {
  const Holding holding(cache_lock());
  Context* inside = take_context();
  inside->region_outside = 0;
  inside->region_other = context;
  open_counters(inside);
  context->region_other = inside;
  if (shared_header()->stream_mode != static_cast<std::uint32_t>(StreamMode::none)) return;
  context->region_enter = word(&engine_region_enter_fast);
  context->region_leave = word(&engine_region_leave_fast);
}

Context* open_mark_context(Context* parent, const Mark& mark) {
  const Holding holding(cache_lock());
  Context* inside = take_context();
  inside->mark = mark;
  Context* home = home_of(parent);
  inside->mark.home = home;
  inside->mark.next = home->mark.next;
  home->mark.next = inside;
  inside->mark.parent = parent;
  inside->creator = home->creator;
  inside->mark.sibling = parent->mark.first_child;
  parent->mark.first_child = inside;
  open_counters(inside);
  return inside;
}

Context* open_first_context(std::uint64_t engine_fs) {
  Context* context = take_context();
  context->engine_fs = engine_fs;
  context->actions = open_signals();
  asm volatile("wrgsbase %0" : : "r"(context));
  open_counters(context);
  open_signal_stack(context);
  return context;
}

extern "C" void engine_child_c(Context* context) {
  open_signal_stack(context);
  open_counters(context);
  context->reason = REASON_SIGNAL;
  engine_dispatch_c(context);
}

long run_clone(Context* context, std::uint64_t flags, std::uint64_t stack, std::uint64_t parent_tid,
               std::uint64_t child_tid, std::uint64_t tls, std::uint64_t next_pc) {
  if ((flags & CLONE_VM) == 0) {
    const Holding holding(cache_lock());
    const long result = kernel(SYS_clone, flags, 0, parent_tid, child_tid, tls);
    if (result == 0) become_own_process(context, stack, (flags & CLONE_SETTLS) != 0 ? tls : 0);
    return result;
  }
  Context* child = make_child(context, flags, stack, next_pc);
  const long result = engine_clone(flags, child->engine_stack, parent_tid, child_tid, tls, child);
  if (is_error(result) || (flags & CLONE_VFORK) != 0) release_child(child);
  return result;
}

long run_clone3(Context* context, std::uint64_t arguments, std::uint64_t size,
                std::uint64_t next_pc) {
  clone_args wanted{};
  if (size < 64) return -EINVAL;
  if (size > sizeof wanted) return -E2BIG;
  if (engine_safe_copy(&wanted, reinterpret_cast<void*>(arguments), static_cast<long>(size)) !=
      static_cast<long>(size))
    return -EFAULT;
  const std::uint64_t stack = wanted.stack == 0 ? 0 : wanted.stack + wanted.stack_size;
  const std::uint64_t flags = wanted.flags;
  if ((flags & CLONE_VM) == 0) {
    wanted.stack = wanted.stack_size = 0;
    const Holding holding(cache_lock());
    const long result = kernel(SYS_clone3, word(&wanted), size);
    if (result == 0)
      become_own_process(context, stack, (flags & CLONE_SETTLS) != 0 ? wanted.tls : 0);
    return result;
  }
  Context* child = make_child(context, flags, stack, next_pc);
  wanted.stack = word(child) + kEngineStackBase;
  wanted.stack_size = child->engine_stack - wanted.stack;
  const long result = engine_clone3(&wanted, size, child);
  if (is_error(result) || (flags & CLONE_VFORK) != 0) release_child(child);
  return result;
}

bool is_alone(const Context* context) {
  const Holding holding(cache_lock());
  for (const Context* other = g_contexts; other != nullptr; other = other->next)
    if (home_of(other) != home_of(context) && other != context->region_other &&
        other->state == kRunning)
      return false;
  return true;
}

void share_filters(const Context* context) {
  const Holding holding(cache_lock());
  for (Context* other = g_contexts; other != nullptr; other = other->next)
    if (other->state == kRunning) other->filters = context->filters;
}

void run_exit(Context* context, std::uint64_t status) {
  close_slot(context);
  if (context->region_other != nullptr)
    __atomic_store_n(&context->region_other->state, kEnding, __ATOMIC_RELEASE);
  for_each_of_thread(context,
                     [](Context& own) { __atomic_store_n(&own.state, kEnding, __ATOMIC_RELEASE); });
  kernel(SYS_exit, status);
  __builtin_unreachable();
}

}  // namespace loft::engine::runtime
