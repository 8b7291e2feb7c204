#include "cli/stream_result.hpp"

#include "base/file_replacement.hpp"

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
  return output.commit();
}

}  // namespace loft::cli
