// Runs the built program as a user would, and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/file.hpp"

namespace loft {

struct Said {
  int status = -1;
  std::string out;
  std::string notes;  // standard error
};

// `arguments` as typed in a shell after "loft". The user's own files are out of the way: they are
// in `home`, or in a folder of this call's own.
inline Said run_loft(const std::string& arguments, const std::string& home = {}) {
  std::string folder = "/tmp/loft-cli-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  const std::string files = home.empty() ? folder : home;
  const std::string command = "XDG_CONFIG_HOME=" + files + "/config XDG_CACHE_HOME=" + files +
                              "/cache NO_COLOR=1 " LOFT_PROGRAM " " + arguments + " >" + folder +
                              "/out 2>" + folder + "/notes </dev/null";
  const int raw = std::system(command.c_str());
  Said said;
  said.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  said.out = read_file(folder + "/out").value_or("");
  said.notes = read_file(folder + "/notes").value_or("");
  std::system(("rm -rf " + folder).c_str());
  return said;
}

}  // namespace loft
