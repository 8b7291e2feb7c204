// A result that is too long to be held in memory, written piece by piece: to a file that takes its
// place when it is whole, or to standard output.
//
//   LOFT_CHECK(stream_result(flags.output, terminal, [&](const PieceWriter& write) {
//     show(write);
//     return Result<void>();
//   }));
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/terminal.hpp"

namespace loft::cli {

// False once a write failed: whoever writes can stop.
using PieceWriter = std::function<bool(std::string_view)>;

// `file` is empty for standard output. When `show` fails, the file that was there stays.
[[nodiscard]] Result<void> stream_result(
    const std::string& file, Terminal& terminal,
    const std::function<Result<void>(const PieceWriter&)>& show);

}  // namespace loft::cli
