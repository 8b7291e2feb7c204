// Probes by doing: each opens, counts, loads or reads the real thing and says what happened.
//
//   for (const Check& check : checks::all()) ...
#pragma once

#include <vector>

#include "base/check.hpp"
#include "base/places.hpp"

namespace loft::source::checks {

// Every probe, in the order in which a person wants to read them. Takes a fraction of a second.
std::vector<Check> all(const SystemRoot& root = {});

std::vector<Check> counters(const SystemRoot& root);  // hardware, software, tracepoints, sampling
std::vector<Check> virtual_counters(const SystemRoot&);  // our own, where the hardware has none
std::vector<Check> other_pmus(const SystemRoot& root);   // every PMU that the kernel publishes
std::vector<Check> probes(const SystemRoot& root);       // user-space functions
std::vector<Check> bpf(const SystemRoot& root);          // programs in the kernel
std::vector<Check> energy(const SystemRoot& root);       // joules and watts
std::vector<Check> environment(const SystemRoot& root);  // limits and restrictions

}  // namespace loft::source::checks
