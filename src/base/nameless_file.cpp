#include "base/nameless_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace loft {

Result<Fd> temporary_file() {
  const char* wanted = std::getenv("TMPDIR");
  std::vector<std::string> folders{"/var/tmp", "/tmp"};  // small systems have only the second
  if (wanted != nullptr && *wanted != '\0') folders = {wanted};
  int error = 0;
  for (const std::string& folder : folders) {
    std::string path = folder + "/loft-XXXXXX";
    Fd fd(::mkostemp(path.data(), O_CLOEXEC));
    if (fd.is_open()) {
      ::unlink(path.c_str());
      return fd;
    }
    error = errno;
  }
  return failure_of_errno(error, "make a temporary file in '" + folders.back() + "'",
                          "set TMPDIR to a folder with room");
}

Result<Fd> memory_file(const char* name) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "make a file in memory");
  return fd;
}

}  // namespace loft
