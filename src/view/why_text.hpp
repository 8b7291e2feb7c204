// A verdict in a line, as every view of it says it.
//
//   why_text(why)     // "waits for DRAM (without it 4.0 × faster): 727 loads from DRAM per 1000 …"
#pragma once

#include <string>

#include "model/verdict.hpp"

namespace loft::view {

// Empty where nothing is known.
[[nodiscard]] std::string why_text(const model::Why& why);

}  // namespace loft::view
