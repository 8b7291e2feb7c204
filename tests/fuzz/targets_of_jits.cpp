// The target that reads what just-in-time compilers write of their code.
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/targets.hpp"
#include "symbols/jit_symbols.hpp"

namespace loft::fuzz {

void fuzz_jit(Bytes bytes) {
  static const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  (void)symbols::read_perf_map(path, {});
  (void)symbols::read_jitdump(path, {});
}

}  // namespace loft::fuzz
