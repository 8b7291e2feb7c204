#include "engine/runtime/exec.hpp"

#include <elf.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "engine/layout.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/seccomp.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/window.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kMaxScripts = 5;  // the kernel's own limit of interpreters that are scripts
constexpr std::uint64_t kMaxWords = 1u << 20;

char g_engine[PATH_MAX];
char g_program[PATH_MAX];

// Memory for the words of one exec; lives until the exec succeeds or its failure gives it back.
class Words {
 public:
  explicit Words(Context* context) : context_(context) {
    const long memory = kernel(SYS_mmap, 0, kBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull, 0);
    if (is_error(memory))
      stop(Message("no address space is left to start a program (is ulimit -v or -d set?)"));
    at_ = reinterpret_cast<std::uint8_t*>(memory);
    end_ = at_ + kBytes;
    context_->exec_memory = at_;
    context_->exec_bytes = kBytes;
  }
  ~Words() {
    if (context_->exec_memory != nullptr) kernel(SYS_munmap, word(context_->exec_memory), kBytes);
    context_->exec_memory = nullptr;
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  // Null when the words are more than the kernel takes, too.
  void* take(std::uint64_t bytes) {
    bytes = (bytes + 7) & ~7ull;
    if (at_ == nullptr || bytes > static_cast<std::uint64_t>(end_ - at_)) return nullptr;
    void* memory = at_;
    at_ += bytes;
    return memory;
  }
  char* copy(const char* text, const char* before = "") {
    const std::size_t front = std::strlen(before);
    const std::size_t size = std::strlen(text) + 1;
    char* memory = static_cast<char*>(take(front + size));
    if (memory == nullptr) return nullptr;
    std::memcpy(memory, before, front);
    std::memcpy(memory + front, text, size);
    return memory;
  }

 private:
  static constexpr std::uint64_t kBytes = 64u << 20;
  Context* context_;
  std::uint8_t* at_ = nullptr;
  std::uint8_t* end_ = nullptr;
};

// How many pointers a null-terminated array of the program has, or an error.
long count_words(std::uint64_t array) {
  if (array == 0) return 0;
  for (std::uint64_t count = 0; count < kMaxWords; ++count) {
    std::uint64_t item = 0;
    if (engine_safe_copy(&item, reinterpret_cast<void*>(array + count * 8), 8) != 8) return -EFAULT;
    if (item == 0) return static_cast<long>(count);
  }
  return -E2BIG;
}

bool is_for_a_loader(const char* variable) {
  return std::strncmp(variable, "LD_", 3) == 0 ||
         std::strncmp(variable, "GLIBC_TUNABLES=", 15) == 0;
}

// The environment with the variables hidden that the engine's own loader must not see.
char** hide_variables(Words& words, std::uint64_t environment, long count) {
  auto** result = static_cast<char**>(words.take(static_cast<std::uint64_t>(count + 1) * 8));
  if (result == nullptr) return nullptr;
  if (count > 0)
    std::memcpy(result, reinterpret_cast<void*>(environment), static_cast<std::size_t>(count) * 8);
  for (long i = 0; i < count; ++i) {
    char start[16] = {};
    copy_string(start, sizeof start, word(result[i]));
    if (is_for_a_loader(start)) result[i] = words.copy(result[i], kHiddenVariable);
  }
  result[count] = nullptr;
  return result;
}

// Splits "#!interpreter argument" in place, as the kernel does: one argument at most.
bool split_line(char* line, char*& interpreter, char*& argument) {
  line[std::strcspn(line, "\n")] = '\0';
  interpreter = line + 2;
  interpreter += std::strspn(interpreter, " \t");
  argument = interpreter + std::strcspn(interpreter, " \t");
  if (*argument != '\0') *argument++ = '\0';
  argument += std::strspn(argument, " \t");
  std::size_t length = std::strlen(argument);
  while (length > 0 && (argument[length - 1] == ' ' || argument[length - 1] == '\t'))
    argument[--length] = '\0';
  return *interpreter != '\0';
}

bool has_capabilities(const char* path) {
  char value[64];
  return kernel(SYS_geteuid) != 0 && kernel(SYS_getxattr, word(path), word("security.capability"),
                                            word(value), sizeof value) > 0;
}

// Whether the kernel would give the program rights that its user does not have.
bool is_privileged(const char* path, const struct stat& status) {
  struct statfs system {};
  if (kernel(SYS_prctl, PR_GET_NO_NEW_PRIVS) == 1) return false;
  if (kernel(SYS_statfs, word(path), word(&system)) == 0 && (system.f_flags & ST_NOSUID) != 0)
    return false;
  const bool other_user =
      (status.st_mode & S_ISUID) != 0 && status.st_uid != static_cast<uid_t>(kernel(SYS_geteuid));
  const bool other_group = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
                           status.st_gid != static_cast<gid_t>(kernel(SYS_getegid));
  return other_user || other_group || has_capabilities(path);
}

// The process that traces this one, as /proc tells; 0 for none.
std::uint32_t tracer() {
  char text[1024] = {};
  const long file = kernel(SYS_open, word("/proc/self/status"), O_RDONLY | O_CLOEXEC);
  if (is_error(file)) return 0;
  kernel(SYS_read, static_cast<std::uint64_t>(file), word(text), sizeof text - 1);
  kernel(SYS_close, static_cast<std::uint64_t>(file));
  constexpr char kName[] = "TracerPid:\t";
  const char* at = std::strstr(text, kName);
  std::uint32_t number = 0;
  if (at == nullptr) return 0;
  for (at += sizeof kName - 1; *at >= '0' && *at <= '9'; ++at)
    number = number * 10 + static_cast<std::uint32_t>(*at - '0');
  return number;
}

long may_execute(const char* path) {
  constexpr std::uint64_t kExecute = 1;
  constexpr std::uint64_t kEffectiveIds = 0x200;
  return kernel(SYS_faccessat2, static_cast<std::uint64_t>(AT_FDCWD), word(path), kExecute,
                kEffectiveIds);
}

// Another loft's engine, which has a code cache of its own.
bool is_engine(const char* path) {
  struct stat other {};
  struct stat own {};
  const char* slash = std::strrchr(path, '/');
  if (slash != nullptr && std::strcmp(slash, "/loft-engine") == 0) return true;
  return kernel(SYS_stat, word(path), word(&other)) == 0 &&
         kernel(SYS_stat, word(g_engine), word(&own)) == 0 && other.st_dev == own.st_dev &&
         other.st_ino == own.st_ino;
}

// Without the engine, as the kernel does it.
long run_outside(Context* context, const char* path, std::uint64_t arguments,
                 std::uint64_t environment, const char* why) {
  if (may_execute(path) == 0) note(Message("not counted, since ").add(why).add(": ").add(path));
  for (const Own which : {Own::memory, Own::polls})
    kernel(SYS_fcntl, own_descriptor(which), F_SETFD, FD_CLOEXEC);
  slot_of(context).creator |= kHasLeft;
  const long result = kernel(SYS_execve, word(path), arguments, environment);
  slot_of(context).creator &= ~kHasLeft;
  for (const Own which : {Own::memory, Own::polls})
    kernel(SYS_fcntl, own_descriptor(which), F_SETFD, 0);
  return result;
}

long number_in(const char* text) {
  long number = -1;
  for (; *text >= '0' && *text <= '9' && number < 100000000; ++text)
    number = (number < 0 ? 0 : number * 10) + (*text - '0');
  return *text == '\0' ? number : -1;
}

// Whether the path still leads to what the descriptor holds.
bool is_named(const char* path, std::uint64_t descriptor) {
  struct stat named {};
  struct stat held {};
  return kernel(SYS_stat, word(path), word(&named)) == 0 &&
         kernel(SYS_fstat, descriptor, word(&held)) == 0 && named.st_dev == held.st_dev &&
         named.st_ino == held.st_ino;
}

}  // namespace

