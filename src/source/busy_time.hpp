// How long CPUs were busy, by the kernel's own accounts in /proc/stat. Clocks that are counted on
// whole CPUs run while these are idle, too.
//
//   LOFT_TRY(const auto text, read_file("/proc/stat"));
//   const auto before = busy_ticks(text, cpus);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/cpu_set.hpp"
#include "base/places.hpp"

namespace loft::source {

// Ticks in which `cpus` (all, when empty) ran user or kernel code. Idle, waiting for I/O and stolen
// by the host is not busy. Nothing when one of the CPUs is not in `stat`.
[[nodiscard]] std::optional<std::uint64_t> busy_ticks(std::string_view stat, const CpuList& cpus);

// The time of these ticks since the machine started; nothing when it cannot be read.
[[nodiscard]] std::optional<Nanoseconds> busy_time(const CpuList& cpus,
                                                   const SystemRoot& root = {});

}  // namespace loft::source
