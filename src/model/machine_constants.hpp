// The constants of a machine as metric files use them: L1_lat, Mem_bw, frequency_hz, …
//
//   for (metric::Constant& constant : metric_constants(machine, "the machine file"))
//     library.add(std::move(constant), metric::Tier::machine);
#pragma once

#include <string>
#include <vector>

#include "metric/definition.hpp"
#include "model/machine_model.hpp"

namespace loft::model {

// Those that have a value. `file` is the word for where they were measured; a constant that a user
// overrides names the user's file instead.
std::vector<metric::Constant> metric_constants(const Machine& machine, const std::string& file);

}  // namespace loft::model
