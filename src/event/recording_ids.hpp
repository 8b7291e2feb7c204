// Ids that loft gives to the events of its own recordings.
#pragma once

#include <cstdint>

namespace loft::event::recording {

// The first of them: above all that a kernel will ever have given, and not those of a real event.
inline constexpr std::uint64_t kFirstOwnId = std::uint64_t{1} << 40;

}  // namespace loft::event::recording
