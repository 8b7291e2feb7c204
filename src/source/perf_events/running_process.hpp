// What a process that already runs has mapped, and how its threads are called: what the kernel
// would have told of it from its start on.
//
//   LOFT_TRY(const auto process, look_at_process(1234));
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace loft::source::perf_events {

struct MappedCode {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // in the file
  std::string path;
};

struct RunningThread {
  pid_t tid = 0;
  std::string name;
};

struct RunningProcess {
  pid_t pid = 0;
  std::vector<RunningThread> threads;
  std::vector<MappedCode> code;  // empty where this user may not know
};

[[nodiscard]] Result<RunningProcess> look_at_process(pid_t pid);

}  // namespace loft::source::perf_events
