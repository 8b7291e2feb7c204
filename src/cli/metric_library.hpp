// The metrics a command knows: --metrics, --define and --machine, the same for every command.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "event/resolver.hpp"
#include "metric/load.hpp"
#include "metric/program.hpp"

namespace loft::cli {

struct MetricFlags {
  std::vector<std::string> files;
  std::vector<std::string> defines;
  std::string machine;  // a machine file; empty: the one that `loft machine` left in the cache
};

void add_metric_flags(CLI::App& command, MetricFlags& flags);

// All metric files and the machine's constants. A mistake in a file that was named on the command
// line is an error; one in another file is a note, and its good definitions stay usable.
[[nodiscard]] Result<metric::Library> load_metrics(const MetricFlags& flags, Terminal& terminal);

// Whether events can be counted here (or on the CPU that `resolver` pretends), remembered by name.
metric::Available available_events(event::Resolver& resolver);

// Splits what -e names into metrics and the rest, which goes to the event resolver as it is.
struct NamedMetrics {
  std::vector<std::string> metrics;
  std::vector<std::string> events;
};
NamedMetrics split_metrics(const std::vector<std::string>& lists, const metric::Library& library,
                           const metric::Available& available);

}  // namespace loft::cli
