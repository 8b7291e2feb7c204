#include "base/error.hpp"

#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace loft {

std::string describe_errno(int number) {
  const char* name = ::strerrorname_np(number);
  if (name == nullptr) return "error " + std::to_string(number);
  return std::string(name) + " (" + ::strerrordesc_np(number) + ")";
}

ErrorKind kind_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ESRCH:
    case ENODEV:
    case ENXIO:
      return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::permission;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EAGAIN:
      return ErrorKind::limit;
    case EOPNOTSUPP:
    case ENOSYS:
      return ErrorKind::unsupported;
    case EINVAL:
    case E2BIG:
      return ErrorKind::invalid_input;
    default:
      return ErrorKind::io;
  }
}

std::string to_string(const Error& error) {
  std::string line = "cannot " + printable(error.what);
  if (!error.why.empty()) line += ": " + printable(error.why);
  if (!error.hint.empty()) line += "; " + printable(error.hint);
  return line;
}

}  // namespace loft
