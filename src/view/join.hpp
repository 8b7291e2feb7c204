// Runs of one program joined interval by interval.
#pragma once

#include <string>

#include "sample/task_join.hpp"

namespace loft::view {

std::string join_text(const sample::TaskJoin& joined);
std::string join_csv(const sample::TaskJoin& joined);
std::string join_json(const sample::TaskJoin& joined);  // schema "loft.join/1"

}  // namespace loft::view
