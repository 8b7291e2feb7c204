// Where things are: the root of /sys, /proc and /dev (which tests move), the user's own files,
// and the data that is installed with loft.
#pragma once

#include <string>
#include <string_view>

namespace loft {

// The tree below which /sys, /proc and /dev are read. "/" on a real machine; a recorded tree
// of another machine in tests, so that its tables can be tried here.
class SystemRoot {
 public:
  SystemRoot() = default;
  explicit SystemRoot(std::string path) : path_(std::move(path)) {}

  // SystemRoot("/tmp/zen3").at("/sys/devices") is "/tmp/zen3/sys/devices".
  [[nodiscard]] std::string at(std::string_view absolute) const;

  // Whether this is the machine that loft runs on.
  [[nodiscard]] bool is_live() const { return path_.empty() || path_ == "/"; }

 private:
  std::string path_;
};

// $XDG_CONFIG_HOME/loft and $XDG_CACHE_HOME/loft, with their defaults below $HOME.
std::string config_directory();
std::string cache_directory();

// The folder with share/'s contents: $LOFT_SHARE, the one beside the program, or the installed one.
std::string share_directory();

}  // namespace loft
