// What 'loft record' says of a recording of its own, in the section that perf has no name for:
// lines of "key=value".
#pragma once

#include <string_view>

#include "base/text.hpp"
#include "event/recording_schema.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::source {

// Empty where it says nothing.
inline std::string_view loft_fact(const perf_data::Metadata& metadata, std::string_view key) {
  for (const auto& [bit, text] : metadata.other_features) {
    if (bit != event::recording::kFactsSection) continue;
    for (const std::string_view line : split(text, '\n'))
      if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
        return line.substr(key.size() + 1);
  }
  return {};
}

// Which recorder wrote the recording; empty where it does not say.
inline std::string_view recorder_of(const perf_data::Metadata& metadata) {
  const auto name = loft_fact(metadata, event::recording::fact::kRecorder);
  return name.empty() ? loft_fact(metadata, event::recording::fact::kRecorderBefore) : name;
}

}  // namespace loft::source
