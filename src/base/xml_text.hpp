// Text for XML, SVG included: as content, or as an attribute in quotes of either kind.
#pragma once

#include <string>
#include <string_view>

namespace loft {

// What XML cannot hold becomes \xNN, as on a terminal.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace loft
