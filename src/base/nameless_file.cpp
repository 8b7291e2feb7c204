#include "base/nameless_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace loft {

Result<Fd> temporary_file() {
  const char* wanted = std::getenv("TMPDIR");
  const std::string folder = wanted != nullptr && *wanted != '\0' ? wanted : "/var/tmp";
  std::string path = folder + "/loft-XXXXXX";
  Fd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.is_open())
    return failure_of_errno(errno, "make a temporary file in '" + folder + "'",
                            "set TMPDIR to a folder with room");
  ::unlink(path.c_str());
  return fd;
}

Result<Fd> memory_file(const char* name) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "make a file in memory");
  return fd;
}

}  // namespace loft
