#include "cli/call_flags.hpp"

#include "base/text.hpp"

namespace loft::cli {

Result<Nanoseconds> parse_duration(const std::string& text) {
  const auto unit = text.find_first_not_of("0123456789.");
  const std::string name = unit == std::string::npos ? "ns" : text.substr(unit);
  const auto number = parse_double(text.substr(0, unit));
  for (const auto& [known, factor] : {std::pair{"ns", 1.0},
                                      {"us", 1e3},
                                      {"µs", 1e3},
                                      {"ms", 1e6},
                                      {"s", 1e9},
                                      {"m", 60e9},
                                      {"h", 3600e9}})
    if (number && name == known && *number * factor < 9e18)
      return Nanoseconds(static_cast<Nanoseconds::rep>(*number * factor));
  return failure(ErrorKind::invalid_input, "read a duration", "'" + text + "' is none",
                 "write it as 10us, 1.5ms, 2s or 10m");
}

std::vector<std::string> split_patterns(const std::vector<std::string>& words) {
  std::vector<std::string> patterns;
  for (const std::string& word : words) {
    patterns.emplace_back();
    int depth = 0;
    for (const char c : word) {
      if (c == '<' || c == '(') ++depth;
      if (c == '>' || c == ')') --depth;
      if (c == ',' && depth == 0)
        patterns.emplace_back();
      else
        patterns.back() += c;
    }
  }
  return patterns;
}

Result<void> check_found(std::size_t functions, const sample::CallRequest& request) {
  if (functions != 0) return {};
  return failure(ErrorKind::not_found, "watch calls of '" + join(request.patterns, ",") + "'",
                 request.dso.empty() ? "no function of the program has such a name"
                                     : "no function of '" + request.dso + "' has such a name",
                 "it may be inlined everywhere, or the binary stripped; put the pattern in quotes, "
                 "and try '*name*'");
}

}  // namespace loft::cli
