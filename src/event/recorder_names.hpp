// What a recording of cores says of who recorded it (event::recording::fact::kRecorder). Readers
// tell by it whether run times are measured or estimates.
#pragma once

#include <string_view>

namespace loft::event::recording {

inline constexpr std::string_view kTop = "top";
// The kernel said how busy a core was in ticks alone.
inline constexpr std::string_view kTopByTicks = "top, run time by ticks";

[[nodiscard]] constexpr bool estimates_run_time(std::string_view recorder) {
  return recorder == kTopByTicks;
}

}  // namespace loft::event::recording
