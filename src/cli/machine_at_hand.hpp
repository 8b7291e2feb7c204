// The machine file for commands that need one: the one on disk, or measured on the spot.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/terminal.hpp"
#include "model/machine_model.hpp"

namespace loft::cli {

// Measures this machine, with progress on a terminal.
[[nodiscard]] Result<model::Machine> measure_machine(bool full, Terminal& terminal);

// Writes the measurement to the file of this machine, with the roofs that are better in the one
// that is there, and says which those are. Where the machine has changed since, nothing of it is
// kept. Returns what was written.
[[nodiscard]] Result<model::Machine> keep_machine(const std::string& path, model::Machine measured,
                                                  Terminal& terminal);

// The machine file called `path`; with an empty path the one of this machine, which is measured
// and kept, with a word about it, when there is none yet. Says so when the machine has changed
// since it was measured.
[[nodiscard]] Result<model::Machine> machine_at_hand(const std::string& path, Terminal& terminal);

}  // namespace loft::cli
