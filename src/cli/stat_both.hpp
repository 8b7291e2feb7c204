// loft stat --source counters,virtual: the same names counted by both sources, side by side.
#pragma once

#include <string>
#include <vector>

#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "machine/geometry.hpp"

namespace loft::cli {

struct BothFlags {
  std::vector<std::string> events;  // lists of names; empty: what both sources usually have
  std::vector<std::string> command;
  machine::GeometryTexts machine;
  bool is_sampled = true;  // modelled events
  MetricFlags metrics;
  OutputFlags output;
};

[[nodiscard]] Result<int> run_both(const BothFlags& flags, Terminal& terminal);

}  // namespace loft::cli
