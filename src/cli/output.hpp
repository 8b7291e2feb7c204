// Where a result goes and in which form: --format and -o, the same for every command.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace loft::cli {

enum class Format { text, json, csv };

struct OutputFlags {
  std::string format;  // as given; empty when the file's extension decides
  std::string file;
};

void add_output_flags(Command& command, OutputFlags& flags);

// --format, else the extension of -o, else text.
[[nodiscard]] Result<Format> choose_format(const OutputFlags& flags);

// To -o FILE (replaced as a whole), or else to the place that `terminal` has for this command:
// standard error after running a program, standard output otherwise.
enum class Stream { out, notes };
[[nodiscard]] Result<void> write_result(const OutputFlags& flags, std::string_view text,
                                        Stream stream, Terminal& terminal);

}  // namespace loft::cli
