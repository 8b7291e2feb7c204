// Tracepoints by "group:name", numbered by the kernel in tracefs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::event {

// not_found when tracefs can be read and has none of this name; permission or unsupported, with the
// way out, when tracefs itself cannot be read.
[[nodiscard]] Result<Event> find_tracepoint(const SystemRoot& root, std::string_view group,
                                            std::string_view name);

// All of them as "group:name"; the same errors for tracefs itself.
[[nodiscard]] Result<std::vector<std::string>> list_tracepoints(const SystemRoot& root);

}  // namespace loft::event
