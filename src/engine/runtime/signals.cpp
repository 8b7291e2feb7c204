#include "engine/runtime/signals.hpp"

#include <ucontext.h>

#include <cerrno>
#include <cstring>

#include "engine/runtime/calls.hpp"
#include "engine/runtime/frame.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/place.hpp"
#include "engine/runtime/protect.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/region.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/stream.hpp"
#include "engine/runtime/trace.hpp"
#include "engine/runtime/window.hpp"

extern "C" {
void engine_resume();
void engine_trapped();
void engine_leave_for_signal();
void engine_safe_copy_instruction();
void engine_safe_copy_fault();
void engine_same_bytes_load();
void engine_same_bytes_fault();
void engine_restorer();
void engine_peek();
void engine_syscall_long();
void engine_sigreturn(void* frame);
}

namespace loft::engine::runtime {
namespace {

constexpr std::uint64_t kRestorerFlag = 0x04000000;
constexpr std::uint64_t kAllButFaults = ~kFaults;
constexpr std::uint64_t kTrapFlag = 0x100;
constexpr int kTraceTrap = 2;

Context* this_context() {
  Context* context = nullptr;
  asm("mov %%gs:0, %0" : "=r"(context));
  return context;
}

std::uint64_t& reg(ucontext_t* user, int which) {
  return reinterpret_cast<std::uint64_t&>(user->uc_mcontext.gregs[which]);
}

std::uint64_t& mask_of(ucontext_t* user) {
  return *reinterpret_cast<std::uint64_t*>(&user->uc_sigmask);
}

void on_signal(int signal, siginfo_t* info, void* memory);

// The kernel's action for what the program wants: the same for default and ignore, ours for a
// handler.
long install(int signal, const Action& wanted) {
  Action action = wanted;
  const bool fault = (kFaults & bit_of(signal)) != 0;
  if (wanted.handler > 1 || fault) {
    action.handler = word(&on_signal);
    action.flags = SA_SIGINFO | SA_ONSTACK | kRestorerFlag |
                   (wanted.flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT));
    action.restorer = word(&engine_restorer);
    action.mask = kAllButFaults;
  }
  return kernel(SYS_rt_sigaction, static_cast<std::uint64_t>(signal), word(&action), 0, 8);
}

// Sends the thread on at a place of the program, through the dispatcher.
void go_on(Context* context, ucontext_t* user, std::uint64_t pc) {
  context->next_pc = pc;
  reg(user, REG_RIP) = word(&engine_leave_for_signal);
}

// The default action, by the kernel, so that the parent sees the status that it would see natively.
void die_or_ignore(Context* context, ucontext_t* user, const siginfo_t& info, std::uint64_t pc) {
  Action action{0, kRestorerFlag, word(&engine_restorer), 0};
  const int signal = info.si_signo;
  kernel(SYS_rt_sigaction, static_cast<std::uint64_t>(signal), word(&action), 0, 8);
  mask_of(user) &= ~bit_of(signal);
  go_on(context, user, pc);
  siginfo_t copy = info;
  const auto process = static_cast<std::uint64_t>(kernel(SYS_getpid));
  const auto thread = static_cast<std::uint64_t>(kernel(SYS_gettid));
  if (is_error(kernel(SYS_rt_tgsigqueueinfo, process, thread, static_cast<std::uint64_t>(signal),
                      word(&copy))))
    kernel(SYS_tgkill, process, thread, static_cast<std::uint64_t>(signal));
}

// Gives the signal to the program, whose state in `user` is exact and whose place is `pc`.
void deliver(Context* context, ucontext_t* user, const siginfo_t& info, std::uint64_t pc,
             bool forced) {
  const int signal = info.si_signo;
  Action& action = context->actions->of[signal];
  const std::uint64_t old_mask = (mask_of(user) & kAllButFaults) | context->blocked_sync;
  const bool blocked = (old_mask & bit_of(signal)) != 0;
  if (action.handler == 1 && !forced) return go_on(context, user, pc);
  if (action.handler <= 1 || (forced && blocked)) return die_or_ignore(context, user, info, pc);
  const Action chosen = action;
  const std::uint64_t interrupted = reg(user, REG_RSP);
  if (!push_frame(context, user, info, chosen, pc, old_mask)) {
    siginfo_t overflow{};
    overflow.si_signo = SIGSEGV;
    overflow.si_code = SI_KERNEL;
    return die_or_ignore(context, user, overflow, pc);
  }
  std::uint64_t mask = old_mask | chosen.mask;
  if ((chosen.flags & SA_NODEFER) == 0) mask |= bit_of(signal);
  mask_of(user) = mask & kAllButFaults;
  context->blocked_sync = mask & kFaults;
  if ((chosen.flags & static_cast<std::uint64_t>(SA_RESETHAND)) != 0) {
    action.handler = 0;
    install(signal, action);
  }
  context = start_handler(context, reg(user, REG_RSP), interrupted);
  start_handler_in_calls(context, reg(user, REG_RSP), interrupted);
  go_on(context, user, chosen.handler);
}

void hold(Context* context, ucontext_t* user, const siginfo_t& info) {
  context->held = info;
  context->held_mask = mask_of(user);
  context->forced = 0;
  mask_of(user) = kAllButFaults;
}

// What the processor would have said of an instruction that it could not fetch.
void tell_fetch(ucontext_t* user, const siginfo_t& info) {
  constexpr std::uint64_t kPageFault = 14;
  constexpr std::uint64_t kGeneralProtection = 13;
  constexpr std::uint64_t kFetchByUser = 0x14;
  constexpr std::uint64_t kPresent = 1;
  const bool is_page = info.si_code != SI_KERNEL;
  reg(user, REG_TRAPNO) = is_page ? kPageFault : kGeneralProtection;
  reg(user, REG_ERR) = 0;
  if (!is_page) return;
  std::uint8_t byte = 0;
  const bool is_present = engine_safe_copy(&byte, info.si_addr, 1) == 1;
  reg(user, REG_ERR) = kFetchByUser | (is_present ? kPresent : 0);
  reg(user, REG_CR2) = word(info.si_addr);
}

// The held signal can be given now.
void deliver_held(Context* context, ucontext_t* user, std::uint64_t pc) {
  if (context->forced != 0 && context->held.si_signo == SIGSEGV) tell_fetch(user, context->held);
  context->pending = 0;
  context->stepping = 0;
  reg(user, REG_EFL) &= ~kTrapFlag;
  mask_of(user) = context->held_mask;
  deliver(context, user, context->held, pc, context->forced != 0);
}

void on_fault(Context* context, ucontext_t* user, const siginfo_t& info) {
  const std::uint64_t at = reg(user, REG_RIP);
  if (info.si_signo == SIGSEGV && hand_over(context, user, word(info.si_addr))) return;
  if (is_poll(context, word(info.si_addr))) {
    if (const Trace* trace = find_trace_at(at + poll_size());
        trace != nullptr && word(trace->code) == at + poll_size()) {
      follow_window(context);
      return go_on(context, user, trace->pc);
    }
  }
  const Place place = locate(context, user, true);
  if (place.where != Where::program)
    stop(Message("the engine itself failed with signal ")
             .add_number(static_cast<std::uint64_t>(info.si_signo))
             .add(" at ")
             .add_hex(at)
             .add(" touching ")
             .add_hex(word(info.si_addr))
             .add(", after the program's ")
             .add_place(context->next_pc));
  constexpr std::uint64_t kWrite = 2;
  if (info.si_signo == SIGSEGV && (reg(user, REG_ERR) & kWrite) != 0) {
    const Holding holding(cache_lock());
    if (unprotect_code(word(info.si_addr), place.pc)) return go_on(context, user, place.pc);
  }
  siginfo_t told = info;
  if (word(info.si_addr) == at) told.si_addr = reinterpret_cast<void*>(place.pc);  // SIGILL, SIGFPE
  deliver(context, user, told, place.pc, true);
}

void on_step(Context* context, ucontext_t* user) {
  const Place place = locate(context, user, false);
  if (place.where == Where::program) return deliver_held(context, user, place.pc);
  if (place.where == Where::between) return;
  reg(user, REG_EFL) &= ~kTrapFlag;
  context->stepping = 0;
  context->pending = 1;
}

void on_message(Context* context, ucontext_t* user, const siginfo_t& info) {
  const Place place = locate(context, user, false);
  if (place.where == Where::program) return deliver(context, user, info, place.pc, false);
  hold(context, user, info);
  if (place.where == Where::between) {
    context->stepping = 1;
    reg(user, REG_EFL) |= kTrapFlag;
    return;
  }
  if (place.where == Where::resuming) reg(user, REG_RIP) = word(&engine_resume);
  if (const std::uint64_t again = restart_of_calls(reg(user, REG_RIP))) reg(user, REG_RIP) = again;
  context->pending = 1;
}

void on_signal(int signal, siginfo_t* info, void* memory) {
  asm volatile("pushq $2; popfq" : : : "cc", "memory");  // the program may have alignment checks on
  auto* user = static_cast<ucontext_t*>(memory);
  Context* context = this_context();
  const std::uint64_t rip = reg(user, REG_RIP);
  const bool fault = (kFaults & bit_of(signal)) != 0 && info->si_code > 0;
  if (fault && rip == word(&engine_safe_copy_instruction)) {
    reg(user, REG_RIP) = word(&engine_safe_copy_fault);
    return;
  }
  if (fault && rip == word(&engine_same_bytes_load)) {
    reg(user, REG_RIP) = word(&engine_same_bytes_fault);
    return;
  }
  if (fault && rip == word(&engine_peek)) {
    reg(user, REG_RIP) = word(&engine_syscall_long);
    return;
  }
  if (fault && is_call_peek(rip)) {
    reg(user, REG_RIP) = behind_call_peek();
    return;
  }
  if (signal == SIGTRAP && context->pending != 0 && rip == word(&engine_trapped)) {
    if (context->at_threshold != 0) {
      context->at_threshold = 0;
      reg(user, REG_RIP) = context->resume;
      context->next_pc = locate(context, user, false).pc;
    }
    if (context->calling != 0) take_back_call(context, user);
    context->calling = 0;
    return deliver_held(context, user, context->next_pc);
  }
  if (signal == SIGTRAP && context->stepping != 0 && info->si_code == kTraceTrap)
    return on_step(context, user);
  if (fault) return on_fault(context, user, *info);
  on_message(context, user, *info);
}

}  // namespace

