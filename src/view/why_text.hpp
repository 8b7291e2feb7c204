// A verdict in words, as every view of it says it.
//
//   verdict_text(why)     // "waits for DRAM (without it 4.0 × faster)"
//   why_text(why)         // "waits for DRAM (without it 4.0 × faster): 727 loads from DRAM …"
#pragma once

#include <string>

#include "model/verdict.hpp"

namespace loft::view {

// Both are empty where nothing is known.
[[nodiscard]] std::string verdict_text(const model::Why& why);
[[nodiscard]] std::string why_text(const model::Why& why);

}  // namespace loft::view
