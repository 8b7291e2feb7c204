// Measures in a second process, so that nothing is lost when loft itself is ended by SIGKILL.
//
//   return run_guarded("watch calls", [&](int life) { return record(life); });
//
// The second process does the work and returns what that gave. The first one, which a user knows as
// loft, passes signals on to it and returns its exit status. When the first is gone, the other side
// of `life` is: the work then ends as it would have ended after a signal, and what it has is
// written.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace loft::cli {

[[nodiscard]] Result<int> run_guarded(const std::string& what,
                                      const std::function<Result<int>(int life)>& work);

}  // namespace loft::cli
