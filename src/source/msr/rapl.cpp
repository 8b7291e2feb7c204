#include "source/msr/rapl.hpp"

#include <array>
#include <cmath>

namespace loft::source::msr {
namespace {

constexpr std::uint32_t kIntelUnit = 0x606;
constexpr std::uint32_t kAmdUnit = 0xC0010299;
constexpr std::array<EnergyRegister, 3> kIntelDomains = {
    {{"package", 0x611}, {"cores", 0x639}, {"dram", 0x619}}};
// The one of the cores is a single core's.
constexpr std::array<EnergyRegister, 1> kAmdDomains = {{{"package", 0xC001029B}}};

}  // namespace

std::span<const EnergyRegister> energy_registers(Vendor vendor) {
  if (vendor == Vendor::intel) return kIntelDomains;
  return kAmdDomains;
}

Result<double> joules_per_count(const Registers& registers, Vendor vendor) {
  LOFT_TRY(const std::uint64_t units,
           registers.read(vendor == Vendor::intel ? kIntelUnit : kAmdUnit));
  const auto exponent = static_cast<int>(units >> 8 & 0x1F);
  if (exponent == 0)
    return failure(ErrorKind::unsupported, "read the unit of energy",
                   "the register holds none: the machine does not have it");
  return std::ldexp(1.0, -exponent);
}

Result<double> energy_count(const Registers& registers, const EnergyRegister& domain) {
  LOFT_TRY(const std::uint64_t value, registers.read(domain.number));
  return static_cast<double>(value & 0xFFFF'FFFF);
}

}  // namespace loft::source::msr
