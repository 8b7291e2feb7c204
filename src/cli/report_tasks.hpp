// The views of loft report that are about tasks: --tasks, --schedule, --interval, --wakeups.
#pragma once

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

struct TaskViewFlags {
  bool threads = false;
  bool schedule = false;
  bool interval = false;
  bool wakeups = false;

  [[nodiscard]] bool any() const { return threads || schedule || interval || wakeups; }
};

void add_task_view_flags(Command& command, TaskViewFlags& flags);

[[nodiscard]] Result<int> show_tasks(const TaskViewFlags& flags, const source::Recording& recording,
                                     const OutputFlags& output, Terminal& terminal);

}  // namespace loft::cli
