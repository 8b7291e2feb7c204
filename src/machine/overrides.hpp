// Constants that a user knows better: lines "NAME = VALUE [unit]", '#' starts a comment.
//
//   # from the vendor's manual
//   L1_lat = 4 cycles
//   Mem_bw = 28e9 bytes_per_second
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

// $XDG_CONFIG_HOME/loft/constants
std::string overrides_path();

[[nodiscard]] Result<std::vector<model::Constant>> parse_overrides(std::string_view text,
                                                                   const std::string& name);

// A missing file overrides nothing.
[[nodiscard]] Result<std::vector<model::Constant>> read_overrides(const std::string& path);

// Replaces constants of the same name, adds the others; latencies in cycles get their time too, and
// FP_lat follows FP_add_lat and FP_mul_lat unless it is overridden itself.
void apply(const std::vector<model::Constant>& overrides, model::Machine& machine);

}  // namespace loft::machine
