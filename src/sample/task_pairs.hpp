// Which tasks of two recordings of one program are the same: those of one name, in the order of
// their birth.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "sample/task_table.hpp"

namespace loft::sample {

using TaskKey = std::pair<std::string, std::size_t>;  // name, and which of that name

[[nodiscard]] inline std::map<TaskKey, std::size_t> task_keys(const TaskTable& table) {
  std::map<std::string, std::size_t> seen;
  std::map<TaskKey, std::size_t> keys;
  for (std::size_t i = 0; i < table.tasks.size(); ++i)
    keys[{table.tasks[i].comm, seen[table.tasks[i].comm]++}] = i;
  return keys;
}

}  // namespace loft::sample
