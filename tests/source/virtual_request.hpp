// What tests ask of the virtual PMU: events by name, each counted by itself, of a command.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "event/resolver.hpp"
#include "source/virtual/counting.hpp"
#include "source/virtual/event_names.hpp"

namespace loft::source {

inline Result<CountRequest> virtual_request(const std::string& events,
                                            std::vector<std::string> command) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  event::ResolverOptions options;
  options.virtual_names = virtual_pmu::event_names;
  options.plain_names = event::PlainNames::virtual_first;
  CountRequest request;
  LOFT_TRY(request.events, event::Resolver(options).resolve_list(events));
  for (std::size_t i = 0; i < request.events.size(); ++i) request.groups.push_back({{i}, false});
  request.command = std::move(command);
  return request;
}

}  // namespace loft::source
