#include "engine/classify/single_step.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "engine/classify/decoded.hpp"
#include "engine/classify/native.hpp"

namespace loft::engine {
namespace {

constexpr std::size_t kXmm = 160;

class Stepper {
 public:
  Stepper(pid_t pid, SteppedRun& run, const TouchListener& listener)
      : pid_(pid), run_(run), listener_(listener) {}

  // One instruction, or one repetition of it. False when the program has ended.
  Result<bool> step() {
    const user_regs_struct before = registers_;
    SteppedInstruction* const instruction = at(before.rip);
    if (instruction == nullptr)
      return failure(ErrorKind::unsupported, "decode an instruction", "unknown bytes");
    const RegisterState state = state_of(before, *instruction);
    if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0)
      return failure_of_errno(errno, "step");
    int status = 0;
    ::waitpid(pid_, &status, 0);
    if (WIFEXITED(status)) {
      ++instruction->executions;
      run_.exit_code = WEXITSTATUS(status);
      return false;
    }
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
      return failure(ErrorKind::unsupported, "step", "the program got a signal");
    LOFT_CHECK(read_registers());
    count(*instruction, state, before, registers_);
    return true;
  }

  // Before the first step.
  Result<void> read_registers() {
    if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers_) != 0)
      return failure_of_errno(errno, "read registers");
    return {};
  }

 private:
  SteppedInstruction* at(std::uint64_t address) {
    const auto found = run_.instructions.find(address);
    if (found != run_.instructions.end()) return &found->second;
    std::uint8_t bytes[15];
    iovec here{bytes, sizeof bytes};
    iovec there{reinterpret_cast<void*>(address), sizeof bytes};
    ssize_t got = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
    if (got <= 0) {  // the page may end here
      here.iov_len = there.iov_len = 4096 - (address & 4095);
      got = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
    }
    if (got <= 0) return nullptr;
    const auto decoded = decode({bytes, static_cast<std::size_t>(got)});
    if (!decoded) return nullptr;
    SteppedInstruction& entry = run_.instructions[address];
    entry.facts = decoded->facts;
    return &entry;
  }

  RegisterState state_of(const user_regs_struct& regs, const SteppedInstruction& instruction) {
    RegisterState state;
    state.general = {regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rsp, regs.rbp,
                     regs.rsi, regs.rdi, regs.r8,  regs.r9,  regs.r10, regs.r11,
                     regs.r12, regs.r13, regs.r14, regs.r15};
    state.rflags = regs.eflags;
    state.fs_base = regs.fs_base;
    state.gs_base = regs.gs_base;
    state.next_rip = regs.rip + instruction.facts.length;
    for (const UnitSource& source : instruction.facts.unit_sources())
      if (source.unit >= Unit::mask_lanes) read_vectors(state);
    return state;
  }

  void read_vectors(RegisterState& state) const {
    alignas(64) std::uint8_t area[16384] = {};
    iovec into{area, sizeof area};
    if (::ptrace(PTRACE_GETREGSET, pid_, NT_X86_XSTATE, &into) != 0) return;
    std::memcpy(&state.xcr0, area + 464, 8);
    const std::size_t high = component_offset(2);
    for (std::size_t i = 0; i < 16; ++i) {
      std::memcpy(state.vector[i].data(), area + kXmm + 16 * i, 16);
      if ((state.xcr0 & 4) != 0) std::memcpy(state.vector[i].data() + 16, area + high + 16 * i, 16);
    }
    for (std::size_t i = 0; i < 8; ++i) std::memcpy(&state.mmx[i], area + 32 + 16 * i, 8);
    if ((state.xcr0 >> 17 & 1) != 0)
      std::memcpy(state.tile_config.data(), area + component_offset(17), 64);
    if ((state.xcr0 & 0xE0) != 0xE0) return;
    std::memcpy(state.opmask.data(), area + component_offset(5), 64);
    for (std::size_t i = 0; i < 16; ++i) {
      std::memcpy(state.vector[i].data() + 32, area + component_offset(6) + 32 * i, 32);
      std::memcpy(state.vector[16 + i].data(), area + component_offset(7) + 64 * i, 64);
    }
  }

  void count(SteppedInstruction& instruction, const RegisterState& state,
             const user_regs_struct& before, const user_regs_struct& after) {
    const InstructionFacts& facts = instruction.facts;
    std::uint64_t iterations = 0;
    bool unfinished = false;
    for (const UnitSource& source : facts.unit_sources()) {
      if (source.unit != Unit::iterations) continue;
      iterations = before.rcx - after.rcx;
      unfinished = after.rip == before.rip;  // each repetition is a step of its own
    }
    const bool taken = after.rip != state.next_rip;
    for (std::size_t i = 0; i < facts.unit_count; ++i)
      instruction.units[i] += units_of(facts, facts.sources[i], state, iterations, taken);
    if (!unfinished) ++instruction.executions;
    if (!listener_) return;
    touched_.clear();
    resolve(facts, state, iterations, touched_);
    listener_(before.rip, touched_);
  }

  pid_t pid_;
  SteppedRun& run_;
  const TouchListener& listener_;
  user_regs_struct registers_{};
  std::vector<Touch> touched_;
};

