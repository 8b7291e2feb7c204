#include "engine/runtime/syscalls.hpp"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/exec.hpp"
#include "engine/runtime/files.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/own_maps.hpp"
#include "engine/runtime/protect.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/seccomp.hpp"
#include "engine/runtime/signals.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/threads.hpp"
#include "engine/runtime/trace.hpp"

extern "C" {
std::uint64_t engine_harmless_syscalls[8];
std::uint64_t engine_path_syscalls[8];  // harmless, unless their path is below /proc
void engine_syscall_instruction();
}

namespace loft::engine::runtime {
namespace {

constexpr int kSeen[] = {SYS_mmap,           SYS_munmap,        SYS_mprotect,
                         SYS_mremap,         SYS_pkey_mprotect, SYS_clone,
                         SYS_clone3,         SYS_fork,          SYS_vfork,
                         SYS_execve,         SYS_execveat,      SYS_rt_sigaction,
                         SYS_rt_sigprocmask, SYS_rt_sigreturn,  SYS_sigaltstack,
                         SYS_exit,           SYS_exit_group,    SYS_arch_prctl,
                         SYS_rseq,           SYS_prctl,         SYS_seccomp,
                         SYS_readlink,       SYS_readlinkat,    SYS_open,
                         SYS_openat,         SYS_close,         SYS_close_range,
                         SYS_dup2,           SYS_dup3,          SYS_mlockall,
                         SYS_shmat,          SYS_shmdt,         SYS_remap_file_pages,
                         SYS_stat,           SYS_newfstatat,    SYS_statx};
constexpr int kWithPath[] = {SYS_open, SYS_openat, SYS_stat, SYS_newfstatat, SYS_statx};

constexpr std::uint64_t bit_of_call(long number) { return 1ull << (number % 64); }

// The range changes: code that was translated from it is no longer the program's.
void forget_code(std::uint64_t start, std::uint64_t bytes) {
  const std::uint64_t end = start + bytes;
  const Holding holding(cache_lock());
  if (!forget_regions(start, end) && !has_aliases()) return;
  forget_protection(start, end);
  forget_traces(start, end);
}

// The program does not know where the engine is, and may map over it what it believes to be a hole.
// Its part of the range is changed, ours is left alone.
long around_engine(const Call& call) {
  std::uint64_t at = call.a;
  const std::uint64_t end = call.a + call.b;
  AddressRange own{};
  constexpr std::uint64_t kLimit = 0x7ffffffff000;
  const bool is_possible = (at & 4095) == 0 && at <= kLimit && call.b <= kLimit - at;
  if (!is_possible || !find_own_range(at, end, own)) return call.in_kernel();
  while (at < end) {
    const bool found = find_own_range(at, end, own);
    const std::uint64_t piece_end = found ? own.start : end;
    if (at < piece_end) {
      Call piece = call;
      piece.a = at;
      piece.b = piece_end - at;
      if (call.number == SYS_mmap && (call.d & MAP_ANONYMOUS) == 0) piece.f += at - call.a;
      if (const long result = piece.in_kernel(); is_error(result)) return result;
    }
    at = found ? own.end : end;
  }
  return call.number == SYS_mmap ? static_cast<long>(call.a) : 0;
}

// A JIT maps its jitdump executable so that whoever watches learns of the file. Nothing is executed
// there, so that no translation tells of it.
void record_jit_dump(const Call& call, std::uint64_t start) {
  if ((call.c & PROT_EXEC) == 0 || (call.d & MAP_ANONYMOUS) != 0) return;
  char path[kMaxPath] = {};
  Message link("/proc/self/fd/");
  link.add_number(call.e);
  if (kernel(SYS_readlink, word(link.text()), word(path), sizeof path - 1) <= 0) return;
  const char* name = std::strrchr(path, '/');
  if (name == nullptr || std::strncmp(name, "/jit-", 5) != 0) return;
  const std::size_t size = std::strlen(name);
  if (size < 5 || std::strcmp(name + size - 5, ".dump") != 0) return;
  const Holding holding(cache_lock());
  (void)record_mapping(start, start + call.b, call.f, path);
}

long change_memory(const Call& call) {
  // Before, so that no thread finds code of the old; after, for those that came in between.
  const bool replaces =
      call.number != SYS_mmap || (call.d & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  if (replaces) forget_code(call.a, call.b);
  const bool may_hit_engine = replaces && call.number != SYS_mremap &&
                              (call.number != SYS_mmap || (call.d & MAP_FIXED) != 0);
  const long result = may_hit_engine ? around_engine(call) : call.in_kernel();
  if (call.number == SYS_mremap && !is_error(result))
    forget_code(static_cast<std::uint64_t>(result), call.c);
  if (call.number == SYS_mmap && !is_error(result)) {
    forget_code(static_cast<std::uint64_t>(result), call.b);
    record_jit_dump(call, static_cast<std::uint64_t>(result));
  }
  if (call.number == SYS_mprotect && !is_error(result)) forget_code(call.a, call.b);
  return result;
}

long execute(const Call& call) {
  char text[PATH_MAX];
  char* path = text;
  if (call.number == SYS_execve) {
    if (!copy_string(path, PATH_MAX, call.a)) return -EFAULT;
    if (is_own_file(path, "exe"))
      std::memcpy(path, program_path(), std::strlen(program_path()) + 1);
    if (const long descriptor = named_descriptor(path); descriptor >= 0)
      return run_exec_at(call.context, static_cast<std::uint64_t>(descriptor), "", call.b, call.c);
    return run_exec(call.context, path, call.b, call.c);
  }
  if (!copy_string(path, PATH_MAX, call.b)) return -EFAULT;
  if (path[0] == '\0' && (call.e & AT_EMPTY_PATH) == 0) return -ENOENT;
  if (path[0] == '/' || static_cast<int>(call.a) == AT_FDCWD)
    return run_exec(call.context, path, call.c, call.d);
  return run_exec_at(call.context, call.a, path, call.c, call.d);
}

long control(const Call& call) {
  Context* context = call.context;
  if (call.number == SYS_arch_prctl) {
    switch (call.a) {
      case ARCH_SET_FS:
        context->program_fs = call.b;
        return 0;
      case ARCH_GET_FS:
        return engine_safe_copy(reinterpret_cast<void*>(call.b), &context->program_fs, 8) == 8
                   ? 0
                   : -EFAULT;
      case ARCH_SET_GS:
        if (call.b >= 0x7ffffffff000) return -EPERM;
        context->program_gs = call.b;
        return 0;
      case ARCH_GET_GS:
        return engine_safe_copy(reinterpret_cast<void*>(call.b), &context->program_gs, 8) == 8
                   ? 0
                   : -EFAULT;
      default:
        return call.in_kernel();
    }
  }
  if (call.number == SYS_prctl && call.a == PR_SET_NAME) {
    char name[16];
    if (copy_string(name, sizeof name, call.b)) name_slot(context, name);
  }
  if (call.number == SYS_seccomp && call.a <= SECCOMP_SET_MODE_FILTER)
    return install_filter(context, call.a, call.b, call.c, call.next_pc);
  if (call.number == SYS_prctl && call.a == PR_SET_SECCOMP) {
    if (call.b != SECCOMP_MODE_STRICT && call.b != SECCOMP_MODE_FILTER) return -EINVAL;
    return install_filter(context, call.b - 1, 0, call.c, call.next_pc);
  }
  if (call.number == SYS_prctl && call.a == PR_GET_SECCOMP)
    return context->filters == nullptr ? SECCOMP_MODE_DISABLED : SECCOMP_MODE_FILTER;
  return call.in_kernel();
}

long perform(const Call& call) {
  Context* context = call.context;
  switch (call.number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_mremap:
      return change_memory(call);
    case SYS_clone:
      return run_clone(context, call.a, call.b, call.c, call.d, call.e, call.next_pc);
    case SYS_fork:
      return run_clone(context, SIGCHLD, 0, 0, 0, 0, call.next_pc);
    case SYS_vfork:
      return run_clone(context, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, call.next_pc);
    case SYS_clone3:
      return run_clone3(context, call.a, call.b, call.next_pc);
    case SYS_execve:
    case SYS_execveat:
      return execute(call);
    case SYS_rt_sigaction:
      return change_action(context, static_cast<int>(call.a), call.b, call.c, call.d);
    case SYS_rt_sigprocmask:
      return change_mask(context, static_cast<int>(call.a), call.b, call.c, call.d);
    case SYS_sigaltstack:
      return change_stack(context, call.a, call.b);
    case SYS_rt_sigreturn:
      return_from_handler(context);
    case SYS_exit:
      run_exit(context, call.a);
    case SYS_exit_group:
      close_slot(context);
      return call.in_kernel();
    case SYS_arch_prctl:
    case SYS_prctl:
    case SYS_seccomp:
      return control(call);
    case SYS_rseq:
      return -ENOSYS;  // restartable sequences cannot be restarted in copied code; libc does
                       // without
    case SYS_mlockall:
      return lock_program(call.a);
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_open:
    case SYS_openat:
    case SYS_close:
    case SYS_close_range:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_stat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_getdents64:
      return run_file_call(call);
    default:
      return call.in_kernel();
  }
}

std::uint64_t g_in_place[8];  // what engine_harmless_syscalls was before there were filters
bool g_sees_all = false;

// Whatever may wait must run in place, where signals reach the program. A file is opened by the
// engine only where it may be one about the engine.
bool runs_in_place(const Call& call) {
  switch (call.number) {
    case SYS_open:
    case SYS_stat:
      return !is_below_proc(call.a);
    case SYS_openat:
    case SYS_newfstatat:
    case SYS_statx:
      return !is_below_proc(call.b);
    case SYS_getdents64:
      return !lists_descriptors(call.a);
    default:
      break;
  }
  for (const int number : kWithSecond)
    if (number == call.number) return true;
  const std::uint64_t* in_place = g_sees_all ? g_in_place : engine_harmless_syscalls;
  return call.number >= 0 && call.number < 512 &&
         (in_place[call.number / 64] & bit_of_call(call.number)) != 0;
}

// What a filter does instead of the call: the value that the program finds in rax.
long refuse(const Call& call, const Judgement& judgement) {
  if (judgement.verdict == Verdict::fail) return -static_cast<long>(judgement.data);
  if (judgement.verdict == Verdict::trap) {
    siginfo_t info{};
    info.si_signo = SIGSYS;
    info.si_code = 1;  // SYS_SECCOMP
    info.si_errno = judgement.data;
    info.si_call_addr = reinterpret_cast<void*>(call.next_pc);
    info.si_syscall = static_cast<int>(call.number);
    info.si_arch = AUDIT_ARCH_X86_64;
    hold_forced(call.context, info);
    return call.number;
  }
  if (judgement.verdict == Verdict::kill_thread && !is_alone(call.context))
    run_exit(call.context, judgement.data);
  die_by(call.context, judgement.data);
}

std::uint64_t place_behind(Context* context) {
  const Trace* trace = find_trace_at(context->syscall_return);
  const std::uint64_t offset = context->syscall_return - word(trace->code);
  for (std::uint32_t i = 0; i < trace->points; ++i)
    if (trace->map[i].code == offset) return trace->pc + trace->map[i].pc;
  stop(Message("the engine lost the place of a system call"));
}

}  // namespace

void open_syscalls() {
  std::memset(engine_harmless_syscalls, 0xFF, sizeof engine_harmless_syscalls);
  for (const int number : kSeen) engine_harmless_syscalls[number / 64] &= ~bit_of_call(number);
  for (const int number : kWithSecond)
    engine_harmless_syscalls[number / 64] &= ~bit_of_call(number);
  for (const int number : kWithPath) engine_path_syscalls[number / 64] |= bit_of_call(number);
}

void see_syscall(long number) {
  const Holding holding(cache_lock());
  engine_harmless_syscalls[number / 64] &= ~bit_of_call(number);
}

void see_all_syscalls() {
  const Holding holding(cache_lock());
  if (g_sees_all) return;
  std::memcpy(g_in_place, engine_harmless_syscalls, sizeof g_in_place);
  g_sees_all = true;
  std::memset(engine_harmless_syscalls, 0, sizeof engine_harmless_syscalls);
  std::memset(engine_path_syscalls, 0, sizeof engine_path_syscalls);
}

namespace {

void run_in_place(Context* context, std::uint64_t next_pc, std::uint64_t attempt = 0) {
  constexpr std::uint64_t kBytes = 2;  // of the instruction
  context->next_pc = next_pc - kBytes;
  context->calling = 1;
  context->call = context->regs[kRax] | attempt << 32;
  context->resume = word(&engine_syscall_instruction);
}

}  // namespace

void after_fault(Context* context) {
  constexpr std::uint64_t kPatience = 8;  // others may run the code, and so protect it again
  const std::uint64_t attempt = (context->call >> 32) + 1;
  const Holding holding(cache_lock());
  const std::uint64_t next_pc = place_behind(context);
  if (attempt > kPatience || !unprotect_all()) {
    context->resume = context->syscall_return;
    context->next_pc = next_pc;  // where a signal that is held finds the program
    context->regs[kRcx] = next_pc;
    return;
  }
  context->regs[kRax] = context->call & 0xFFFFFFFF;
  run_in_place(context, next_pc, attempt);
}

std::uint64_t run_syscall(Context* context) {
  const std::uint64_t* regs = context->regs;
  const std::uint64_t next_pc = place_behind(context);
  const Call call{context,    static_cast<long>(regs[kRax]),
                  regs[kRdi], regs[kRsi],
                  regs[kRdx], regs[kR10],
                  regs[kR8],  regs[kR9],
                  next_pc};
  Judgement judgement{Verdict::allow, 0};
  if (context->filters != nullptr) judgement = judge_call(context, call.number, &call.a, next_pc);
  const bool is_allowed = judgement.verdict == Verdict::allow;
  const bool is_closed = uses_own_descriptor(call.number, &call.a);
  if (is_allowed && !is_closed && runs_in_place(call)) {
    run_in_place(context, next_pc);
    return 0;
  }
  const long result = !is_allowed ? refuse(call, judgement) : is_closed ? -EBADF : perform(call);
  context->regs[kRax] = static_cast<std::uint64_t>(result);
  context->regs[kRcx] = next_pc;
  context->regs[kR11] = context->flags;
  return next_pc;
}

}  // namespace loft::engine::runtime
