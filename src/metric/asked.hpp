// What a list of names asks for: events to count, and metrics to compute from them.
//
//   LOFT_TRY(const Asked asked, ask({"cycles,IPC"}, library, resolver));
//   resolver.resolve_list(asked.events())       // what to count
//   evaluate_run(asked, run)                    // what follows from it
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "event/resolver.hpp"
#include "metric/library.hpp"
#include "metric/program.hpp"

namespace loft::metric {

struct Asked {
  std::vector<std::string> named;   // events that the list itself names
  std::vector<std::string> needed;  // further ones, that metrics need
  std::vector<Program> programs;    // the metrics, in the order of the list
  std::vector<std::pair<std::string, std::string>> missing;  // events of metrics, and why

  // All events to count as one list for the resolver; empty when there is none.
  [[nodiscard]] std::string events() const;
  // Whether a metric follows from the wall-clock time.
  [[nodiscard]] bool needs_time() const;
};

// `lists` are comma-separated. Names that are no metric are taken for events as they are.
[[nodiscard]] Result<Asked> ask(const std::vector<std::string>& lists, const Library& library,
                                event::Resolver& resolver);

// Whether events can be counted here (or on the CPU that `resolver` pretends), remembered by name.
// The resolver must live as long.
Available available_events(event::Resolver& resolver);

}  // namespace loft::metric
