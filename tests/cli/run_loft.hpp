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

// A command as typed in a shell, whose output is kept in a folder for a moment.
inline Said run_shell(const std::string& command, const std::string& folder) {
  const int raw =
      std::system((command + " >" + folder + "/out 2>" + folder + "/notes </dev/null").c_str());
  Said said;
  said.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  said.out = read_file(folder + "/out").value_or("");
  said.notes = read_file(folder + "/notes").value_or("");
  std::system(("rm -rf " + folder).c_str());
  return said;
}

// `arguments` as typed in a shell after "loft". The user's own files are out of the way: they are
// in `home`, or in a folder of this call's own.
inline Said run_loft(const std::string& arguments, const std::string& home = {}) {
  std::string folder = "/tmp/loft-cli-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  const std::string files = home.empty() ? folder : home;
  return run_shell("XDG_CONFIG_HOME=" + files + "/config XDG_CACHE_HOME=" + files +
                       "/cache NO_COLOR=1 " LOFT_PROGRAM " " + arguments,
                   folder);
}

}  // namespace loft
