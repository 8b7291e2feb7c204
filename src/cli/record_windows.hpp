// `loft record -a --window 30s --every 10m -o DIR`: a machine that is watched for weeks.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace loft::cli {

struct WindowFlags {
  std::string window;  // how long; empty: not asked for
  std::string every;
  std::uint64_t keep = 144;  // a day of windows that begin every ten minutes

  [[nodiscard]] bool is_given() const { return !window.empty() || !every.empty(); }
};

void add_window_flags(Command& command, WindowFlags& flags);

// Until a signal comes.
[[nodiscard]] Result<int> record_windows(const WindowFlags& flags, const std::string& folder,
                                         std::uint64_t frequency_hz, bool is_quiet,
                                         Terminal& terminal);

}  // namespace loft::cli
