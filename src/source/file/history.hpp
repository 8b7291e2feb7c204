// From the side records of a recording (mappings, names, forks, exits, kernel symbols) to the
// history of its tasks.
#pragma once

#include <vector>

#include "sample/task_history.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

// Where a record that tells about tasks or mappings stands.
struct SideRecord {
  std::uint64_t time = 0;
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
};

// Needs the recording's events and regions; puts the records into order of time first.
[[nodiscard]] sample::TaskHistory build_history(const Recording& recording,
                                                std::vector<SideRecord> side);

}  // namespace loft::source
