// Calls of functions as a page: flame graphs of each quantity, a histogram of each function,
// tables of functions, the largest calls and callers; where all calls were kept, single calls and
// how many began over time.
#pragma once

#include "sample/calls.hpp"
#include "view/page.hpp"

namespace loft::view {

[[nodiscard]] PageData calls_page(const sample::CallRun& run);

}  // namespace loft::view
