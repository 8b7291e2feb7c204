#include "job/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::job {
namespace {

struct Known {
  std::string_view name;
  bool ranks_are_children;
};

constexpr std::array kKnown{
    Known{"srun", false},          Known{"aprun", false},       Known{"jsrun", false},
    Known{"flux", false},          Known{"mpirun", true},       Known{"mpiexec", true},
    Known{"mpiexec.hydra", true},  Known{"orterun", true},      Known{"prterun", true},
    Known{"mpirun.openmpi", true}, Known{"mpirun.mpich", true}, Known{"mpiexec.openmpi", true},
    Known{"mpiexec.mpich", true},
};

bool is_program(const std::string& word) {
  if (word.empty() || word.front() == '-') return false;
  if (word.find('/') != std::string::npos) return ::access(word.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':'))
    if (::access(join_path(folder, word).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::string LauncherCommand::per_rank(const std::string& loft_command) const {
  if (!program) return name + " ... " + loft_command + " --job DIR -- PROGRAM";
  const auto before = std::span(words).first(*program);
  const auto after = std::span(words).subspan(*program);
  return join(before, " ") + " " + loft_command + " --job DIR -- " + join(after, " ");
}

std::optional<LauncherCommand> launched_by(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  const std::string name = command.front().substr(command.front().rfind('/') + 1);
  const auto* const known =
      std::ranges::find_if(kKnown, [&](const Known& each) { return each.name == name; });
  if (known == kKnown.end()) return std::nullopt;
  if (name == "flux" && (command.size() < 2 || (command[1] != "run" && command[1] != "mini")))
    return std::nullopt;
  LauncherCommand launched{name, command, std::nullopt, known->ranks_are_children};
  // The first word that can be run: flags and their values are no programs.
  for (std::size_t i = 1; i < command.size() && !launched.program; ++i)
    if (is_program(command[i])) launched.program = i;
  return launched;
}

}  // namespace loft::job
