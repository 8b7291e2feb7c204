// Recordings among the words of a command line.
#pragma once

#include <string>

namespace loft::cli {

// Whether the file at `path` begins as a perf.data does.
[[nodiscard]] bool is_recording(const std::string& path);

}  // namespace loft::cli
