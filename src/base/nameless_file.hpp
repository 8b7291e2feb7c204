// Files without a name, which vanish with their descriptor.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft {

// On disk, in $TMPDIR, else /var/tmp or /tmp: for what may be large.
[[nodiscard]] Result<Fd> temporary_file();

// In memory. `name` is what /proc shows.
[[nodiscard]] Result<Fd> memory_file(const char* name);

}  // namespace loft
