// Inside libloft: the metrics that a process knows, and what it loaded and defined itself.
#pragma once

#include <string>

#include "metric/library.hpp"

namespace loft::api {

// Installed ones, the machine's constants, the user's own, then what the process added.
[[nodiscard]] Result<metric::Library> known_metrics();

[[nodiscard]] Result<void> load_metrics(const std::string& path);
// Of those that were loaded; null behind the last.
[[nodiscard]] const char* loaded_file(std::size_t index);
[[nodiscard]] Result<void> define_constant(const std::string& name, double value);

}  // namespace loft::api
