// The code of a function, read from its binary and disassembled: for recordings, whose program does
// not run under the engine.
//
//   LOFT_TRY(const auto code, code_in_file("/usr/bin/app", build_id, 0x1139, 0x1180));
//   for (const FileInstruction& each : code) print(each.address, each.text);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace loft::source::virtual_pmu {

struct FileInstruction {
  std::uint64_t address = 0;  // as the binary's own tables have it
  std::uint8_t length = 0;
  std::string text;
  std::uint64_t target = 0;  // of a direct branch; 0: none
};

// From `start` to before `end`, at most a megabyte. A file whose build id is not the recorded one
// was replaced since: its code is another. An empty build id fits any file.
[[nodiscard]] Result<std::vector<FileInstruction>> code_in_file(const std::string& path,
                                                                const std::string& build_id,
                                                                std::uint64_t start,
                                                                std::uint64_t end);

}  // namespace loft::source::virtual_pmu
