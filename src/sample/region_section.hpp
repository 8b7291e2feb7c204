// Regions that a program marked, as the bytes of a section of a recording, and back.
//
//   file.add_section(kRegionsSection, region_section(run));       // of `run`: events, threads, regions
//   LOFT_TRY(const RunCounts same, read_region_section(bytes, "perf.data"));
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sample/counting.hpp"

namespace loft::sample {

// Counts are exact ones, or missing.
[[nodiscard]] std::vector<std::byte> region_section(const RunCounts& run);

// `where` names the file in errors. Whatever the bytes are, regions are aligned with events, and
// their threads are in range.
[[nodiscard]] Result<RunCounts> read_region_section(std::span<const std::byte> bytes,
                                                    const std::string& where);

}  // namespace loft::sample
