// The metrics a command knows: --metrics, --define and --machine, the same for every command.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "metric/load.hpp"

namespace loft::cli {

struct MetricFlags {
  std::vector<std::string> files;
  std::vector<std::string> defines;
  std::string machine;  // a machine file; empty: the one that `loft machine` left in the cache
};

void add_metric_flags(Command& command, MetricFlags& flags);

// All metric files and the machine's constants. A mistake in a file that was named on the command
// line is an error; one in another file is a note, and its good definitions stay usable.
[[nodiscard]] Result<metric::Library> load_metrics(const MetricFlags& flags, Terminal& terminal);

}  // namespace loft::cli
