#include "cli/stream_result.hpp"

#include "base/file_replacement.hpp"
#include "base/text.hpp"
#include "cli/written.hpp"

namespace loft::cli {

Result<void> stream_result(const std::string& file, Terminal& terminal,
                           const std::function<Result<void>(const PieceWriter&)>& show) {
  if (file.empty())
    return show([&](std::string_view piece) {
      terminal.print(piece);
      return terminal.flush();
    });
  LOFT_TRY(auto output, FileReplacement::of(file));
  Result<void> written;
  LOFT_CHECK(show([&](std::string_view piece) {
    if (written) written = output.write(piece);
    return written.has_value();
  }));
  LOFT_CHECK(written);
  LOFT_CHECK(output.commit());
  tell_written(file, terminal);
  return {};
}

void tell_written(const std::string& file, Terminal& terminal) {
  if (terminal.notes_is_terminal()) terminal.note(printable(file) + " written\n");
}

}  // namespace loft::cli
