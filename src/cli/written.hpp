// Names a file that was written, on a terminal: a person wants to open it, a script knows it.
#pragma once

#include <string>

#include "cli/terminal.hpp"

namespace loft::cli {

void tell_written(const std::string& file, Terminal& terminal);

}  // namespace loft::cli
