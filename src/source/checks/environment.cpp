#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cpu_set.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "source/checks/checks.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::checks {
namespace {

using Status = Check::Status;

// The value of "Name:\tvalue" in /proc/self/status.
std::string status_field(const SystemRoot& root, std::string_view name) {
  const auto text = read_file(root.at("/proc/self/status"));
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n'))
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return std::string(trim(line.substr(name.size() + 1)));
  return {};
}

Check privileges(const SystemRoot& root) {
  constexpr std::uint64_t kSysAdmin = 1u << 21;
  constexpr std::uint64_t kPerfmon = std::uint64_t{1} << 38;
  constexpr std::uint64_t kBpf = std::uint64_t{1} << 39;
  const std::uint64_t effective = parse_hex(status_field(root, "CapEff")).value_or(0);
  const bool admin = (effective & kSysAdmin) != 0;
  const bool perfmon = admin || (effective & kPerfmon) != 0;
  const bool bpf = admin || (effective & kBpf) != 0;
  if (perfmon && bpf)
    return {"privileges", "privileges", Status::ok, "CAP_PERFMON and CAP_BPF are effective", ""};
  const auto level = perf_events::paranoid_level(root);
  return {
      "privileges", "privileges",
      level && *level > 2 && !perfmon ? Status::missing : Status::limited,
      fmt::format("{} CAP_PERFMON, {} CAP_BPF, perf_event_paranoid is {}", perfmon ? "has" : "no",
                  bpf ? "has" : "no", level ? std::to_string(*level) : "not readable"),
      "sudo setcap cap_perfmon,cap_bpf+ep \"$(command -v loft)\""};
}

Check descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto cpus = online_cpus();
  // Eight events on every CPU, and as much again for rings and maps.
  const rlim_t wanted = 64 + 16 * (cpus ? cpus->size() : 1);
  const bool enough = limit.rlim_max >= wanted;
  return {"descriptors", "file descriptors", enough ? Status::ok : Status::limited,
          fmt::format("{} (hard limit {}){}", limit.rlim_cur, limit.rlim_max,
                      enough ? "" : fmt::format(", {} are wanted for all CPUs", wanted)),
          enough ? "" : fmt::format("ulimit -Hn {}", wanted)};
}

Check locked_memory(const SystemRoot& root) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const auto rings = read_line(root.at("/proc/sys/kernel/perf_event_mlock_kb"));
  const std::string own =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : with_binary_prefix(limit.rlim_cur);
  const bool enough = rings && parse_u64(*rings).value_or(0) >= 516;
  return {"locked-memory", "locked memory for rings", enough ? Status::ok : Status::limited,
          fmt::format("{} KiB per CPU for everybody, {} more for this process",
                      rings ? *rings : "unknown", own),
          enough ? "" : "sudo sysctl kernel.perf_event_mlock_kb=516"};
}

Check seccomp(const SystemRoot& root) {
  const std::string mode = status_field(root, "Seccomp");
  if (mode == "0") return {"seccomp", "seccomp", Status::ok, "no filter", ""};
  if (mode.empty()) return {"seccomp", "seccomp", Status::ok, "this kernel has none", ""};
  return {"seccomp", "seccomp", Status::limited, "a filter may refuse calls (mode " + mode + ")",
          "allow perf_event_open and bpf in the container's profile"};
}

Check lockdown(const SystemRoot& root) {
  const auto line = read_line(root.at("/sys/kernel/security/lockdown"));
  if (!line || line->find("[none]") != std::string::npos)
    return {"lockdown", "kernel lockdown", Status::ok, "off", ""};
  return {"lockdown", "kernel lockdown", Status::limited, *line,
          "BPF and msr are restricted while secure boot locks the kernel down"};
}

Check kernel_symbols(const SystemRoot& root) {
  const auto text = read_file(root.at("/proc/kallsyms"));
  const std::string title = "names of kernel functions";
  if (!text || text->empty())
    return {"kernel-symbols", title, Status::missing, "/proc/kallsyms cannot be read", ""};
  if (!text->starts_with("0000000000000000 "))
    return {"kernel-symbols", title, Status::ok, "/proc/kallsyms shows addresses", ""};
  const auto restricted = read_line(root.at("/proc/sys/kernel/kptr_restrict"));
  return {"kernel-symbols", title, Status::missing,
          "addresses in /proc/kallsyms are hidden, kptr_restrict is " +
              (restricted ? *restricted : "not readable"),
          "sudo setcap cap_syslog+ep \"$(command -v loft)\""};
}

Check machine(const SystemRoot& root) {
  const auto info = read_file(root.at("/proc/cpuinfo"));
  std::string model = "unknown CPU";
  bool guest = false;
  if (info) {
    for (const std::string_view line : split(*info, '\n')) {
      if (line.starts_with("model name") && model == "unknown CPU")
        model = trim(line.substr(line.find(':') + 1));
      if (line.starts_with("flags") &&
          (" " + std::string(line) + " ").find(" hypervisor ") != std::string::npos)
        guest = true;
    }
  }
  const auto release = read_line(root.at("/proc/sys/kernel/osrelease"));
  const auto cpus = online_cpus(root);
  return {
      "machine", "machine", Status::ok,
      fmt::format("{}, {} CPUs online, Linux {}{}", model, cpus ? cpus->size() : 0,
                  release ? *release : "of unknown release", guest ? ", a virtual machine" : ""),
      ""};
}

}  // namespace

std::vector<Check> environment(const SystemRoot& root) {
  return {machine(root), privileges(root), descriptors(),       locked_memory(root),
          seccomp(root), lockdown(root),   kernel_symbols(root)};
}

}  // namespace loft::source::checks
