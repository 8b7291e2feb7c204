#include "source/msr/registers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace loft::source::msr {
namespace {

std::string hint_for(int number) {
  switch (number) {
    case ENOENT:
    case ENXIO:
      return "load the kernel's module: sudo modprobe msr";
    case EACCES:
    case EPERM:
      return "run as root or with CAP_SYS_RAWIO; a kernel in lockdown refuses all the same";
    default:
      return {};
  }
}

}  // namespace

Result<std::unique_ptr<Registers>> MsrFile::open(int cpu, Access access, const SystemRoot& root) {
  const std::string path = root.at(fmt::format("/dev/cpu/{}/msr", cpu));
  Fd fd(::open(path.c_str(), (access == Access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (!fd.is_open()) {
    const int number = errno;
    return failure_of_errno(number, "open the registers of CPU " + std::to_string(cpu),
                            hint_for(number));
  }
  return std::unique_ptr<Registers>(new MsrFile(std::move(fd), cpu));
}

Result<std::uint64_t> MsrFile::read(std::uint32_t number) const {
  std::uint64_t value = 0;
  const ssize_t got = ::pread(fd_.get(), &value, sizeof value, number);
  if (got == sizeof value) return value;
  const std::string what = fmt::format("read register {:#x} of CPU {}", number, cpu_);
  if (got >= 0) return failure(ErrorKind::io, what, "it gave too few bytes");
  return errno == EIO ? failure(ErrorKind::unsupported, what, "this CPU does not have it (EIO)")
                      : failure_of_errno(errno, what);
}

Result<void> MsrFile::write(std::uint32_t number, std::uint64_t value) {
  if (::pwrite(fd_.get(), &value, sizeof value, number) == sizeof value) return {};
  const int error = errno;
  const std::string what = fmt::format("write register {:#x} of CPU {}", number, cpu_);
  return error == EPERM
             ? failure(ErrorKind::permission, what, "EPERM, the kernel does not allow it",
                       "msr.allow_writes=on on its command line, and no lockdown")
             : failure_of_errno(error, what);
}

}  // namespace loft::source::msr