Actions* open_signals() {
  auto* actions = static_cast<Actions*>(allocate(sizeof(Actions)));
  for (int signal = 1; signal <= 64; ++signal) {
    kernel(SYS_rt_sigaction, static_cast<std::uint64_t>(signal), 0, word(&actions->of[signal]), 8);
    if ((kFaults & bit_of(signal)) != 0) install(signal, actions->of[signal]);
  }
  return actions;
}

Actions* copy_actions(const Actions& actions) {
  auto* copy = static_cast<Actions*>(allocate(sizeof(Actions)));
  *copy = actions;
  return copy;
}

void open_signal_stack(Context* context) {
  stack_t stack{};
  stack.ss_sp = reinterpret_cast<std::uint8_t*>(context) + kSignalStackBase;
  stack.ss_size = kContextBytes - kSignalStackBase;
  kernel(SYS_sigaltstack, word(&stack), 0);
}

bool hold_forced(Context* context, const siginfo_t& info) {
  if (context->pending != 0) return false;
  const std::uint64_t all = kAllButFaults;
  kernel(SYS_rt_sigprocmask, SIG_SETMASK, word(&all), word(&context->held_mask), 8);
  context->held = info;
  context->forced = 1;
  context->pending = 1;
  return true;
}

void hold_fault(Context* context, std::uint64_t pc) {
  siginfo_t info{};
  info.si_signo = SIGSEGV;
  constexpr std::uint64_t kCanonical = 1ull << 47;
  if (pc >= kCanonical && pc < 0 - kCanonical) {
    info.si_code = SI_KERNEL;
  } else {
    // There is code, but its first instruction is cut off: what follows is what is missing.
    const Region* region = known_region(pc);
    const std::uint64_t missing = region != nullptr ? region->end : pc;
    info.si_code = is_mapped(missing) ? SEGV_ACCERR : SEGV_MAPERR;
    info.si_addr = reinterpret_cast<void*>(missing);
  }
  hold_forced(context, info);  // or it comes again when it is tried again
}

