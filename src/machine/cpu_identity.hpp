// Who a CPU says it is, what it claims, and where its claims do not fit together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/places.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

struct CpuIdentity {
  std::string name;                    // "AMD EPYC 7763 64-Core Processor"
  std::string signature;               // "AuthenticAMD 25 17 1", or the parts of arm64's MIDR
  std::string hypervisor;              // "KVM"; empty on bare metal
  double nominal_hz = 0;               // what it says of its base clock, 0: nothing
  std::uint64_t last_level_bytes = 0;  // CPUID's own figure for the last-level cache, 0: none
  int last_level_sharers = 0;          // and for how many CPUs share it
};

CpuIdentity read_cpu_identity(const SystemRoot& root = {});

// What the machine is now that a measurement depends on.
model::System read_system(const CpuIdentity& identity, const model::Topology& topology,
                          const SystemRoot& root = {});

// Sentences about claims that contradict each other, as they do in virtual machines.
std::vector<std::string> contradictions(const CpuIdentity& identity,
                                        const model::Topology& topology);

// A key that stays the same for this machine and differs for others: CPU, topology, hypervisor, and
// the installation's own id. The id goes in as a hash, so that the file does not give it away.
std::string identity_key(const CpuIdentity& identity, const model::Topology& topology,
                         const SystemRoot& root = {});

}  // namespace loft::machine
