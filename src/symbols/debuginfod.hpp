// Files of debuginfod servers, by build id: for who has set DEBUGINFOD_URLS and installed
// libdebuginfod, which is loaded then. Without both, nothing is asked of anybody.
//
//   if (const std::string path = fetch_by_build_id(id, Fetched::debug_file); !path.empty()) ...
#pragma once

#include <string>

namespace loft::symbols {

enum class Fetched { debug_file, executable };

// The path in the library's own cache, where the file stays; empty where no server has it. A server
// that cannot be reached is not asked again. Safe to call from several threads.
[[nodiscard]] std::string fetch_by_build_id(const std::string& build_id, Fetched what);

}  // namespace loft::symbols
