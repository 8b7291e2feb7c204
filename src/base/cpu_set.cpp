#include "base/cpu_set.hpp"

#include <sched.h>

#include <cerrno>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft {
namespace {

constexpr std::uint64_t kHighestCpu = 65535;

class CpuMask {
 public:
  explicit CpuMask(std::size_t cpus) : size_(CPU_ALLOC_SIZE(cpus)), set_(CPU_ALLOC(cpus), free) {
    CPU_ZERO_S(size_, set_.get());
  }
  [[nodiscard]] cpu_set_t* get() const { return set_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static void free(cpu_set_t* set) { CPU_FREE(set); }
  std::size_t size_;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

std::string what_of(const char* verb, pid_t task) {
  return std::string(verb) + " the CPU mask of " +
         (task == 0 ? "this process" : "task " + std::to_string(task));
}

}  // namespace

Result<CpuList> parse_cpu_list(std::string_view text) {
  std::vector<bool> is_named(kHighestCpu + 1);  // a list may name one CPU any number of times
  for (const std::string_view piece : split(trim(text), ',')) {
    const auto dash = piece.find('-');
    const auto first = parse_u64(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(piece.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kHighestCpu)
      return failure(ErrorKind::invalid_input, "read the CPU list '" + std::string(text) + "'",
                     "'" + std::string(piece) + "' is neither a CPU nor a range",
                     "write it like 0-3,8");
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) is_named[cpu] = true;
  }
  CpuList cpus;
  for (std::size_t cpu = 0; cpu < is_named.size(); ++cpu)
    if (is_named[cpu]) cpus.push_back(static_cast<int>(cpu));
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

Result<CpuList> allowed_cpus(pid_t task) {
  // The kernel refuses a mask that is smaller than its own, so grow until it fits.
  for (std::size_t count = 1024; count <= 1u << 17; count *= 2) {
    const CpuMask mask(count);
    if (::sched_getaffinity(task, mask.size(), mask.get()) != 0) {
      if (errno == EINVAL) continue;
      return failure_of_errno(errno, what_of("read", task));
    }
    CpuList cpus;
    for (std::size_t cpu = 0; cpu < count; ++cpu)
      if (CPU_ISSET_S(cpu, mask.size(), mask.get())) cpus.push_back(static_cast<int>(cpu));
    return cpus;
  }
  return failure(ErrorKind::limit, what_of("read", task), "the kernel knows more than 131072 CPUs");
}

Result<void> set_allowed_cpus(pid_t task, const CpuList& cpus) {
  if (cpus.empty()) return failure(ErrorKind::invalid_input, what_of("set", task), "it is empty");
  const CpuMask mask(static_cast<std::size_t>(cpus.back()) + 1);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), mask.size(), mask.get());
  if (::sched_setaffinity(task, mask.size(), mask.get()) != 0)
    return failure_of_errno(errno, what_of("set", task));
  return {};
}

}  // namespace loft
