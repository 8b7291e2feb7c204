// What is recorded, as flags of 'loft record' and as the contents of an environment: a set of such
// flags with a name, kept in $XDG_CONFIG_HOME/loft/environments.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace loft::cli {

// Zero and empty: not given.
struct RecordingFlags {
  std::vector<std::string> events;
  double slice_ms = 0;
  std::vector<std::string> types;
  std::uint64_t frequency_hz = 0;
  std::uint64_t period = 0;
  std::string stacks;
  std::string ring;

  // What was not given is taken from `other`. How often to sample is one choice of two flags.
  void fill_from(const RecordingFlags& other);
};

void add_recording_flags(Command& command, RecordingFlags& flags);

using Environments = std::map<std::string, RecordingFlags>;
[[nodiscard]] Result<Environments> load_environments(const std::string& directory);
[[nodiscard]] Result<void> save_environments(const Environments& all, const std::string& directory);
[[nodiscard]] std::string environments_file(const std::string& directory);

// The flags as they are written on a command line.
[[nodiscard]] std::string to_text(const RecordingFlags& flags);

}  // namespace loft::cli
