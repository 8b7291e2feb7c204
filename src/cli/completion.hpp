// Shell completions, written from the same description of flags that --help prints.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.hpp"

namespace loft::cli {

// The completion script of `app` for "bash", "zsh" or "fish".
[[nodiscard]] Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace loft::cli
