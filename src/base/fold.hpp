// Long lines for a narrow place.
//
//   folded("ok       seccomp       no filter is installed here\n", 30)
//     // "ok       seccomp       no\n                       filter\n ..."
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loft {

// Lines of more than `columns` characters go on in the next ones, at blanks, below the last field
// that they began (fields are told apart by two blanks). A word that does not fit stays whole.
// Colours have no width.
[[nodiscard]] std::string folded(std::string_view text, std::size_t columns);

}  // namespace loft
