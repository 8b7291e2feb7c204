#include "cli/output.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/written.hpp"

namespace loft::cli {
namespace {

// In the order of Format.
const std::array<OutputForm, 3> kFormats{
    {{"text", {".txt"}}, {"json", {".json"}}, {"csv", {".csv"}}}};

// Nobody wants a folder made of a mistyped name.
Result<void> check_folder(const std::string& file) {
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;
  if (file.empty() || folder.empty() || std::filesystem::is_directory(folder, ignored)) return {};
  return failure(ErrorKind::not_found, "write '" + file + "'",
                 "there is no folder '" + folder.string() + "'",
                 "make it with: mkdir -p " + folder.string());
}

bool has_ending(const std::string& file) {
  return file.find('.', file.rfind('/') + 1) != std::string::npos;
}

}  // namespace

Result<std::size_t> choose_form(std::span<const OutputForm> forms, const OutputFlags& flags) {
  LOFT_CHECK(check_folder(flags.file));
  std::size_t longest = 0;
  std::size_t chosen = forms.size();
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!flags.format.empty() && forms[i].name == flags.format) return i;
    for (const std::string_view ending : forms[i].endings) {
      if (!flags.format.empty() || !flags.file.ends_with(ending) || ending.size() <= longest)
        continue;
      longest = ending.size();
      chosen = i;
    }
  }
  if (chosen < forms.size()) return chosen;
  if (flags.format.empty() && !has_ending(flags.file)) return 0;
  return failure(ErrorKind::invalid_input, "write '" + flags.file + "'",
                 "its ending names no form of this result",
                 "end it in " + endings_of(forms) + ", or give --format");
}

std::vector<std::string> names_of(std::span<const OutputForm> forms) {
  std::vector<std::string> names;
  for (const OutputForm& form : forms)
    if (std::ranges::find(names, form.name) == names.end()) names.emplace_back(form.name);
  return names;
}

std::string endings_of(std::span<const OutputForm> forms) {
  std::vector<std::string> endings;
  for (const OutputForm& form : forms)
    for (const std::string_view ending : form.endings)
      if (std::ranges::find(endings, ending) == endings.end()) endings.emplace_back(ending);
  return join(endings, ", ");
}

void add_output_flags(Command& command, OutputFlags& flags) {
  add_output_flags(command, flags, kFormats);
}

void add_output_flags(Command& command, OutputFlags& flags, std::span<const OutputForm> forms) {
  command
      .add_option("--format", flags.format,
                  join(names_of(forms), ", ") + " (default: by -o, else text)")
      ->check(one_of(names_of(forms)));
  command.add_option(
      "-o,--output", flags.file,
      "write the result to this file; its ending picks the form: " + endings_of(forms));
}

Result<Format> choose_format(const OutputFlags& flags) {
  LOFT_TRY(const std::size_t chosen, choose_form(kFormats, flags));
  return static_cast<Format>(chosen);
}

Result<void> write_result(const OutputFlags& flags, std::string_view text, Stream stream,
                          Terminal& terminal) {
  if (!flags.file.empty()) {
    LOFT_CHECK(replace_file(flags.file, text));
    tell_written(flags.file, terminal);
    return {};
  }
  const auto format = choose_format(flags);  // one that is none of these is not for people either
  terminal.set_folding(format && *format == Format::text);
  if (stream == Stream::notes) {
    terminal.note(text);
  } else {
    terminal.print(text);
  }
  terminal.set_folding(true);
  return {};
}

}  // namespace loft::cli
