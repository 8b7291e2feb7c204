// Calls of functions as a page: flame graphs of each quantity, a histogram of each function,
// tables of functions, the largest calls and callers; where all calls were kept, single calls and
// how many began over time.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "sample/calls.hpp"
#include "view/page.hpp"

namespace loft::view {

[[nodiscard]] PageData calls_page(const sample::CallRun& run);

// When the first of its single calls began; nothing where there is none.
[[nodiscard]] std::optional<Nanoseconds> first_call(const sample::CallRun& run);
// Adds the parts of that page to one that is about more, and whose second 0 is `zero`.
void add_calls(PageData& page, const sample::CallRun& run, Nanoseconds zero);

}  // namespace loft::view
