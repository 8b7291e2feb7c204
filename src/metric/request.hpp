// What lists of names ask for: events to count, and metrics that follow from their counts.
//
//   LOFT_TRY(const Request request, read_request({"cycles,IPC"}, resolver, load_library));
//   count(request.events)                         // aligned with this list from here on
//   evaluate_run(request, run)                    // no name is looked up again
//
// Every name is resolved once, here. A metric is bound to the positions of its events.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "event/resolver.hpp"
#include "metric/library.hpp"
#include "metric/program.hpp"

namespace loft::metric {

// What one input of a program rests on.
struct Operand {
  std::vector<std::size_t> events;  // positions in Request::events; several are added up
  bool is_time = false;             // the wall-clock time of the run
  std::string why;                  // only when it is neither: why it cannot be counted
};

struct Request {
  std::vector<event::Event> events;  // to count, each once; those that the lists name come first
  std::size_t named = 0;             // so many
  std::vector<Program> programs;     // the metrics, in the order of the lists
  std::vector<std::vector<Operand>> operands;  // of each program, aligned with its inputs

  // Whether a metric follows from the wall-clock time.
  [[nodiscard]] bool needs_time() const;
};

using LoadLibrary = std::function<Result<Library>()>;

// `lists` are comma-separated. Names that are no metric are events. A list of events alone needs no
// metric file: `load` is called when the first name is none. An event that is known and cannot be
// counted here stays, with its reason; a name that nobody knows is an error.
[[nodiscard]] Result<Request> read_request(const std::vector<std::string>& lists,
                                           event::Resolver& resolver, const LoadLibrary& load);
// As above, where the metrics are at hand: a name that is a metric and an event is the metric.
[[nodiscard]] Result<Request> read_request(const std::vector<std::string>& lists,
                                           event::Resolver& resolver, const Library& library);

// Whether events are known here (or on the CPU that `resolver` pretends), remembered by name.
// The resolver must live as long.
Available available_events(event::Resolver& resolver);

}  // namespace loft::metric
