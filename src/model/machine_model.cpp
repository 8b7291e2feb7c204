#include "model/machine_model.hpp"

#include <algorithm>
#include <array>

namespace loft::model {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::stable:
      return "stable";
    case Verdict::noisy:
      return "noisy";
    case Verdict::unavailable:
      break;
  }
  return "unavailable";
}

const char* to_string(RoofKind kind) {
  constexpr std::array kNames{"flops", "bandwidth", "instructions", "integer"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* unit_of(RoofKind kind) {
  constexpr std::array kUnits{"FLOP/s", "B/s", "instructions/s", "operations/s"};
  return kUnits[static_cast<std::size_t>(kind)];
}

namespace {

const Constant* find(const std::vector<Constant>& constants, const std::string& name) {
  const auto found = std::ranges::find(constants, name, &Constant::name);
  return found == constants.end() ? nullptr : &*found;
}

}  // namespace

const Constant* find_constant(const Machine& machine, const std::string& name) {
  return find(machine.constants, name);
}

const Constant* find_core_parameter(const Machine& machine, const std::string& name) {
  return find(machine.core, name);
}

}  // namespace loft::model
