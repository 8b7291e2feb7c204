// From a recording to its tasks: births and deaths, switches, and slices with their counts.
#pragma once

#include "sample/task_table.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

// Of any recording; what it does not hold is missing in the table.
[[nodiscard]] sample::TaskTable read_tasks(const Recording& recording);

}  // namespace loft::source
