// All metrics that a command knows, from where they are kept.
//
//   LOFT_TRY(const Library library, load_library({.files = files, .defines = defines}));
//
// Looked up, later ones winning: share/metrics; the machine's constants (added by the caller);
// $XDG_CONFIG_HOME/loft/metrics; PAPI's $PAPI_USER_EVENTS_FILE; $LOFT_METRICS (files and folders,
// separated by colons); files named on the command line. A file that is missing or wrong is a
// diagnostic of the library: all others stay usable.
#pragma once

#include <string>
#include <vector>

#include "metric/library.hpp"

namespace loft::metric {

struct LoadOptions {
  std::vector<std::string> files;    // --metrics
  std::vector<std::string> defines;  // --define NAME=VALUE
  bool shared = true;                // what is installed with loft
  bool personal = true;              // the user's own folder and the two variables
};

// Only a wrong --define fails.
[[nodiscard]] Result<Library> load_library(const LoadOptions& options);

// Adds a file, or every metric file of a folder. What cannot be read becomes a diagnostic.
void load_path(Library& library, const std::string& path, Tier tier);

// PAPI's presets as aliases, with a variant for each way to get them.
void add_presets(Library& library);

}  // namespace loft::metric
