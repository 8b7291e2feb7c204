// The caches, TLBs and branch predictor that the models take for a machine.
//
//   LOFT_TRY(const core::MachineGeometry geometry, chosen_geometry({.caches = "L1D=48k,12"}));
#pragma once

#include <string>

#include "base/places.hpp"
#include "base/result.hpp"
#include "core/geometry.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

// Those of the nearest machine that is known, with the sizes that were measured.
[[nodiscard]] core::MachineGeometry geometry_of(const model::Machine& machine);

// What is to differ from this machine's, as core/geometry.hpp reads it; empty: nothing.
struct GeometryTexts {
  std::string caches, tlb, predictor;
};
// This machine's, by its machine file, or by what the system says where it was not measured.
[[nodiscard]] Result<core::MachineGeometry> chosen_geometry(const GeometryTexts& texts,
                                                            const SystemRoot& root = {});

}  // namespace loft::machine
