// Two recordings side by side.
#pragma once

#include <string>

#include "sample/task_compare.hpp"

namespace loft::view {

std::string compare_text(const sample::TaskComparison& comparison);
std::string compare_csv(const sample::TaskComparison& comparison);
std::string compare_json(const sample::TaskComparison& comparison);  // schema "loft.compare/1"
// The object without its end, so that others can add to it.
std::string open_compare_json(const sample::TaskComparison& comparison);
// The time of each phase of the work, both recordings, for the threads that ran longest.
std::string compare_svg(const sample::TaskComparison& comparison);

}  // namespace loft::view
