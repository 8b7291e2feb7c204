// What 'loft record' says of a recording of its own, in the section that perf has no name for:
// lines of "key=value".
#pragma once

#include <string_view>

#include "base/text.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::source {

inline constexpr std::uint32_t kLoftFeature = 200;

// Empty where it says nothing.
inline std::string_view loft_fact(const perf_data::Metadata& metadata, std::string_view key) {
  for (const auto& [bit, text] : metadata.other_features) {
    if (bit != kLoftFeature) continue;
    for (const std::string_view line : split(text, '\n'))
      if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
        return line.substr(key.size() + 1);
  }
  return {};
}

}  // namespace loft::source
