// The data of a page as bytes: a JSON head and columns of numbers behind it. web/src/data.ts reads
// them; the layout is written there.
#pragma once

#include <string>

#include "view/page.hpp"

namespace loft::view {

// The page must be consistent.
std::string packed_page(const PageData& page);

}  // namespace loft::view
