// The names that commands understand: the kernel's, libpfm4's, the user's, and the virtual PMU's.
#pragma once

#include "event/resolver.hpp"
#include "source/virtual/counting.hpp"

namespace loft::cli {

inline event::ResolverOptions known_names(bool virtual_first = false) {
  event::ResolverOptions options;
  options.virtual_names = source::virtual_pmu::event_names;
  options.virtual_first = virtual_first;
  return options;
}

}  // namespace loft::cli
