#include "base/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace loft {

namespace {

// The bytes of the file in memory of our own: what is copied cannot change under us.
Result<void> copy_file(const Fd& fd, std::byte* to, std::size_t size, const std::string& path) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(fd.get(), to + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure_of_errno(errno, "read '" + path + "'");
    if (got == 0) return file_changed(path);
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

Mapping::~Mapping() {
  guard_ = FaultGuard();  // before the addresses can become somebody else's
  if (start_ != nullptr) ::munmap(start_, size_);
}

Result<Mapping> Mapping::of_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return failure_of_errno(errno, "open '" + path + "'");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failure_of_errno(errno, "stat '" + path + "'");
  if (!S_ISREG(status.st_mode))
    return failure(ErrorKind::invalid_input, "map '" + path + "'", "it is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Mapping();
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (start == MAP_FAILED) return failure_of_errno(errno, "map '" + path + "'");
  Mapping mapping(static_cast<std::byte*>(start), size);
  mapping.guard_ = FaultGuard::of(mapping.bytes(), path);
  if (!mapping.guard_.is_active()) {
    start =
        ::mmap(start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (start == MAP_FAILED) return failure_of_errno(errno, "map '" + path + "'");
    LOFT_CHECK(copy_file(fd, mapping.start_, size, path));
  }
  return mapping;
}

Result<Mapping> Mapping::shared(const Fd& fd, std::size_t size, Access access, std::size_t offset) {
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* start = ::mmap(nullptr, size, protection, MAP_SHARED, fd.get(), static_cast<off_t>(offset));
  if (start == MAP_FAILED)
    return failure_of_errno(errno, "map " + std::to_string(size) + " shared bytes");
  return Mapping(static_cast<std::byte*>(start), size);
}

}  // namespace loft