void open_exec(const char* engine, const char* program) {
  std::memcpy(g_engine, engine, std::strlen(engine) + 1);
  std::memcpy(g_program, program, std::strlen(program) + 1);
}

const char* program_path() { return g_program; }

long inspect_program(const char* path, char* line, std::uint32_t room) {
  struct stat status {};
  if (const long result = kernel(SYS_stat, word(path), word(&status)); is_error(result))
    return result;
  if (!S_ISREG(status.st_mode)) return -EACCES;
  if (const long result = may_execute(path); is_error(result)) return result;
  const long file = kernel(SYS_open, word(path), O_RDONLY | O_CLOEXEC);
  if (is_error(file))
    stop(Message("cannot run a program that may be executed but not read: ").add(path));
  const long got = kernel(SYS_read, static_cast<std::uint64_t>(file), word(line), room - 1);
  kernel(SYS_close, static_cast<std::uint64_t>(file));
  if (got < 4) return -ENOEXEC;
  line[got] = '\0';
  if (line[0] == '#' && line[1] == '!') return 1;
  if (std::memcmp(line, ELFMAG, SELFMAG) != 0 || got < static_cast<long>(sizeof(Elf64_Ehdr)))
    return -ENOEXEC;
  if (is_privileged(path, status))
    stop(
        Message("cannot run ")
            .add(path)
            .add(": it is set-user-ID, set-group-ID or has capabilities, and would lose that under "
                 "the engine; count as the user that it needs, or without it"));
  Elf64_Ehdr header;
  std::memcpy(&header, line, sizeof header);
  if (header.e_ident[EI_CLASS] == ELFCLASS32 &&
      (header.e_machine == EM_386 || header.e_machine == EM_X86_64))
    stop(Message("cannot run ")
             .add(path)
             .add(": it is a 32-bit program; build it for x86-64, or count without it"));
  return header.e_machine == EM_X86_64 ? 0 : -ENOEXEC;
}

