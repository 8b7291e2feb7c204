// Calls as the bytes of a section of a recording, and back.
//
//   const std::vector<std::byte> bytes = call_section(run);
//   LOFT_TRY(const CallRun same, read_call_section(bytes, "calls.data"));
//
// Numbers are written in as few bytes as they need, times as distances to the one before: a call
// with two counts takes a dozen bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sample/calls.hpp"

namespace loft::sample {

[[nodiscard]] std::vector<std::byte> call_section(const CallRun& run);

// `where` names the file in errors. Whatever the bytes are, indices of the result are in range.
[[nodiscard]] Result<CallRun> read_call_section(std::span<const std::byte> bytes,
                                                const std::string& where);

}  // namespace loft::sample
