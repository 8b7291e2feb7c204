#include "base/places.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"

namespace loft {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// XDG says that a relative path in these variables is to be ignored.
std::string xdg_directory(const char* variable, std::string_view below_home) {
  const std::string chosen = environment(variable);
  if (chosen.starts_with('/')) return join_path(chosen, "loft");
  std::string home = environment("HOME");
  if (home.empty()) home = "/";
  return join_path(join_path(home, below_home), "loft");
}

}  // namespace

std::string SystemRoot::at(std::string_view absolute) const {
  return is_live() ? std::string(absolute) : join_path(path_, absolute);
}

std::string config_directory() { return xdg_directory("XDG_CONFIG_HOME", ".config"); }

std::string cache_directory() { return xdg_directory("XDG_CACHE_HOME", ".cache"); }

std::string share_directory() {
  if (const std::string chosen = environment("LOFT_SHARE"); !chosen.empty()) return chosen;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto installed = program.parent_path().parent_path() / "share" / "loft";
    if (file_exists(installed.string())) return installed.string();
  }
  if (file_exists(LOFT_SOURCE_SHARE)) return LOFT_SOURCE_SHARE;
  return LOFT_INSTALLED_SHARE;
}

}  // namespace loft
