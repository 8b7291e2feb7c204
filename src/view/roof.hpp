// What `loft roof` shows: one or several runs under the roofs, as text, JSON, CSV or drawing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_report.hpp"
#include "sample/named_profile.hpp"

namespace loft::view {

using model::RoofReport;

// `columns` of a screen make its table narrower; 0: as wide as is good to read.
std::string roof_text(std::span<const RoofReport> runs, int columns = 0);
std::string roof_json(std::span<const RoofReport> runs);
std::string roof_csv(std::span<const RoofReport> runs);
// All runs in one drawing, under the highest of their roofs.
std::string roof_svg(std::span<const RoofReport> runs);

// Where the time of a run went, for its flame graph; nothing where that was not sampled.
using RoofProfiles = std::vector<std::optional<sample::NamedProfile>>;
// All runs in the report page; `profiles` has one element for each of them, or none at all.
[[nodiscard]] Result<std::string> roof_html(std::span<const RoofReport> runs,
                                            const RoofProfiles& profiles = {});

}  // namespace loft::view
