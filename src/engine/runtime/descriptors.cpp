#include "engine/runtime/descriptors.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstddef>

#include "engine/runtime/kernel.hpp"

extern "C" {
// entry.S looks whether a call in place has one of them as its first argument.
std::uint32_t engine_own_descriptors[loft::engine::runtime::kOwnDescriptors] = {~0u, ~0u};
}

namespace loft::engine::runtime {
namespace {

Lock g_lock;  // while a number is used or changed

std::uint32_t& number_of(Own which) {
  return engine_own_descriptors[static_cast<std::uint32_t>(which)];
}

// Calls whose first argument is a descriptor that must be open.
constexpr int kFirst[] = {SYS_read,
                          SYS_write,
                          SYS_fstat,
                          SYS_lseek,
                          SYS_ioctl,
                          SYS_pread64,
                          SYS_pwrite64,
                          SYS_readv,
                          SYS_writev,
                          SYS_dup,
                          SYS_dup2,
                          SYS_dup3,
                          SYS_sendfile,
                          SYS_connect,
                          SYS_accept,
                          SYS_accept4,
                          SYS_sendto,
                          SYS_recvfrom,
                          SYS_sendmsg,
                          SYS_recvmsg,
                          SYS_shutdown,
                          SYS_bind,
                          SYS_listen,
                          SYS_getsockname,
                          SYS_getpeername,
                          SYS_setsockopt,
                          SYS_getsockopt,
                          SYS_fcntl,
                          SYS_flock,
                          SYS_fsync,
                          SYS_fdatasync,
                          SYS_ftruncate,
                          SYS_getdents,
                          SYS_getdents64,
                          SYS_fchdir,
                          SYS_fchmod,
                          SYS_fchown,
                          SYS_fstatfs,
                          SYS_readahead,
                          SYS_fsetxattr,
                          SYS_fgetxattr,
                          SYS_flistxattr,
                          SYS_fremovexattr,
                          SYS_fadvise64,
                          SYS_epoll_wait,
                          SYS_epoll_ctl,
                          SYS_epoll_pwait,
                          SYS_inotify_add_watch,
                          SYS_splice,
                          SYS_tee,
                          SYS_sync_file_range,
                          SYS_vmsplice,
                          SYS_fallocate,
                          SYS_preadv,
                          SYS_pwritev,
                          SYS_preadv2,
                          SYS_pwritev2,
                          SYS_recvmmsg,
                          SYS_sendmmsg,
                          SYS_syncfs,
                          SYS_setns,
                          SYS_copy_file_range,
                          SYS_inotify_rm_watch,
                          SYS_timerfd_settime,
                          SYS_timerfd_gettime};

// Calls of a folder, unless the path behind it is absolute.
constexpr int kFolder[] = {SYS_openat,    SYS_mkdirat,    SYS_mknodat,          SYS_fchownat,
                           SYS_futimesat, SYS_newfstatat, SYS_unlinkat,         SYS_renameat,
                           SYS_renameat2, SYS_linkat,     SYS_readlinkat,       SYS_fchmodat,
                           SYS_faccessat, SYS_faccessat2, SYS_utimensat,        SYS_statx,
                           SYS_openat2,   SYS_execveat,   SYS_name_to_handle_at};

template <std::size_t N>
bool is_among(const int (&known)[N], long number) {
  for (const int one : known)
    if (one == number) return true;
  return false;
}

bool is_absolute(std::uint64_t path) {
  char first = 0;
  return engine_safe_copy(&first, reinterpret_cast<const void*>(path), 1) == 1 && first == '/';
}

// The other argument of a call that is a descriptor, or none.
int second_place(long number) {
  switch (number) {
    case SYS_sendfile:
      return 1;
    case SYS_epoll_ctl:
    case SYS_splice:
    case SYS_copy_file_range:
      return 2;
    case SYS_tee:
      return 1;
    case SYS_mmap:
      return 4;
    default:
      return -1;
  }
}

}  // namespace

void set_own_descriptors(std::uint32_t memory, std::uint32_t polls) {
  number_of(Own::memory) = memory;
  number_of(Own::polls) = polls;
}

std::uint32_t own_descriptor(Own which) { return number_of(which); }

bool is_own_descriptor(std::uint64_t descriptor) {
  const auto number = static_cast<std::uint32_t>(descriptor);
  return number == number_of(Own::memory) || number == number_of(Own::polls);
}

bool uses_own_descriptor(long number, const std::uint64_t* arguments) {
  if (is_own_descriptor(arguments[0])) {
    if (is_among(kFirst, number)) return true;
    if (is_among(kFolder, number)) return !is_absolute(arguments[1]);
  }
  const int second = second_place(number);
  if (second < 0 || !is_own_descriptor(arguments[second])) return false;
  return number != SYS_mmap || (arguments[3] & MAP_ANONYMOUS) == 0;
}

long leave_number(std::uint64_t number) {
  const Holding holding(g_lock);
  for (std::uint32_t& own : engine_own_descriptors) {
    if (own != static_cast<std::uint32_t>(number)) continue;
    long moved = kernel(SYS_fcntl, own, F_DUPFD, own);
    if (is_error(moved)) moved = kernel(SYS_fcntl, own, F_DUPFD, 3);
    if (is_error(moved)) return moved;
    own = static_cast<std::uint32_t>(moved);
  }
  return 0;
}

long map_own(Own which, std::uint64_t address, std::uint64_t bytes, std::uint64_t offset) {
  const Holding holding(g_lock);
  return kernel(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                number_of(which), offset);
}

bool is_locked(std::uint64_t byte) {
  struct flock held {};
  held.l_type = F_WRLCK;
  held.l_start = static_cast<off_t>(byte);
  held.l_len = 1;
  const Holding holding(g_lock);
  const long result = kernel(SYS_fcntl, number_of(Own::memory), F_OFD_GETLK, word(&held));
  return is_error(result) || held.l_type != F_UNLCK;
}

void forget_descriptor_users() { g_lock = Lock(); }

}  // namespace loft::engine::runtime
