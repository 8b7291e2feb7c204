// A thread on a CPU, from when it got it until it left.
#pragma once

#include <cstdint>
#include <optional>

namespace loft::sample {

struct RunSlice {
  std::uint32_t tid = 0;
  std::optional<std::uint32_t> cpu;  // nothing where the recording does not say
  std::uint64_t start = 0;           // of the recording's clock
  std::uint64_t end = 0;
  bool was_preempted = false;  // it lost the CPU and could have gone on

  bool operator==(const RunSlice&) const = default;
};

}  // namespace loft::sample
