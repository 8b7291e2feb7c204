// Which functions' calls are watched, as people write it: for commands that do it.
//
//   request.patterns = split_patterns({"solve*", "Matrix::*,Vector::*"});
//   LOFT_TRY(request.longer, parse_duration("10us"));
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"

namespace loft::cli {

// "10us", "1.5ms"; nothing but a number is nanoseconds.
[[nodiscard]] Result<Nanoseconds> parse_duration(const std::string& text);

// Of several words, each at its commas; but for those between brackets, which are parts of a name:
// pair<int, long>::swap.
[[nodiscard]] std::vector<std::string> split_patterns(const std::vector<std::string>& words);

// Nothing was watched: the usual reasons.
[[nodiscard]] Result<void> check_found(std::size_t functions, const sample::CallRequest& request);

}  // namespace loft::cli
