// What held a run back when: windows of the model, each with how far the program had come, and the
// slices of time in which it had come as far.
//
//   const auto phases = phases_of(keeper.windows(), timer);
//   explain_slices(phases, instructions, subjects);       // sets Subject::why of slices
//   report.phases = stretches_of(phases, keeper.functions(), instructions, subjects);
//
// A slice has the causes of the windows that fall into it. They are not held against a measured
// time: the work of a slice is itself an estimate.
#pragma once

#include <map>
#include <vector>

#include "model/roof_report.hpp"
#include "roof/why.hpp"

namespace loft::roof {

struct Phase {
  double instructions = 0;                              // that the program had executed before
  model::TimedPart part;                                // of all functions
  std::map<std::uint32_t, model::TimedPart> functions;  // by their number in the windows
};

// The windows have passed check().
[[nodiscard]] std::vector<Phase> phases_of(
    const std::vector<source::virtual_pmu::KeptWindow>& windows, WindowTimer& timer);

// `all` are the instructions of the whole run. Slices are in order of time.
void explain_slices(const std::vector<Phase>& phases, double all,
                    std::vector<model::Subject>& subjects);

// Stretches with one cause each, of the run and of functions with a tenth of its time. Nothing of
// what has the same cause from beginning to end.
[[nodiscard]] std::vector<model::RoofPhase> stretches_of(
    const std::vector<Phase>& phases,
    const std::vector<source::virtual_pmu::WindowKeeper::Function>& functions, double all,
    const std::vector<model::Subject>& subjects);

}  // namespace loft::roof
