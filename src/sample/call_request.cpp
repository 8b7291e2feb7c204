#include "sample/call_request.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace loft::sample {

// A name may hold what a pattern gives a meaning: operator[], T*.
bool matches_any(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

bool is_chosen_binary(const CallRequest& request, const std::string& dso) {
  return request.dso.empty() || matches_any({request.dso}, dso) ||
         matches_any({request.dso}, dso.substr(dso.rfind('/') + 1));
}

bool is_chosen(const CallRequest& request, const std::string& name, const std::string& dso) {
  return is_chosen_binary(request, dso) && matches_any(request.patterns, name);
}

}  // namespace loft::sample
