// What is wrong with a metric file beyond its syntax.
//
// Every definition is compiled (unknown names, cycles, units), its `expect` lines are evaluated,
// and divisors that can be 0 are named.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "event/resolver.hpp"
#include "metric/program.hpp"

namespace loft::metric {

struct CheckResult {
  std::vector<Diagnostic> diagnostics;
  std::size_t definitions = 0;
  std::size_t expectations = 0;  // lines that held

  [[nodiscard]] std::size_t count(Severity severity) const;
};

// Whether a name that no file defines is an event; the text says why not, empty when it is one.
using EventTest = std::function<std::string(const std::string& name)>;
[[nodiscard]] EventTest events_known_to(event::Resolver& resolver);

// Checks the definitions of `file` among all that `library` knows. `is_event` may be empty.
CheckResult check_definitions(const Library& library, const MetricFile& file,
                              const EventTest& is_event);

// Checks files together: they may use each other's definitions. Their own diagnostics come first.
[[nodiscard]] CheckResult check_files(Library library, std::span<const MetricFile> files,
                                      const EventTest& is_event);

}  // namespace loft::metric
