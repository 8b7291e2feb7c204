#include "cli/output.hpp"

#include <filesystem>

#include "base/file.hpp"

namespace loft::cli {

void add_output_flags(Command& command, OutputFlags& flags) {
  command.add_option("--format", flags.format, "text, json or csv (default: by -o, else text)")
      ->check(one_of({"text", "json", "csv"}));
  command.add_option("-o,--output", flags.file,
                     "write the result to this file; its extension picks the format");
}

Result<Format> choose_format(const OutputFlags& flags) {
  std::string name = flags.format;
  if (name.empty() && !flags.file.empty()) {
    name = std::filesystem::path(flags.file).extension().string();
    if (name.starts_with('.')) name.erase(0, 1);
  }
  if (name.empty() || name == "text" || name == "txt") return Format::text;
  if (name == "json") return Format::json;
  if (name == "csv") return Format::csv;
  return failure(ErrorKind::invalid_input, "write '" + flags.file + "'",
                 "the extension '." + name + "' names no format of this command",
                 "end the name in .txt, .json or .csv, or give --format");
}

Result<void> write_result(const OutputFlags& flags, std::string_view text, Stream stream,
                          Terminal& terminal) {
  if (!flags.file.empty()) return replace_file(flags.file, text);
  if (stream == Stream::notes) {
    terminal.note(text);
  } else {
    terminal.print(text);
  }
  return {};
}

}  // namespace loft::cli
