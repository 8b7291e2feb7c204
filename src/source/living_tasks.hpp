// The tasks of this machine and the code that they have mapped, as /proc shows them. This is where
// loft describes processes that run already.
//
//   LOFT_TRY(const auto threads, threads_of(1234));
//   for (const MappedCode& code : code_of(1234)) ...
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace loft::source {

struct LivingTask {
  pid_t tid = 0;
  pid_t pid = 0;
  pid_t parent = 0;         // a process
  std::uint64_t start = 0;  // with the tid, who it is: numbers are used again
  bool is_kernel = false;
  std::string name;
  std::uint32_t cpu = 0;  // where it last ran
};

// The line of /proc/PID/task/TID/stat; nothing where it is not one.
[[nodiscard]] std::optional<LivingTask> parse_task_stat(std::string_view line, pid_t pid);

// A task by its own number, whichever process it belongs to.
[[nodiscard]] std::optional<LivingTask> task_with(pid_t tid);

// The threads of one process, and of all. A task that ends meanwhile is not among them.
[[nodiscard]] std::vector<LivingTask> tasks_of(pid_t pid);
[[nodiscard]] std::vector<LivingTask> living_tasks();

// The threads of a process that is to be watched: `not_found` where there is none.
[[nodiscard]] Result<std::vector<LivingTask>> threads_of(pid_t pid);

// A part of a file that a process can execute.
struct MappedCode {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // in the file
  std::string path;
};
// Empty where this user may not know.
[[nodiscard]] std::vector<MappedCode> code_of(pid_t pid);

// The processes that a thread started and that still are its children. Nothing where this kernel
// does not tell.
[[nodiscard]] std::vector<pid_t> children_of(const LivingTask& task);

// What the scheduler says of a task so far.
struct SchedulerSums {
  std::uint64_t run_ns = 0;
  std::uint64_t wait_ns = 0;  // ready to run, on no CPU
  std::uint64_t turns = 0;    // times that it got a CPU
};
// The line of /proc/PID/task/TID/schedstat.
[[nodiscard]] std::optional<SchedulerSums> parse_schedstat(std::string_view line);
[[nodiscard]] std::optional<SchedulerSums> scheduler_sums(pid_t pid, pid_t tid);

}  // namespace loft::source
