// The energy registers (RAPL) of Intel and AMD.
//
//   LOFT_TRY(const double unit, joules_per_count(*registers, Vendor::amd));
//   for (const EnergyRegister& domain : energy_registers(Vendor::amd))
//     show(domain.name, energy_count(*registers, domain).value_or(0) * unit);
#pragma once

#include <cstdint>
#include <span>

#include "source/msr/bank.hpp"

namespace loft::source::msr {

struct EnergyRegister {
  const char* name;  // "package", "cores", "dram"
  std::uint32_t number;
};

[[nodiscard]] std::span<const EnergyRegister> energy_registers(Vendor vendor);

// By the CPU's own unit register.
[[nodiscard]] Result<double> joules_per_count(const Registers& registers, Vendor vendor);

// 32 bits, which go around.
inline constexpr double kEnergyCounts = 4294967296.0;
[[nodiscard]] Result<double> energy_count(const Registers& registers, const EnergyRegister& domain);

}  // namespace loft::source::msr
