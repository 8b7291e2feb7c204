// The sweep through working sets: what an access costs at each size, from a few KiB to `most`
// bytes.
#pragma once

#include <functional>
#include <vector>

#include "machine/workbench.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

// Two sizes per doubling.
std::vector<std::uint64_t> sweep_sizes(std::uint64_t most);

// Latency by a random chase in huge pages, bandwidth by the load kernel of `isa`; both the best of
// `passes` visits to each size.
[[nodiscard]] Result<std::vector<model::SweepPoint>> sweep(Workbench& bench, Isa isa,
                                                           std::uint64_t most, int passes);

}  // namespace loft::machine
