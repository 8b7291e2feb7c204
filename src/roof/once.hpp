// A roofline from one run alone, under the virtual PMU: for programs that must not run twice, or do
// something else the second time. It is recorded, and the recording read (roof_recording.hpp).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "roof/virtual_recording.hpp"

namespace loft::roof {

// The recording stays in `file`, or nowhere when that is empty.
[[nodiscard]] Result<CountedRun> run_once(const std::vector<std::string>& command,
                                          const std::string& file);

}  // namespace loft::roof
