// What happens when the program leaves the code cache: find or make the code to go on with.
#include "engine/runtime/alarms.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/door.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/protect.hpp"
#include "engine/runtime/region.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/signals.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/syscalls.hpp"
#include "engine/runtime/thresholds.hpp"
#include "engine/runtime/trace.hpp"
#include "engine/runtime/translate.hpp"
#include "engine/runtime/unknown.hpp"
#include "engine/runtime/vsyscall.hpp"

namespace loft::engine::runtime {
namespace {

void go_to_trace(Context* context, std::uint64_t pc, bool indirect) {
  const Holding holding(cache_lock());
  while (is_vsyscall(pc) && find_region(pc) != nullptr)
    context->next_pc = pc = run_vsyscall(context, pc);
  Trace* trace = find_trace(pc, context->version);
  if (trace == nullptr) trace = translate(pc, context->version, indirect);
  if (trace == nullptr) {
    hold_fault(context, pc);
    return;
  }
  if (indirect) open_indirect(*trace);
  context->resume = word(trace->code);
}

void go_to(Context* context, std::uint64_t pc, bool indirect) {
  context->next_pc = pc;
  if (context->version == Version::stepping) follow_alarms(context);
  go_to_trace(context, pc, indirect && context->version != Version::stepping);
}

void follow_link(Context* context) {
  std::uint64_t pc = 0;
  {
    const Holding holding(cache_lock());
    pc = link_number(static_cast<std::uint32_t>(context->exit_link)).target;
  }
  if ((pc & kBehindUnknown) != 0)
    stop(Message("cannot count an instruction that is newer than the decoder, at ")
             .add_place(pc & ~kBehindUnknown));
  go_to(context, pc, false);
  const Holding holding(cache_lock());
  if (link_number(static_cast<std::uint32_t>(context->exit_link)).is_fixed) return;
  if (const Trace* trace = find_trace(pc, context->version))
    connect(link_number(static_cast<std::uint32_t>(context->exit_link)), *trace);
}

}  // namespace

extern "C" void engine_dispatch_c(Context* context) {
  context->calling = 0;
  context->at_threshold = 0;
  switch (context->reason) {
    case REASON_LINK:
      follow_link(context);
      break;
    case REASON_INDIRECT:
      go_to(context, context->next_pc, true);
      break;
    case REASON_SYSCALL:
      if (const std::uint64_t pc = run_syscall(context)) go_to(context, pc, false);
      break;
    case REASON_EFAULT:
      after_fault(context);
      break;
    case REASON_CHANGED: {
      {
        const Holding holding(cache_lock());
        forget_traces(context->next_pc, context->next_pc + 1);
      }
      go_to(context, context->next_pc, false);
      break;
    }
    case REASON_THRESHOLD:
      if (is_alarm()) {
        serve_alarm(context, static_cast<std::uint32_t>(context->exit_link));
        go_to_trace(context, context->next_pc, false);
        break;
      }
      await_distance(context, static_cast<std::uint32_t>(context->exit_link));
      context->at_threshold = 1;
      break;
    case REASON_DOOR:
      context = serve_door(context);
      go_to(context, context->next_pc, false);
      break;
    case REASON_ENTER:
      context = enter_region(context, context->regs[kRsp]);
      go_to(context, context->next_pc, false);
      break;
    case REASON_LEAVE:
      context = leave_region(context);
      go_to(context, context->next_pc, true);
      break;
    default:
      go_to(context, context->next_pc, false);
      break;
  }
}

}  // namespace loft::engine::runtime
