// Gives up what loft is allowed to do beyond its user's rights, once it has opened what needed
// that.
//
//   keep_capabilities({CAP_PERFMON});   // from <linux/capability.h>; all others go
#pragma once

#include <initializer_list>

namespace loft {

// Of the calling thread, and of those that it starts from now on. What it does not have, it does
// not get. A user who is root stays the owner of root's files.
void keep_capabilities(std::initializer_list<int> kept);

}  // namespace loft
