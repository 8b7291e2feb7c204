// A drawing as a picture of points, for places that take no SVG.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace loft::cli {

// The bytes of a PNG file, twice as fine as the drawing's own size. rsvg-convert does the work: an
// error names its package where it is not installed.
[[nodiscard]] Result<std::string> rasterized(std::string_view svg);

}  // namespace loft::cli
