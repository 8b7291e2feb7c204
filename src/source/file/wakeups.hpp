// Who woke whom, as a recording tells it.
#pragma once

#include "sample/wakeups.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

// Tasks have the names that the recording knows, and else those that they had when it was made.
// `unsupported` where it holds none.
[[nodiscard]] Result<std::vector<sample::Wakeups>> read_wakeups(const Recording& recording);

}  // namespace loft::source
