#include "base/cpu_set.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft {
namespace {

constexpr std::uint64_t kHighestCpu = 65535;

}  // namespace

Result<CpuList> parse_cpu_list(std::string_view text) {
  CpuList cpus;
  for (const std::string_view piece : split(trim(text), ',')) {
    const auto dash = piece.find('-');
    const auto first = parse_u64(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(piece.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kHighestCpu)
      return failure(ErrorKind::invalid_input, "read the CPU list '" + std::string(text) + "'",
                     "'" + std::string(piece) + "' is neither a CPU nor a range",
                     "write it like 0-3,8");
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string format_cpu_list(const CpuList& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

Result<CpuList> online_cpus(const SystemRoot& root) {
  LOFT_TRY(const auto line, read_line(root.at("/sys/devices/system/cpu/online")));
  return parse_cpu_list(line);
}

Result<CpuList> allowed_cpus() {
  // The kernel refuses a mask that is smaller than its own, so grow until it fits.
  for (int count = 1024; count <= 1 << 17; count *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(static_cast<std::size_t>(count)), [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    CPU_ZERO_S(size, mask.get());
    if (::sched_getaffinity(0, size, mask.get()) != 0) {
      if (errno == EINVAL) continue;
      return failure_of_errno(errno, "read the CPU mask of this process");
    }
    CpuList cpus;
    for (int cpu = 0; cpu < count; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask.get())) cpus.push_back(cpu);
    return cpus;
  }
  return failure(ErrorKind::limit, "read the CPU mask of this process",
                 "the kernel knows more than 131072 CPUs");
}

}  // namespace loft
