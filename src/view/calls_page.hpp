// Calls of functions as a page: flame graphs of each quantity, tables of functions, the largest
// calls, callers and histograms; where all calls were kept, how many began over time.
#pragma once

#include "sample/calls.hpp"
#include "view/page.hpp"

namespace loft::view {

[[nodiscard]] PageData calls_page(const sample::CallRun& run);

}  // namespace loft::view
