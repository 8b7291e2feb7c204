// Which calls are to be counted, and what of each: the same for every way to count them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace loft::sample {

struct CallRequest {
  std::vector<std::string> patterns;  // on demangled names, as a shell has them: "solve*"
  std::string dso;                    // a pattern on the path or the last part of it; empty for all
  std::vector<std::string> events;    // counted per call, as they were named; may be empty

  bool only_counts = false;  // how often each was called, and nothing else: cheaper, natively

  // Single calls. Statistics are of all calls, whatever is kept.
  bool keeps_calls = false;
  Nanoseconds longer{0};    // only those that took at least so long
  std::uint32_t depth = 0;  // only those with fewer watched calls around them; 0 is no limit
  std::uint64_t most_kept = 1u << 20;  // per thread; what comes after is counted as lost

  // A function is left alone when watching it takes more than this share of the program's time.
  double budget = 0.01;
  bool has_budget = false;
};

// Whether one of the patterns matches the whole of the text, or is it.
[[nodiscard]] bool matches_any(const std::vector<std::string>& patterns, const std::string& text);

// Whether the request is about functions of that binary.
[[nodiscard]] bool is_chosen_binary(const CallRequest& request, const std::string& dso);

// Whether the request is about this function of that binary. `name` is demangled.
[[nodiscard]] bool is_chosen(const CallRequest& request, const std::string& name,
                             const std::string& dso);

}  // namespace loft::sample
