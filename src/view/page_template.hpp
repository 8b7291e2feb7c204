// The page without its data, as web/ builds it: part of the program, so that no file is needed.
#pragma once

#include <string_view>

namespace loft::view {

std::string_view page_template();

// Where the data go; it stands in the template once.
inline constexpr std::string_view kPageDataPlace = "@data@";

}  // namespace loft::view
