#include "model/machine_model.hpp"

#include <algorithm>

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

const char* to_string(RoofKind kind) { return kind == RoofKind::flops ? "flops" : "bandwidth"; }

const Constant* find_constant(const Machine& machine, const std::string& name) {
  const auto found = std::find_if(machine.constants.begin(), machine.constants.end(),
                                  [&](const Constant& each) { return each.name == name; });
  return found == machine.constants.end() ? nullptr : &*found;
}

}  // namespace loft::model
