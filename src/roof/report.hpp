// A measured run under the roofs of a machine: what views show.
//
//   LOFT_TRY(const auto measured, measure_twice(target, machine));
//   const model::RoofReport report = report_of(measured, machine, {.top = 8});
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/roof_report.hpp"
#include "roof/measure.hpp"
#include "roof/virtual_recording.hpp"

namespace loft::roof {

struct Wanted {
  std::vector<std::string> functions;  // only those with one of these in their name; empty: all
  bool threads = false;                // each thread, too
  bool all_loops = false;              // not only those that take much of the time
  bool what_if = false;                // show what each cause costs
  bool code = false;                   // the code of functions that take much of the time
  std::size_t top = 8;                 // so many functions by themselves, the others together
  std::optional<model::RoofKind> ops;  // what counts as work; nothing: what fits the program
};

[[nodiscard]] model::RoofReport report_of(const Measured& measured, const model::Machine& machine,
                                          const Wanted& wanted);
// As it would be on another machine, for which it was measured; all times are modelled.
[[nodiscard]] model::RoofReport report_elsewhere(const Measured& measured,
                                                 const model::Machine& machine,
                                                 const model::Machine& other, const Wanted& wanted);
[[nodiscard]] model::RoofReport report_of(CountedRun run, const model::Machine& machine,
                                          const Wanted& wanted);

// What a recording of it keeps beside the counts.
[[nodiscard]] KeptAnalysis analysis_of(const Measured& measured, const model::Machine& machine);

// With the bytes that memory moves, memory's bandwidth is the only one that bounds.
[[nodiscard]] model::Machine roofs_of_memory(model::Machine machine);
// Roofs for these bytes: bandwidths in lines that each level moves.
[[nodiscard]] model::Machine roofs_for(BytesAt bytes, model::Machine machine);

}  // namespace loft::roof
