#include "engine/runtime/seccomp.hpp"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/syscalls.hpp"
#include "engine/runtime/threads.hpp"

namespace loft::engine::runtime {

// Filters of a thread, the newest first.
struct Filter {
  const Filter* before;
  std::uint32_t size;
  bool is_strict;  // the mode that has no filter: it kills with another signal
  sock_filter code[1];
};

namespace {

std::uint64_t bytes_of(std::uint32_t size) { return sizeof(Filter) + size * sizeof(sock_filter); }

constexpr std::uint32_t kWords = sizeof(seccomp_data) / 4;

// The instructions that the kernel lets into a filter of system calls.
bool is_valid(const sock_filter& op, std::uint32_t index, std::uint32_t size) {
  const std::uint32_t left = size - index - 1;
  switch (op.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      return op.k < sizeof(seccomp_data) && op.k % 4 == 0;
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
      return op.k < BPF_MEMWORDS;
    case BPF_ALU | BPF_DIV | BPF_K:
      return op.k != 0;
    case BPF_ALU | BPF_LSH | BPF_K:
    case BPF_ALU | BPF_RSH | BPF_K:
      return op.k < 32;
    case BPF_JMP | BPF_JA:
      return op.k < left;
    default:
      break;
  }
  if (BPF_CLASS(op.code) == BPF_JMP) {
    const std::uint32_t test = BPF_OP(op.code);
    const bool is_test = test == BPF_JEQ || test == BPF_JGT || test == BPF_JGE || test == BPF_JSET;
    return is_test && op.jt < left && op.jf < left;
  }
  if (BPF_CLASS(op.code) == BPF_ALU)
    return BPF_OP(op.code) <= BPF_XOR && BPF_OP(op.code) != BPF_MOD;
  switch (op.code) {
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_W | BPF_LEN:
    case BPF_LD | BPF_IMM:
    case BPF_LDX | BPF_IMM:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA:
      return true;
    default:
      return false;
  }
}

std::uint32_t calculate(std::uint16_t code, std::uint32_t a, std::uint32_t b) {
  switch (BPF_OP(code)) {
    case BPF_ADD:
      return a + b;
    case BPF_SUB:
      return a - b;
    case BPF_MUL:
      return a * b;
    case BPF_DIV:
      return b == 0 ? 0 : a / b;
    case BPF_OR:
      return a | b;
    case BPF_AND:
      return a & b;
    case BPF_LSH:
      return b < 32 ? a << b : 0;
    case BPF_RSH:
      return b < 32 ? a >> b : 0;
    case BPF_XOR:
      return a ^ b;
    default:
      return 0 - a;  // BPF_NEG
  }
}

bool is_true(std::uint16_t code, std::uint32_t a, std::uint32_t b) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return a == b;
    case BPF_JGT:
      return a > b;
    case BPF_JGE:
      return a >= b;
    default:
      return (a & b) != 0;  // BPF_JSET
  }
}

