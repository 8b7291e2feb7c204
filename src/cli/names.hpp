// The names that commands understand: the kernel's, libpfm4's, the user's, and the virtual PMU's.
#pragma once

#include "source/choice/sources.hpp"

namespace loft::cli {

inline event::ResolverOptions known_names(bool virtual_first = false) {
  return source::known_names(virtual_first ? event::PlainNames::virtual_first
                                           : event::PlainNames::never_virtual);
}

}  // namespace loft::cli
