// A thread that loft traces and that stands still: its registers, its memory, and system calls that
// it makes for loft.
//
//   LOFT_TRY(const Memory memory, Memory::open(pid));
//   LOFT_TRY(const auto instruction, find_syscall_instruction(pid, memory));
//   LOFT_TRY(const auto number, Tracee(tid).system_call(instruction, SYS_getpid, {}));
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::source::calls {

// The memory of a process, code included, whatever its protection.
class Memory {
 public:
  [[nodiscard]] static Result<Memory> open(pid_t pid);
  [[nodiscard]] Result<void> read(std::uint64_t address, std::span<std::byte> into) const;
  [[nodiscard]] Result<void> write(std::uint64_t address, Bytes bytes) const;
  [[nodiscard]] Result<std::uint64_t> word(std::uint64_t address) const;

 private:
  explicit Memory(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

class Tracee {
 public:
  explicit Tracee(pid_t tid) : tid_(tid) {}
  [[nodiscard]] pid_t tid() const { return tid_; }

  [[nodiscard]] Result<user_regs_struct> registers() const;
  [[nodiscard]] Result<void> set_registers(const user_regs_struct& registers) const;

  // Runs one instruction. The status that it then stopped with; a signal among these is not
  // delivered.
  [[nodiscard]] Result<int> step() const;

  // Makes the thread call the kernel through a syscall instruction at `instruction`; everything
  // else of it stays as it was. A negative errno is an error.
  [[nodiscard]] Result<std::uint64_t> system_call(std::uint64_t instruction, long number,
                                                  std::array<std::uint64_t, 6> arguments) const;

 private:
  [[nodiscard]] Result<user_regs_struct> step_to(std::uint64_t address) const;

  pid_t tid_;
};

// Whether a thread runs code of 64 bits.
[[nodiscard]] bool is_64bit(const user_regs_struct& registers);

// A syscall instruction in the memory of a process: the vdso has one.
[[nodiscard]] Result<std::uint64_t> find_syscall_instruction(pid_t pid, const Memory& memory);

}  // namespace loft::source::calls
