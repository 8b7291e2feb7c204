// Everything that loft shows of a recording, made and thrown away.
#pragma once

#include <string>

#include "fuzz/targets.hpp"

namespace loft::fuzz {

// Bytes of all that was shown; 0 when it is no recording.
std::size_t show_every_view(Bytes bytes);

}  // namespace loft::fuzz