// One filter's answer. Checked before, it always ends: there are no backward jumps.
std::uint32_t ask(const Filter& filter, const std::uint32_t* data) {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::uint32_t memory[BPF_MEMWORDS] = {};
  for (std::uint32_t at = 0; at < filter.size; ++at) {
    const sock_filter& op = filter.code[at];
    const std::uint32_t operand = BPF_SRC(op.code) == BPF_X ? x : op.k;
    switch (BPF_CLASS(op.code)) {
      case BPF_RET:
        return BPF_RVAL(op.code) == BPF_A ? a : op.k;
      case BPF_LD:
      case BPF_LDX: {
        const std::uint32_t mode = BPF_MODE(op.code);
        const std::uint32_t value = mode == BPF_ABS   ? data[op.k / 4]
                                    : mode == BPF_MEM ? memory[op.k]
                                    : mode == BPF_LEN ? kWords * 4
                                                      : op.k;
        (BPF_CLASS(op.code) == BPF_LD ? a : x) = value;
        break;
      }
      case BPF_ST:
        memory[op.k] = a;
        break;
      case BPF_STX:
        memory[op.k] = x;
        break;
      case BPF_ALU:
        a = calculate(op.code, a, operand);
        break;
      case BPF_JMP:
        at += BPF_OP(op.code) == BPF_JA ? op.k : is_true(op.code, a, operand) ? op.jt : op.jf;
        break;
      default:
        (BPF_MISCOP(op.code) == BPF_TAX ? x : a) = BPF_MISCOP(op.code) == BPF_TAX ? a : x;
        break;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;  // never: the last instruction returns
}

bool may_install() {
  if (kernel(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return true;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return kernel(SYS_capget, word(&header), word(data)) == 0 &&
         (data[0].effective >> CAP_SYS_ADMIN & 1) != 0;
}

Filter* copy_filter(std::uint64_t argument, long& error) {
  sock_fprog wanted{};
  error = -EFAULT;
  if (engine_safe_copy(&wanted, reinterpret_cast<void*>(argument), sizeof wanted) != sizeof wanted)
    return nullptr;
  error = -EINVAL;
  if (wanted.len == 0 || wanted.len > BPF_MAXINSNS) return nullptr;
  auto* filter = static_cast<Filter*>(allocate(bytes_of(wanted.len), alignof(Filter)));
  const auto bytes = static_cast<long>(wanted.len * sizeof(sock_filter));
  error = -EFAULT;
  if (engine_safe_copy(filter->code, wanted.filter, bytes) != bytes) return nullptr;
  error = -EINVAL;
  filter->size = wanted.len;
  for (std::uint32_t i = 0; i < filter->size; ++i)
    if (!is_valid(filter->code[i], i, filter->size)) return nullptr;
  if (BPF_CLASS(filter->code[filter->size - 1].code) != BPF_RET) return nullptr;
  error = 0;
  return filter;
}

// read, write, exit and sigreturn; anything else is the end.
Filter* strict_filter() {
  constexpr int kAllowed[] = {SYS_read, SYS_write, SYS_exit, SYS_rt_sigreturn};
  constexpr std::uint32_t kSize = 1 + 4 + 2;
  auto* filter = static_cast<Filter*>(allocate(bytes_of(kSize), alignof(Filter)));
  filter->size = kSize;
  filter->is_strict = true;
  filter->code[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
  for (std::uint32_t i = 0; i < 4; ++i)
    filter->code[1 + i] =
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(kAllowed[i]),
                 static_cast<std::uint8_t>(4 - i), 0);
  filter->code[5] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD);
  filter->code[6] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return filter;
}

}  // namespace

long install_filter(Context* context, std::uint64_t operation, std::uint64_t flags,
                    std::uint64_t argument, std::uint64_t pc) {
  Filter* filter = nullptr;
  if (operation == SECCOMP_SET_MODE_STRICT) {
    if (flags != 0 || context->filters != nullptr) return -EINVAL;
    filter = strict_filter();
  } else {
    constexpr std::uint64_t kKnown =
        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW |
        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    if ((flags & ~kKnown) != 0) return -EINVAL;
    if (!may_install()) return -EACCES;
    long error = 0;
    filter = copy_filter(argument, error);
    if (filter == nullptr) return error;  // so libraries find out which flags there are
    if ((flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0)
      stop(Message("cannot run a seccomp filter that asks another process, set at ").add_place(pc));
  }
  filter->before = context->filters;
  see_all_syscalls();
  context->filters = filter;
  if ((flags & SECCOMP_FILTER_FLAG_TSYNC) != 0) share_filters(context);
  return 0;
}

// One after the other, the newest first. The pointers among them mean nothing to the next program.
long save_filters(const Context* context) {
  const long file = kernel(SYS_memfd_create, word("filters"), 0);
  if (is_error(file)) return file;
  for (const Filter* filter = context->filters; filter != nullptr; filter = filter->before) {
    const std::uint64_t bytes = bytes_of(filter->size);
    const long written = kernel(SYS_write, static_cast<std::uint64_t>(file), word(filter), bytes);
    if (written == static_cast<long>(bytes)) continue;
    kernel(SYS_close, static_cast<std::uint64_t>(file));
    return is_error(written) ? written : -ENOMEM;
  }
  return file;
}

void restore_filters(Context* context, int descriptor) {
  const auto file = static_cast<std::uint64_t>(descriptor);
  const Filter** next = &context->filters;
  std::uint64_t at = 0;
  Filter front{};
  while (kernel(SYS_pread64, file, word(&front), sizeof front, at) == sizeof front) {
    const std::uint64_t bytes = bytes_of(front.size);
    auto* filter = static_cast<Filter*>(allocate(bytes, alignof(Filter)));
    if (kernel(SYS_pread64, file, word(filter), bytes, at) != static_cast<long>(bytes))
      stop(Message("the seccomp filters of the program before this one are cut off"));
    filter->before = nullptr;
    *next = filter;
    next = &filter->before;
    at += bytes;
  }
  kernel(SYS_close, file);
  see_all_syscalls();
}

Judgement judge_call(const Context* context, long number, const std::uint64_t* arguments,
                     std::uint64_t pc) {
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = AUDIT_ARCH_X86_64;
  data.instruction_pointer = pc;
  std::memcpy(data.args, arguments, sizeof data.args);
  std::uint32_t words[kWords];
  std::memcpy(words, &data, sizeof data);
  std::uint32_t answer = SECCOMP_RET_ALLOW;
  std::uint16_t signal = SIGSYS;
  const auto action = [](std::uint32_t value) {
    return static_cast<std::int32_t>(value & SECCOMP_RET_ACTION_FULL);
  };
  for (const Filter* filter = context->filters; filter != nullptr; filter = filter->before) {
    const std::uint32_t one = ask(*filter, words);
    if (action(one) >= action(answer)) continue;
    answer = one;
    signal = filter->is_strict ? SIGKILL : SIGSYS;
  }
  const auto rest = static_cast<std::uint16_t>(answer & SECCOMP_RET_DATA);
  switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
      return {Verdict::allow, 0};
    case SECCOMP_RET_ERRNO:
      return {Verdict::fail, rest < 4095 ? rest : std::uint16_t{4095}};
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF:  // there is nobody to ask
      return {Verdict::fail, ENOSYS};
    case SECCOMP_RET_TRAP:
      return {Verdict::trap, rest};
    case SECCOMP_RET_KILL_THREAD:
      return {Verdict::kill_thread, signal};
    default:
      return {Verdict::kill_process, signal};
  }
}

}  // namespace loft::engine::runtime
