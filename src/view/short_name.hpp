// Names for places with little room.
//
//   short_name("(anonymous namespace)::triad", 30)    // "triad"
#pragma once

#include <string>

namespace loft::view {

// At most `width` bytes, cut at its end. `text` is printable.
std::string shortened(std::string text, std::size_t width);

// Of a function: without what says little, cut in its middle, since its end says more than its
// start.
std::string short_name(std::string text, std::size_t width);

}  // namespace loft::view