[[noreturn]] void become(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::dup2(output, STDOUT_FILENO);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(126);
  // No environment: the C library spends long on each variable.
  char* const environment[] = {nullptr};
  ::execve(arguments[0], arguments.data(), environment);
  ::_exit(127);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

EventVector SteppedRun::events(std::uint64_t start, std::uint64_t end) const {
  EventVector total;
  for (const auto& [address, instruction] : instructions)
    if (address >= start && address < end)
      accumulate(total, instruction.facts, instruction.executions, instruction.units);
  return total;
}

// The output must fit into a pipe: it is read when the program has ended.
Result<SteppedRun> step_through(const std::vector<std::string>& command,
                                const TouchListener& listener) {
  int ends[2];
  if (::pipe(ends) != 0) return failure_of_errno(errno, "open a pipe");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return failure_of_errno(errno, "fork");
  if (pid == 0) become(command, writer.get());
  writer = Fd();
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFSTOPPED(status))
    return failure(ErrorKind::unsupported, "trace " + command[0], "ptrace is not allowed here");
  ::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL);
  SteppedRun run;
  Stepper stepper(pid, run, listener);
  LOFT_CHECK(stepper.read_registers());
  for (;;) {
    const auto more = stepper.step();
    if (!more) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return tl::make_unexpected(more.error());
    }
    if (!*more) break;
  }
  run.output = read_all(reader.get());
  return run;
}

Result<std::map<std::string, FunctionRange>> functions_of(const std::string& path) {
  LOFT_TRY(const std::string file, read_file(path));
  const auto malformed = [&] {
    return failure(ErrorKind::malformed, "read " + path, "no symbols");
  };
  const auto copy = [&file](auto& into, std::size_t at) {
    if (at > file.size() || file.size() - at < sizeof into) return false;
    std::memcpy(&into, file.data() + at, sizeof into);
    return true;
  };
  Elf64_Ehdr header;
  if (!copy(header, 0)) return malformed();
  std::map<std::string, FunctionRange> functions;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!copy(section, header.e_shoff + i * sizeof section)) return malformed();
    if (section.sh_type != SHT_SYMTAB) continue;
    if (!copy(strings, header.e_shoff + section.sh_link * sizeof strings)) return malformed();
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!copy(symbol, section.sh_offset + at)) return malformed();
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const std::size_t name = strings.sh_offset + symbol.st_name;
      if (name >= file.size()) return malformed();
      functions[file.c_str() + name] = {symbol.st_value, symbol.st_value + symbol.st_size};
    }
  }
  return functions;
}

}  // namespace loft::engine
