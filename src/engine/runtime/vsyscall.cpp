#include "engine/runtime/vsyscall.hpp"

#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint64_t kPage = 0xffffffffff600000;
constexpr std::uint64_t kStep = 1024;
constexpr long kCalls[] = {SYS_gettimeofday, SYS_time, SYS_getcpu};

}  // namespace

bool is_vsyscall(std::uint64_t pc) {
  return pc >= kPage && pc % kStep == 0 && (pc - kPage) / kStep < 3;
}

std::uint64_t run_vsyscall(Context* context, std::uint64_t pc) {
  std::uint64_t* regs = context->regs;
  std::uint64_t back = 0;
  if (engine_safe_copy(&back, reinterpret_cast<void*>(regs[kRsp]), sizeof back) != sizeof back)
    return 0;
  regs[kRax] =
      static_cast<std::uint64_t>(kernel(kCalls[(pc - kPage) / kStep], regs[kRdi], regs[kRsi], 0));
  regs[kRsp] += sizeof back;
  return back;
}

}  // namespace loft::engine::runtime
