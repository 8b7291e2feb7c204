// Where a result goes and in which form: --format and -o, the same for every command.
//
// The forms of a command are rows of one table; a new export is a row and the file that writes it:
//
//   const std::vector<Output<Shown>> outputs = {{{"text", {".txt"}}, write_text},
//                                               {{"svg", {".svg"}, kNeedsTree}, write_svg}};
//   LOFT_TRY(const Output<Shown>* output, choose_output(outputs, flags));
//   use(output->needs);                              // before there is anything to show
//   LOFT_CHECK(write_output(*output, shown, flags, Stream::out, terminal));
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/stream_result.hpp"

namespace loft::cli {

struct OutputFlags {
  std::string format;  // as given; empty when the file's ending decides
  std::string file;
};

struct OutputForm {
  std::string_view name;                       // after --format
  std::vector<std::string_view> endings = {};  // of files, with their dots
  unsigned needs = 0;                          // what must be prepared for it, as its command says
};

template <class Shown>
struct Output : OutputForm {
  std::function<Result<void>(const Shown& shown, const PieceWriter& write)> write;
};

// The writer of a form that is made as a whole: `Make` gives the text, or why there is none.
template <auto Make>
inline constexpr auto whole = [](const auto& shown, const PieceWriter& write) -> Result<void> {
  const Result<std::string> made = Make(shown);
  if (!made) return Failure(made.error());
  (void)write(*made);  // whoever owns the file knows of a write that failed
  return {};
};

template <class Shown>
[[nodiscard]] std::vector<OutputForm> forms_of(const std::vector<Output<Shown>>& outputs) {
  return {outputs.begin(), outputs.end()};
}

// Which of them: --format, else the longest ending that fits -o, else the first. A file in a folder
// that does not exist is refused here, before anything is measured.
[[nodiscard]] Result<std::size_t> choose_form(std::span<const OutputForm> forms,
                                              const OutputFlags& flags);

template <class Shown>
[[nodiscard]] Result<const Output<Shown>*> choose_output(const std::vector<Output<Shown>>& outputs,
                                                         const OutputFlags& flags) {
  LOFT_TRY(const std::size_t chosen, choose_form(forms_of(outputs), flags));
  return &outputs[chosen];
}

// The names of forms, each once, for --format; and their endings, for -o.
[[nodiscard]] std::vector<std::string> names_of(std::span<const OutputForm> forms);
[[nodiscard]] std::string endings_of(std::span<const OutputForm> forms);

// Text, JSON and CSV: what every command has.
enum class Format { text, json, csv };
void add_output_flags(Command& command, OutputFlags& flags);
void add_output_flags(Command& command, OutputFlags& flags, std::span<const OutputForm> forms);
[[nodiscard]] Result<Format> choose_format(const OutputFlags& flags);

// To -o FILE (replaced as a whole), or else to the place that `terminal` has for this command:
// standard error after running a program, standard output otherwise.
enum class Stream { out, notes };
[[nodiscard]] Result<void> write_result(const OutputFlags& flags, std::string_view text,
                                        Stream stream, Terminal& terminal);

template <class Shown>
[[nodiscard]] Result<void> write_output(const Output<Shown>& output, const Shown& shown,
                                        const OutputFlags& flags, Stream stream,
                                        Terminal& terminal) {
  terminal.set_folding(output.name == "text");
  const auto written = stream == Stream::notes && flags.file.empty()
                           ? output.write(shown,
                                          [&](std::string_view piece) {
                                            terminal.note(piece);
                                            return true;
                                          })
                           : stream_result(flags.file, terminal, [&](const PieceWriter& write) {
                               return output.write(shown, write);
                             });
  terminal.set_folding(true);
  return written;
}

}  // namespace loft::cli
