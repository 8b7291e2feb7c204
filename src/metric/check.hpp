// What is wrong with a metric file beyond its syntax.
//
// Every definition is compiled (unknown names, cycles, units), its `expect` lines are evaluated,
// and divisors that can be 0 are named.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "metric/program.hpp"

namespace loft::metric {

struct CheckResult {
  std::vector<Diagnostic> diagnostics;
  std::size_t definitions = 0;
  std::size_t expectations = 0;  // lines that held
};

// Whether a name that no file defines is an event; the text says why not, empty when it is one.
using EventTest = std::function<std::string(const std::string& name)>;

// Checks the definitions of `file` among all that `library` knows. `is_event` may be empty.
CheckResult check_definitions(const Library& library, const MetricFile& file,
                              const EventTest& is_event);

}  // namespace loft::metric
