// What to do about a verdict, in a sentence. It promises what was computed and nothing else.
//
//   advise("solve", why)     // "solve waits for DRAM: …; at most 4.0 × faster."
#pragma once

#include <string>

#include "model/verdict.hpp"

namespace loft::model {

// Empty where there is no cause to act on: balanced, unclear, not explained, not seen.
[[nodiscard]] std::string advise(const std::string& name, const Why& why);

}  // namespace loft::model
