// Cache lines that threads pass to each other, as `loft stat --sharing` shows them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sample/shared_lines.hpp"

namespace loft::view {

// The lines that were passed most, with who does it and what would help.
[[nodiscard]] std::string sharing_text(const sample::LineSharing& sharing);
[[nodiscard]] nlohmann::ordered_json sharing_json(const sample::LineSharing& sharing);

}  // namespace loft::view
