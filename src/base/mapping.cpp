#include "base/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace loft {

Mapping::~Mapping() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

Result<Mapping> Mapping::of_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "open '" + path + "'");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failure_of_errno(errno, "stat '" + path + "'");
  if (!S_ISREG(status.st_mode))
    return failure(ErrorKind::invalid_input, "map '" + path + "'", "it is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Mapping();
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (start == MAP_FAILED) return failure_of_errno(errno, "map '" + path + "'");
  return Mapping(static_cast<std::byte*>(start), size);
}

Result<Mapping> Mapping::shared(const Fd& fd, std::size_t size, Access access, std::size_t offset) {
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* start = ::mmap(nullptr, size, protection, MAP_SHARED, fd.get(), static_cast<off_t>(offset));
  if (start == MAP_FAILED)
    return failure_of_errno(errno, "map " + std::to_string(size) + " shared bytes");
  return Mapping(static_cast<std::byte*>(start), size);
}

}  // namespace loft
