#ifdef LOFT_HAS_ENGINE

#include "source/calls/tracee.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"
#include "source/memory_ranges.hpp"

namespace loft::source::calls {

Result<Memory> Memory::open(pid_t pid) {
  Fd fd(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "open the program's memory");
  return Memory(std::move(fd));
}

Result<void> Memory::read(std::uint64_t address, std::span<std::byte> into) const {
  const ssize_t got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(address));
  if (got < 0) return failure_of_errno(errno, "read the program's memory");
  if (static_cast<std::size_t>(got) != into.size())
    return failure(ErrorKind::io, "read the program's memory", "a part of it is not there");
  return {};
}

Result<void> Memory::write(std::uint64_t address, Bytes bytes) const {
  const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  if (put < 0) return failure_of_errno(errno, "write to the program's memory");
  if (static_cast<std::size_t>(put) != bytes.size())
    return failure(ErrorKind::io, "write to the program's memory", "a part of it is not there");
  return {};
}

Result<std::uint64_t> Memory::word(std::uint64_t address) const {
  std::uint64_t value = 0;
  LOFT_CHECK(read(address, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

Result<user_regs_struct> Tracee::registers() const {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, tid_, nullptr, &registers) != 0)
    return failure_of_errno(errno, "read the registers of a thread");
  return registers;
}

Result<void> Tracee::set_registers(const user_regs_struct& registers) const {
  if (::ptrace(PTRACE_SETREGS, tid_, nullptr, &registers) != 0)
    return failure_of_errno(errno, "set the registers of a thread");
  return {};
}

Result<int> Tracee::step() const {
  int status = 0;
  if (::ptrace(PTRACE_SINGLESTEP, tid_, nullptr, nullptr) != 0 ||
      ::waitpid(tid_, &status, __WALL) != tid_)
    return failure_of_errno(errno, "step a thread");
  if (!WIFSTOPPED(status))
    return failure(ErrorKind::not_found, "step a thread", "it has ended meanwhile");
  return status;
}

Result<std::uint64_t> Tracee::system_call(std::uint64_t instruction, long number,
                                          std::array<std::uint64_t, 6> arguments) const {
  LOFT_TRY(const user_regs_struct before, registers());
  user_regs_struct call = before;
  call.rip = instruction;
  call.rax = static_cast<std::uint64_t>(number);
  call.orig_rax = ~std::uint64_t{0};  // or a call that was interrupted would be made again
  call.rdi = arguments[0];
  call.rsi = arguments[1];
  call.rdx = arguments[2];
  call.r10 = arguments[3];
  call.r8 = arguments[4];
  call.r9 = arguments[5];
  LOFT_CHECK(set_registers(call));
  LOFT_TRY(const user_regs_struct after, step_to(instruction + 2));
  LOFT_CHECK(set_registers(before));
  const auto result = static_cast<std::int64_t>(after.rax);
  if (result < 0 && result > -4096)
    return failure_of_errno(static_cast<int>(-result), "make the program call the kernel");
  return after.rax;
}

// Signals that come on the way are sent again afterwards.
Result<user_regs_struct> Tracee::step_to(std::uint64_t address) const {
  std::vector<int> signals;
  constexpr int kMostSteps = 64;
  for (int i = 0; i < kMostSteps; ++i) {
    LOFT_TRY(const int status, step());
    if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP) signals.push_back(WSTOPSIG(status));
    LOFT_TRY(const user_regs_struct reached, registers());
    if (reached.rip != address || WSTOPSIG(status) != SIGTRAP) continue;
    for (const int number : signals) ::syscall(SYS_tkill, tid_, number);
    return reached;
  }
  return failure(ErrorKind::internal, "make the program call the kernel", "it does not get there");
}

bool is_64bit(const user_regs_struct& registers) { return registers.cs == 0x33; }

Result<std::uint64_t> find_syscall_instruction(pid_t pid, const Memory& memory) {
  LOFT_TRY(const auto mappings, mappings_of(pid));
  for (const MemoryRange& mapping : mappings) {
    if (mapping.path != "[vdso]" || mapping.end - mapping.start > (1u << 20)) continue;
    std::vector<std::byte> code(static_cast<std::size_t>(mapping.end - mapping.start));
    LOFT_CHECK(memory.read(mapping.start, code));
    for (std::size_t i = 0; i + 1 < code.size(); ++i)
      if (code[i] == std::byte{0x0f} && code[i + 1] == std::byte{0x05}) return mapping.start + i;
  }
  return failure(ErrorKind::unsupported, "watch calls natively",
                 "the program has no vdso with a syscall instruction", "use --source virtual");
}

}  // namespace loft::source::calls

#endif
