// The frame that the kernel puts on a stack when it delivers a signal, and how we put one there.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "engine/runtime/context.hpp"
#include "engine/runtime/signals.hpp"

namespace loft::engine::runtime {

// struct ucontext of the kernel: the front of glibc's ucontext_t, without what glibc keeps behind
// it.
struct KernelUserContext {
  static constexpr int kRsp = 15;
  static constexpr int kRip = 16;
  static constexpr int kFpstate = 23;
  std::uint64_t flags;
  std::uint64_t link;
  stack_t stack;
  std::uint64_t registers[32];  // struct sigcontext: 23 registers, fpstate, reserved
  std::uint64_t mask;
};
static_assert(sizeof(KernelUserContext) == 304);

// Builds the frame of `info` for `action` on the program's stack and makes `user` the state in
// which its handler starts. False when the stack cannot take it.
bool push_frame(Context* context, ucontext_t* user, const siginfo_t& info, const Action& action,
                std::uint64_t pc, std::uint64_t mask);

}  // namespace loft::engine::runtime
