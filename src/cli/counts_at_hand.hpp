// Counts of an earlier run: a recording, or a text of whatever tool.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/terminal.hpp"
#include "metric/counts_file.hpp"

namespace loft::cli {

// What a reader must know of them is noted on the terminal.
[[nodiscard]] Result<metric::CountsFile> read_counts_of(const std::string& path,
                                                        Terminal& terminal);

}  // namespace loft::cli