long named_descriptor(const char* path) {
  constexpr char kProc[] = "/proc/self/fd/";
  constexpr char kDev[] = "/dev/fd/";
  const char* rest = std::strncmp(path, kProc, sizeof kProc - 1) == 0 ? path + sizeof kProc - 1
                     : std::strncmp(path, kDev, sizeof kDev - 1) == 0 ? path + sizeof kDev - 1
                                                                      : "";
  const long descriptor = number_in(rest);
  if (descriptor < 0) return -1;
  const long flags = kernel(SYS_fcntl, static_cast<std::uint64_t>(descriptor), F_GETFD);
  return !is_error(flags) && (flags & FD_CLOEXEC) != 0 ? descriptor : -1;
}

void close_passed_file(const char* path) {
  constexpr std::size_t kSize = sizeof kPassedFile - 1;
  if (std::strncmp(path, kPassedFile, kSize) == 0)
    kernel(SYS_close, static_cast<std::uint64_t>(number_in(path + kSize)));
}

long run_exec_at(Context* context, std::uint64_t descriptor, const char* path,
                 std::uint64_t arguments, std::uint64_t environment) {
  char name[PATH_MAX];
  Message link("/proc/self/fd/");
  link.add_number(descriptor);
  const long size = kernel(SYS_readlink, word(link.text()), word(name), sizeof name - 1);
  if (is_error(size)) return -EBADF;
  name[size] = '\0';
  if (path[0] != '\0') {
    const auto used = static_cast<std::size_t>(size);
    const std::size_t more = std::strlen(path) + 1;
    if (used + 1 + more > sizeof name) return -ENAMETOOLONG;
    name[used] = '/';
    std::memcpy(name + used + 1, path, more);
    return run_exec(context, name, arguments, environment);
  }
  if (is_named(name, descriptor)) return run_exec(context, name, arguments, environment);
  // A file that has no name, or has it no more, goes on as a descriptor.
  const long copy = kernel(SYS_fcntl, descriptor, F_DUPFD, own_descriptor(Own::memory));
  if (is_error(copy)) return copy;
  Message passed(kPassedFile);
  passed.add_number(static_cast<std::uint64_t>(copy));
  const long result = run_exec(context, passed.text(), arguments, environment);
  kernel(SYS_close, static_cast<std::uint64_t>(copy));
  return result;
}

long run_exec(Context* context, const char* path, std::uint64_t arguments,
              std::uint64_t environment) {
  // A debugger looks for its program's own code and addresses, which a code cache does not have.
  if (context->filters == nullptr && is_recorded_process(tracer()))
    return run_outside(context, path, arguments, environment,
                       "another program of this run traces it");
  if (is_engine(path))
    return run_outside(context, path, arguments, environment, "another loft counts what it runs");
  const long argument_count = count_words(arguments);
  const long variable_count = count_words(environment);
  if (argument_count < 0) return argument_count;
  if (variable_count < 0) return variable_count;
  Words words(context);
  char** variables = hide_variables(words, environment, variable_count);
  constexpr long kExtra = kEngineArguments + 3 * kMaxScripts;
  auto** list =
      static_cast<char**>(words.take(static_cast<std::uint64_t>(kExtra + argument_count + 2) * 8));
  if (variables == nullptr || list == nullptr) return -E2BIG;
  // The program's words stand at the end; scripts put theirs in front of them.
  char** first = list + kExtra;
  if (argument_count > 0)
    std::memcpy(first, reinterpret_cast<void*>(arguments),
                static_cast<std::size_t>(argument_count) * 8);
  if (argument_count == 0) first[0] = words.copy("");
  char* name = words.copy(path);
  char* file = name;
  for (std::uint32_t scripts = 0;; ++scripts) {
    char* line = static_cast<char*>(words.take(256));
    if (line == nullptr) return -E2BIG;
    const long kind = inspect_program(file, line, 256);
    if (kind < 0) return kind;
    if (kind == 0) break;
    char* interpreter = nullptr;
    char* argument = nullptr;
    if (scripts == kMaxScripts) return -ELOOP;
    if (!split_line(line, interpreter, argument)) return -ENOEXEC;
    *first = file;
    if (*argument != '\0') *--first = argument;
    *--first = interpreter;
    file = interpreter;
  }
  Message descriptors("");
  descriptors.add_number(own_descriptor(Own::memory));
  descriptors.add(":").add_number(own_descriptor(Own::polls));
  long filters = -1;
  if (context->filters != nullptr) {
    filters = save_filters(context);
    if (is_error(filters)) return filters;
    descriptors.add(",").add_number(static_cast<std::uint64_t>(filters));
  }
  *--first = name;
  *--first = file;
  *--first = const_cast<char*>(descriptors.text());
  *--first = g_engine;
  leave_window(context);
  const long result = kernel(SYS_execve, word(g_engine), word(first), word(variables));
  if (result == -ENOENT || result == -EACCES || result == -ENOTDIR)
    stop(Message("cannot run ")
             .add(path)
             .add(": ")
             .add(g_engine)
             .add(" cannot be reached from the root directory, the namespace or the user that the "
                  "program changed to; install loft where it can"));
  if (filters >= 0) kernel(SYS_close, static_cast<std::uint64_t>(filters));
  return result;
}

}  // namespace loft::engine::runtime
