// Programs that start ranks: what loft cannot see of them when it stands in front, and the command
// that measures each rank instead.
//
//   if (const auto seen = launched_by({"srun", "./app"})) warn(seen->per_rank("loft stat"));
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loft::job {

struct LauncherCommand {
  std::string name;                    // "srun"
  std::vector<std::string> words;      // of the whole command
  std::optional<std::size_t> program;  // which of them is the ranks' program; nothing: not found
  bool ranks_are_children = false;     // at least those on this node; srun's are of a daemon

  // "srun -n 4 loft stat --job DIR -- ./app"
  [[nodiscard]] std::string per_rank(const std::string& loft_command) const;
};

// Nothing where the command is no launcher of ranks.
[[nodiscard]] std::optional<LauncherCommand> launched_by(const std::vector<std::string>& command);

}  // namespace loft::job
