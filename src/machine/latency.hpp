// Latencies: each is the time per link of a chain in which every link needs the one before.
#pragma once

#include <string>
#include <vector>

#include "machine/plan.hpp"
#include "machine/topology.hpp"

namespace loft::machine {

// The memory that chases walk through; it must outlive the plan's items.
struct Rings {
  std::vector<Buffer> buffers;
};

// Adds the chains to the plan. What cannot be measured is said in `notes`.
[[nodiscard]] Result<Rings> plan_latencies(Plan& plan, const PlanInput& input, Workbench& bench,
                                           std::vector<std::string>& notes);

// The constants that the finished chains give, under the names that metric files use.
std::vector<model::Constant> constants_of(const Plan& plan, const Workbench& bench);

// A cache line handed from one CPU to another and back, half of that; cpus are members of the team.
struct Transfer {
  Estimate estimate;  // hand-overs per tick
};
Transfer measure_transfer(Workbench& bench, int first, int second, int windows);

// "Line_transfer_lat", with a word for a partner on the same core, or on another package or node.
std::string transfer_name(Neighbour neighbour);

}  // namespace loft::machine
