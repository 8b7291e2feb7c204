#include "cli/stream_result.hpp"

#include "cli/output_file.hpp"

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
  LOFT_TRY(auto output, OutputFile::create(file));
  show([&](std::string_view piece) { return output.write(piece); });
  return output.commit();
}

}  // namespace loft::cli
