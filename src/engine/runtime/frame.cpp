#include "engine/runtime/frame.hpp"

#include <cstring>

#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint64_t kRedZone = 128;
constexpr std::uint64_t kAutoDisarm = 1u << 31;

// The front of the floating-point state says how long it is.
std::uint64_t size_of_fpstate(const void* state) {
  constexpr std::uint64_t kLegacyBytes = 512;
  constexpr std::uint32_t kExtendedMagic = 0x46505853;
  std::uint32_t words[2];
  std::memcpy(words, static_cast<const std::uint8_t*>(state) + 464, sizeof words);
  return words[0] == kExtendedMagic ? words[1] : kLegacyBytes;
}

std::uint64_t& reg(ucontext_t* user, int which) {
  return reinterpret_cast<std::uint64_t&>(user->uc_mcontext.gregs[which]);
}

struct Frame {
  std::uint64_t restorer;
  KernelUserContext user;
  siginfo_t info;
};
static_assert(sizeof(siginfo_t) == 128);

bool write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  return engine_safe_copy(reinterpret_cast<void*>(to), from, static_cast<long>(bytes)) ==
         static_cast<long>(bytes);
}

// Where the frame goes: below the red zone, or on the program's alternate stack.
std::uint64_t stack_for(Context* context, std::uint64_t rsp, const Action& action) {
  stack_t& stack = context->program_stack;
  const std::uint64_t base = word(stack.ss_sp);
  const bool usable =
      (action.flags & SA_ONSTACK) != 0 && (stack.ss_flags & SS_DISABLE) == 0 && stack.ss_size != 0;
  if (usable && !(rsp > base && rsp - base <= stack.ss_size)) return base + stack.ss_size;
  return rsp - kRedZone;
}

}  // namespace

bool push_frame(Context* context, ucontext_t* user, const siginfo_t& info, const Action& action,
                std::uint64_t pc, std::uint64_t mask) {
  const std::uint64_t old_rsp = reg(user, REG_RSP);
  const void* fpstate = user->uc_mcontext.fpregs;
  const std::uint64_t fp_bytes = fpstate == nullptr ? 0 : size_of_fpstate(fpstate);
  const std::uint64_t top = stack_for(context, old_rsp, action);
  const std::uint64_t fp_at = (top - fp_bytes) & ~63ull;
  const std::uint64_t at = ((fp_at - sizeof(Frame)) & ~15ull) - 8;

  Frame frame{};
  frame.restorer = action.restorer;
  std::memcpy(&frame.user, user, sizeof frame.user);
  frame.user.stack = context->program_stack;
  frame.user.registers[KernelUserContext::kRip] = pc;
  frame.user.registers[KernelUserContext::kFpstate] = fp_bytes == 0 ? 0 : fp_at;
  frame.user.mask = mask;
  frame.info = info;
  if (!write(fp_at, fpstate, fp_bytes) || !write(at, &frame, sizeof frame)) return false;
  if ((static_cast<std::uint32_t>(context->program_stack.ss_flags) & kAutoDisarm) != 0) {
    context->program_stack = {};
    context->program_stack.ss_flags = SS_DISABLE;
  }

  reg(user, REG_RSP) = at;
  reg(user, REG_RDI) = static_cast<std::uint64_t>(info.si_signo);
  reg(user, REG_RSI) = at + offsetof(Frame, info);
  reg(user, REG_RDX) = at + offsetof(Frame, user);
  reg(user, REG_RAX) = 0;
  reg(user, REG_EFL) &= ~0x10500ull;   // RF, DF, TF
  user->uc_mcontext.fpregs = nullptr;  // a handler starts with a fresh one
  return true;
}

}  // namespace loft::engine::runtime
