#include "cli/stream_result.hpp"

#include "base/file_replacement.hpp"

namespace loft::cli {

Result<void> stream_result(const std::string& file, Terminal& terminal,
                           const std::function<void(const PieceWriter&)>& show) {
  if (file.empty()) {
    show([&](std::string_view piece) {
      terminal.print(piece);
      return terminal.flush();
    });
    return {};
  }
  LOFT_TRY(auto output, FileReplacement::of(file));
  Result<void> written;
  show([&](std::string_view piece) {
    if (written) written = output.write(piece);
    return written.has_value();
  });
  LOFT_CHECK(written);
  return output.commit();
}

}  // namespace loft::cli
