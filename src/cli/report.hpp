// The report of a recording, for commands that make one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/terminal.hpp"

namespace loft::cli {

// What `loft report RECORDING -o OUTPUT` writes; the form follows the ending of OUTPUT.
[[nodiscard]] Result<void> write_report(const std::string& recording, const std::string& output,
                                        Terminal& terminal);

}  // namespace loft::cli