void die_by(Context* context, int signal) {
  const Action action{0, kRestorerFlag, word(&engine_restorer), 0};
  const auto number = static_cast<std::uint64_t>(signal);
  const std::uint64_t none = ~bit_of(signal);
  close_slot(context);
  kernel(SYS_rt_sigaction, number, word(&action), 0, 8);
  kernel(SYS_rt_sigprocmask, SIG_SETMASK, word(&none), 0, 8);
  kernel(SYS_tgkill, static_cast<std::uint64_t>(kernel(SYS_getpid)),
         static_cast<std::uint64_t>(kernel(SYS_gettid)), number);
  kernel(SYS_exit_group, 128 + number);
  __builtin_unreachable();
}

long change_action(Context* context, int signal, std::uint64_t action, std::uint64_t old,
                   std::uint64_t size) {
  if (size != 8 || signal < 1 || signal > 64) return -EINVAL;
  Action wanted{};
  if (action != 0) {
    if (signal == SIGKILL || signal == SIGSTOP) return -EINVAL;
    if (engine_safe_copy(&wanted, reinterpret_cast<void*>(action), sizeof wanted) != sizeof wanted)
      return -EFAULT;
    wanted.mask &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
  }
  Action& mine = context->actions->of[signal];
  if (old != 0 && engine_safe_copy(reinterpret_cast<void*>(old), &mine, sizeof mine) != sizeof mine)
    return -EFAULT;
  if (action == 0) return 0;
  mine = wanted;
  return install(signal, wanted);
}

