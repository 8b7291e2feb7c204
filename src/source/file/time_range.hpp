// A stretch of a recording's time as a person writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace loft::source {

using TimeRange = std::pair<std::uint64_t, std::uint64_t>;  // nanoseconds, both ends included

// "FROM,TO" in seconds since the first sample ("0.5,2"), in percent of the whole ("10%,20%"), or,
// when FROM lies beyond the length of the recording, in seconds of its own clock. Either side may
// be left out.
[[nodiscard]] Result<TimeRange> parse_time_range(std::string_view text,
                                                 const std::optional<TimeRange>& recording);

}  // namespace loft::source
