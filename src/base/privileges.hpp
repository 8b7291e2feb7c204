// Gives up what loft is allowed to do beyond its user's rights, once it has opened what needed
// that.
//
//   const std::array kept{CAP_PERFMON};   // from <linux/capability.h>
//   keep_capabilities(kept);              // all others go
#pragma once

#include <span>

namespace loft {

// Of the calling thread, and of those that it starts from now on. What it does not have, it does
// not get. A user who is root stays the owner of root's files.
void keep_capabilities(std::span<const int> kept);

}  // namespace loft