long change_mask(Context* context, int how, std::uint64_t set, std::uint64_t old,
                 std::uint64_t size) {
  if (size != 8) return -EINVAL;
  std::uint64_t now = 0;
  kernel(SYS_rt_sigprocmask, SIG_SETMASK, 0, word(&now), 8);
  if (context->pending != 0) now = context->held_mask;
  now = (now & kAllButFaults) | context->blocked_sync;
  std::uint64_t wanted = 0;
  if (set != 0) {
    if (engine_safe_copy(&wanted, reinterpret_cast<void*>(set), 8) != 8) return -EFAULT;
    if (how == SIG_BLOCK) {
      wanted = now | wanted;
    } else if (how == SIG_UNBLOCK) {
      wanted = now & ~wanted;
    } else if (how != SIG_SETMASK) {
      return -EINVAL;
    }
    wanted &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
    context->blocked_sync = wanted & kFaults;
    const std::uint64_t real = wanted & kAllButFaults;
    if (context->pending != 0) {
      context->held_mask = real;
    } else {
      kernel(SYS_rt_sigprocmask, SIG_SETMASK, word(&real), 0, 8);
    }
  }
  if (old != 0 && engine_safe_copy(reinterpret_cast<void*>(old), &now, 8) != 8) return -EFAULT;
  return 0;
}

long change_stack(Context* context, std::uint64_t stack, std::uint64_t old) {
  const std::uint64_t rsp = context->regs[kRsp];
  const stack_t before = context->program_stack;
  const std::uint64_t start = word(before.ss_sp);
  const bool on_it =
      (before.ss_flags & SS_DISABLE) == 0 && rsp > start && rsp - start <= before.ss_size;
  stack_t wanted{};
  if (stack != 0) {
    if (engine_safe_copy(&wanted, reinterpret_cast<void*>(stack), sizeof wanted) != sizeof wanted)
      return -EFAULT;
    if (on_it) return -EPERM;
    const int mode = wanted.ss_flags & ~static_cast<int>(1u << 31);
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0) return -EINVAL;
    if (mode != SS_DISABLE && wanted.ss_size < 2048) return -ENOMEM;
    if (mode == SS_DISABLE) wanted.ss_sp = nullptr, wanted.ss_size = 0;
    context->program_stack = wanted;
  }
  stack_t told = before;
  if (on_it) told.ss_flags |= SS_ONSTACK;
  if (old != 0 && engine_safe_copy(reinterpret_cast<void*>(old), &told, sizeof told) != sizeof told)
    return -EFAULT;
  return 0;
}

void return_from_handler(Context* context) {
  KernelUserContext user{};
  if (engine_safe_copy(&user, reinterpret_cast<void*>(context->regs[kRsp]), sizeof user) !=
      sizeof user)
    stop(Message("the program returns from a signal without a frame, after ")
             .add_place(context->next_pc));
  context = end_handler(context, user.registers[KernelUserContext::kRsp]);
  end_handler_in_calls(context, user.registers[KernelUserContext::kRsp]);
  context->next_pc = user.registers[KernelUserContext::kRip];
  user.registers[KernelUserContext::kRip] = word(&engine_leave_for_signal);
  context->program_stack = user.stack;
  context->program_stack.ss_flags &= ~SS_ONSTACK;
  user.stack.ss_sp = reinterpret_cast<std::uint8_t*>(context) + kSignalStackBase;
  user.stack.ss_size = kContextBytes - kSignalStackBase;
  user.stack.ss_flags = 0;
  context->blocked_sync = user.mask & kFaults;
  user.mask &= kAllButFaults;
  if (context->pending != 0) {
    context->held_mask = user.mask;
    user.mask = kAllButFaults;
  }
  asm volatile("wrfsbase %0" : : "r"(context->program_fs));
  engine_sigreturn(&user);
  __builtin_unreachable();
}

}  // namespace loft::engine::runtime
