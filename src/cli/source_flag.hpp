// --source: who counts. The words are those of the table of sources, the same in every command.
//
//   add_source_flag(*command, flags->source, "who counts");
//   if (flags->source.asked() == sample::Source::virtual_pmu) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "sample/counting.hpp"

namespace loft::cli {

struct SourceFlag {
  std::string word = "auto";

  // Nothing: the command takes what serves best.
  [[nodiscard]] std::optional<sample::Source> asked() const;
  [[nodiscard]] bool is_virtual() const { return asked() == sample::Source::virtual_pmu; }
};

// `more` are words of this command alone; asked() knows none of them.
void add_source_flag(Command& command, SourceFlag& flag, const std::string& description,
                     const std::vector<std::string>& more = {});

}  // namespace loft::cli
