// --source: who counts. The words are those of the table of sources, the same in every command.
//
//   add_source_flag(*command, flags->source, "who counts");
//   if (flags->source.asked() == sample::Source::virtual_pmu) ...
#pragma once

#include <optional>
#include <string>

#include "cli/flags.hpp"
#include "sample/counting.hpp"

namespace loft::cli {

struct SourceFlag {
  std::string word = "auto";

  // Nothing: the command takes what serves best.
  [[nodiscard]] std::optional<sample::Source> asked() const;
  [[nodiscard]] bool is_virtual() const { return asked() == sample::Source::virtual_pmu; }
};

void add_source_flag(Command& command, SourceFlag& flag, const std::string& description);

}  // namespace loft::cli
