// What 'loft record' counts, by the names that a person gives: on the command line, and in a file
// that may be written while the program runs.
#pragma once

#include <string>
#include <vector>

#include "cli/metric_library.hpp"
#include "cli/terminal.hpp"
#include "event/resolver.hpp"
#include "source/scheduler/record.hpp"

namespace loft::cli {

// Events as they are named, and those that named metrics are computed from.
[[nodiscard]] Result<std::vector<event::Event>> events_of(const std::string& list,
                                                          const MetricFlags& metrics,
                                                          event::Resolver& resolver,
                                                          Terminal& terminal);

// The request counts what the file at `path` says, from its beginning and whenever that changes. A
// file that is not there is made with `events`. What becomes of a change is a note on the terminal.
[[nodiscard]] Result<void> use_control_file(const std::string& path, const std::string& events,
                                            const MetricFlags& metrics,
                                            source::scheduler::RecordRequest& request,
                                            Terminal& terminal);

}  // namespace loft::cli
