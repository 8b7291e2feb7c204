// Bytes packed as a .gz file holds them.
#pragma once

#include <string>

#include "base/result.hpp"

namespace loft::view {

// `what` is named when it fails: "compress the profile".
[[nodiscard]] Result<std::string> gzipped(const std::string& plain, const std::string& what);

}  // namespace loft::view
