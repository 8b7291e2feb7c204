// loft-engine: becomes another program and counts its blocks. Started by loft, see layout.hpp for
// its arguments. It prepares with its own libc; once the program runs, that libc is never called
// again.
#include <elf.h>
#include <linux/limits.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cpuid.h>

#include <cstdlib>
#include <cstring>

#include "engine/layout.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/exec.hpp"
#include "engine/runtime/instruction.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/loader.hpp"
#include "engine/runtime/own_maps.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/seccomp.hpp"
#include "engine/runtime/signals.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/syscalls.hpp"
#include "engine/runtime/threads.hpp"
#include "engine/runtime/trace.hpp"

extern "C" {
void engine_dispatch_c(loft::engine::runtime::Context* context);
[[noreturn]] void engine_start();
}

namespace loft::engine::runtime {
namespace {

// The stack as the kernel left it: argc, argv, 0, environment, 0, auxiliary vector.
struct InitialStack {
  std::uint64_t* argc;
  char** arguments;
  char** environment;
  Elf64_auxv_t* auxiliary;
};

InitialStack find_stack(char** arguments) {
  InitialStack stack{};
  stack.arguments = arguments;
  stack.argc = reinterpret_cast<std::uint64_t*>(arguments) - 1;
  stack.environment = arguments + *stack.argc + 1;
  char** end = stack.environment;
  while (*end != nullptr) ++end;
  stack.auxiliary = reinterpret_cast<Elf64_auxv_t*>(end + 1);
  return stack;
}

void check_machine() {
  constexpr unsigned long kFsGsBase = 2;
  if ((getauxval(AT_HWCAP2) & kFsGsBase) == 0)
    stop(Message("the engine needs a kernel of 5.9 or newer and a CPU with fsgsbase"));
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(13, 0, &eax, &ebx, &ecx, &edx) == 0 || ecx > kXsaveBytes)
    stop(Message("the CPU's xsave state is larger than the engine provides for"));
}

bool has_compact_xsave() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(13, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 2) != 0;
}

// The variables under their own names, one behind the other as the kernel put them, so that
// /proc/PID/environ shows them so. Returns where they end.
char* show_variables(char** environment) {
  constexpr std::size_t kHidden = sizeof kHiddenVariable - 1;
  char* to = *environment;
  for (; *environment != nullptr; ++environment) {
    char* from = *environment;
    if (std::strncmp(from, kHiddenVariable, kHidden) == 0) from += kHidden;
    const std::size_t size = std::strlen(from) + 1;
    std::memmove(to, from, size);
    *environment = to;
    to += size;
  }
  return to;
}

void describe_program(Elf64_auxv_t* auxiliary, const LoadedProgram& program, const char* name) {
  for (; auxiliary->a_type != AT_NULL; ++auxiliary) {
    std::uint64_t& value = auxiliary->a_un.a_val;
    switch (auxiliary->a_type) {
      case AT_PHDR:
        value = program.headers;
        break;
      case AT_PHENT:
        value = program.header_size;
        break;
      case AT_PHNUM:
        value = program.header_count;
        break;
      case AT_BASE:
        value = program.interpreter;
        break;
      case AT_ENTRY:
        value = program.entry;
        break;
      case AT_EXECFN:
        value = word(name);
        break;
      case 27:  // AT_RSEQ_FEATURE_SIZE, AT_RSEQ_ALIGN: there are no restartable sequences here
      case 28:
        auxiliary->a_type = AT_IGNORE;
        break;
      default:
        break;
    }
  }
}

void make_stack_executable(std::uint64_t stack) {
  constexpr std::uint64_t kGrowsDown = 0x01000000;
  kernel(SYS_mprotect, stack & ~4095ull, 4096, PROT_READ | PROT_WRITE | PROT_EXEC | kGrowsDown);
}

void name_process(Context* context, const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  ::prctl(PR_SET_NAME, name);
  name_slot(context, name);
}

// A script becomes its interpreter with other arguments, as in any later exec.
void start_interpreter_of_script(const char* path, const InitialStack& stack) {
  char line[256];
  long result = inspect_program(path, line, sizeof line);
  if (result == 0) return;
  static Context before_any;
  if (result == 1)
    result = run_exec(&before_any, path, word(stack.arguments + kEngineArguments),
                      word(stack.environment));
  stop(Message("cannot run ")
           .add(path)
           .add(": error ")
           .add_number(static_cast<std::uint64_t>(-result))
           .add(" of execve"));
}

[[noreturn]] void run(char** arguments) {
  const InitialStack stack = find_stack(arguments);
  if (*stack.argc <= kEngineArguments)
    stop(Message("loft-engine is started by loft: use loft stat --source virtual -- COMMAND"));
  const char* path = arguments[2];
  const char* name = arguments[3];
  const char* polls = std::strchr(arguments[1], ':');
  if (polls == nullptr) stop(Message("the engine is of another version than loft"));
  set_own_descriptors(static_cast<std::uint32_t>(std::atoi(arguments[1])),
                      static_cast<std::uint32_t>(std::atoi(polls + 1)));
  open_record(path);
  check_machine();

  char engine[PATH_MAX] = {};
  char program[PATH_MAX] = {};
  kernel(SYS_readlink, word("/proc/self/exe"), word(engine), sizeof engine - 1);
  // A file without a name is called as the kernel calls it.
  if (::realpath(path, program) == nullptr &&
      is_error(kernel(SYS_readlink, word(path), word(program), sizeof program - 1)))
    stop(Message("cannot find ").add(path));
  open_exec(engine, program);
  start_interpreter_of_script(path, stack);
  remember_own_maps();
  open_decoder();
  open_cache();
  open_syscalls();

  std::uint64_t engine_fs = 0;
  asm volatile("rdfsbase %0" : "=r"(engine_fs));
  const LoadedProgram loaded = load_program(path);
  close_passed_file(path);
  Context* context = open_first_context(engine_fs);
  context->xsave_compact = has_compact_xsave() ? 1 : 0;
  if (const char* filters = std::strchr(arguments[1], ','); filters != nullptr)
    restore_filters(context, std::atoi(filters + 1));
  const char* variables_end = show_variables(stack.environment);
  describe_program(stack.auxiliary, loaded, name);
  show_arguments(arguments[kEngineArguments], variables_end, stack.auxiliary);
  name_process(context, path);

  std::uint64_t* top = stack.argc + kEngineArguments;
  *top = *stack.argc - kEngineArguments;
  if (loaded.executable_stack) make_stack_executable(word(top));
  context->regs[kRsp] = word(top);
  context->flags = 0x202;
  auto* area = reinterpret_cast<std::uint8_t*>(context->xsave_area);
  const std::uint16_t x87_control = 0x37F;
  const std::uint32_t mxcsr = 0x1F80;
  std::memcpy(area, &x87_control, sizeof x87_control);
  std::memcpy(area + 24, &mxcsr, sizeof mxcsr);
  context->reason = REASON_SIGNAL;
  context->next_pc = loaded.start;
  engine_dispatch_c(context);
  engine_start();
}

}  // namespace
}  // namespace loft::engine::runtime

int main(int, char** argv) { loft::engine::runtime::run(argv); }
