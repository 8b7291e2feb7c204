// What a machine is made of, from /sys and /proc below a root that tests can move.
#pragma once

#include <string>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

[[nodiscard]] Result<model::Topology> read_topology(const SystemRoot& root = {});

// CPUs to measure on: allowed ones, one per core first, then their siblings; within that the cores
// of most capacity first, one package and memory node after the other, and CPU 0, which serves most
// interrupts, last among equals.
CpuList measuring_order(const model::Topology& topology, const CpuList& allowed);

// What each CPU of the order is to the first of it.
enum class Neighbour { same_core, near, far };  // far: another package or memory node
std::vector<Neighbour> neighbours_of(const model::Topology& topology, const CpuList& order);

// CPUs worth of time that a control group grants; 0 when there is no limit.
double cgroup_cpu_limit(const SystemRoot& root = {});

}  // namespace loft::machine
