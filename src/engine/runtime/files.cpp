#include "engine/runtime/files.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/exec.hpp"
#include "engine/runtime/own_maps.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/syscalls.hpp"

namespace loft::engine::runtime {

bool is_own_file(const char* path, const char* file) {
  if (std::strncmp(path, "/proc/", 6) != 0) return false;
  const char* rest = path + 6;
  if (std::strncmp(rest, "self/", 5) == 0) return std::strcmp(rest + 5, file) == 0;
  if (std::strncmp(rest, "thread-self/", 12) == 0) return std::strcmp(rest + 12, file) == 0;
  long number = 0;
  while (*rest >= '0' && *rest <= '9' && number < 100000000) number = number * 10 + (*rest++ - '0');
  return *rest == '/' && std::strcmp(rest + 1, file) == 0 && number == kernel(SYS_getpid);
}

bool is_below_proc(std::uint64_t path) {
  char start[7] = {};
  copy_string(start, sizeof start, path);
  return std::strcmp(start, "/proc/") == 0;
}

namespace {

bool names_own_file(std::uint64_t path, const char* file) {
  char text[64];
  return copy_string(text, sizeof text, path) && is_own_file(text, file);
}

bool names_own_executable(std::uint64_t path) { return names_own_file(path, "exe"); }

long read_link(std::uint64_t buffer, std::uint64_t room) {
  const std::uint64_t size = std::strlen(program_path());
  const auto told = static_cast<long>(size < room ? size : room);
  if (told <= 0) return -EINVAL;
  if (engine_safe_copy(reinterpret_cast<void*>(buffer), program_path(), told) != told)
    return -EFAULT;
  return told;
}

// Who opens a directory of descriptors lists them next.
void note_directory(std::uint64_t path) {
  char text[64];
  if (copy_string(text, sizeof text, path) && std::strstr(text, "/fd") != nullptr)
    see_syscall(SYS_getdents64);
}

// Around our descriptors.
long close_range(const Call& call) {
  std::uint64_t first = static_cast<std::uint32_t>(call.a);
  const std::uint64_t last = static_cast<std::uint32_t>(call.b);
  if (first > last) return call.in_kernel();
  while (first <= last) {
    std::uint64_t own = last + 1;
    for (const Own which : {Own::memory, Own::polls})
      if (own_descriptor(which) >= first && own_descriptor(which) < own)
        own = own_descriptor(which);
    const long result = own > first ? kernel(call.number, first, own - 1, call.c) : 0;
    if (is_error(result)) return result;
    first = own + 1;
  }
  return 0;
}

// Onto a number of ours, too: then we leave it, unless the call would fail anyway.
long duplicate(const Call& call) {
  if (!is_own_descriptor(call.b)) return call.in_kernel();
  const long result = kernel(SYS_fcntl, call.a, F_GETFD);
  if (is_error(result)) return result;
  const long moved = leave_number(call.b);
  return is_error(moved) ? moved : call.in_kernel();
}

std::uint64_t flags_of_stat(const Call& call) { return call.number == SYS_statx ? call.c : call.d; }

}  // namespace

long run_file_call(const Call& call) {
  switch (call.number) {
    case SYS_readlink:
      return names_own_executable(call.a) ? read_link(call.b, call.c) : call.in_kernel();
    case SYS_readlinkat:
      return names_own_executable(call.b) ? read_link(call.c, call.d) : call.in_kernel();
    case SYS_open:
      note_directory(call.a);
      if (names_own_file(call.a, "maps")) return open_maps(call.b);
      return names_own_executable(call.a) ? kernel(SYS_open, word(program_path()), call.b, call.c)
                                          : call.in_kernel();
    case SYS_openat:
      note_directory(call.b);
      if (names_own_file(call.b, "maps")) return open_maps(call.c);
      return names_own_executable(call.b)
                 ? kernel(SYS_openat, call.a, word(program_path()), call.c, call.d)
                 : call.in_kernel();
    case SYS_stat:
      return names_own_executable(call.a) ? kernel(SYS_stat, word(program_path()), call.b)
                                          : call.in_kernel();
    case SYS_newfstatat:
    case SYS_statx:
      if ((flags_of_stat(call) & AT_SYMLINK_NOFOLLOW) != 0 || !names_own_executable(call.b))
        return call.in_kernel();
      return kernel(call.number, call.a, word(program_path()), call.c, call.d, call.e);
    case SYS_getdents64:
      return list_descriptors(call.a, call.b, call.c);
    case SYS_close:
      return is_own_descriptor(call.a) ? -EBADF : call.in_kernel();
    case SYS_dup2:
    case SYS_dup3:
      return duplicate(call);
    default:
      return close_range(call);
  }
}

}  // namespace loft::engine::runtime
