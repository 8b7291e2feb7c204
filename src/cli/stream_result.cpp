#include "cli/stream_result.hpp"

#include "cli/output_file.hpp"

namespace loft::cli {

Result<void> stream_result(const std::string& file, Terminal& terminal,
                           const std::function<Result<void>(const PieceWriter&)>& show) {
  if (file.empty())
    return show([&](std::string_view piece) {
      terminal.print(piece);
      return terminal.flush();
    });
  LOFT_TRY(auto output, OutputFile::create(file));
  LOFT_CHECK(show([&](std::string_view piece) { return output.write(piece); }));
  return output.commit();
}

}  // namespace loft::cli
