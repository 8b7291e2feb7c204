// Bytes between the levels of memory, by a model of the machine's caches that every instruction of
// a run goes through. They join what was counted in another run of the program.
//
//   LOFT_TRY(const auto modelled, run_levels(command, streams, geometry));
//   add_levels(modelled, counted);                       // counted.functions[0].work->levels.dram
#pragma once

#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "core/geometry.hpp"
#include "roof/counted_work.hpp"
#include "roof/measure.hpp"
#include "sample/counting.hpp"

namespace loft::roof {

// Runs the program under the virtual PMU, every instruction of it through the models.
[[nodiscard]] Result<sample::RunCounts> run_levels(const std::vector<std::string>& command,
                                                   StandardStreams streams,
                                                   const core::MachineGeometry& geometry);

// By function and loop, and by thread where both runs have the same number of them. A loop has what
// its blocks have, inner loops included.
void add_levels(const sample::RunCounts& modelled, CountedWork& counted);

// Which bytes the work has.
[[nodiscard]] BytesAt bytes_of(const CountedWork& counted);

// The bytes of memory in the place of those that the core loads and stores: what has none is then
// not known, and loops without are left out.
[[nodiscard]] CountedWork with_bytes_of_memory(CountedWork counted);

}  // namespace loft::roof
