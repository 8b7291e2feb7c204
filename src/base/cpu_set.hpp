// A set of CPU numbers, and the kernel's list notation for it ("0-3,8,10-11").
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"

namespace loft {

// Sorted, without repeats.
using CpuList = std::vector<int>;

// Parses "0-3,8"; refuses ranges that end before they start and numbers above 65535.
[[nodiscard]] Result<CpuList> parse_cpu_list(std::string_view text);

std::string format_cpu_list(const CpuList& cpus);

// CPUs that are on, from /sys/devices/system/cpu/online.
[[nodiscard]] Result<CpuList> online_cpus(const SystemRoot& root = {});

// CPUs that a task may run on (its affinity mask: taskset, cpusets, containers); 0 is this thread.
[[nodiscard]] Result<CpuList> allowed_cpus(pid_t task = 0);
[[nodiscard]] Result<void> set_allowed_cpus(pid_t task, const CpuList& cpus);

}  // namespace loft
