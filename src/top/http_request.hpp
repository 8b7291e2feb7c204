// The head of an HTTP request, as much of it as a page that can only be read needs.
//
//   const ParsedRequest parsed = parse_request(text, true);
//   if (!parsed.is_whole) wait_for_more();
//   if (parsed.status != 200) refuse(parsed.status);
#pragma once

#include <string>
#include <string_view>

namespace loft::top {

struct HttpRequest {
  std::string path;    // without what follows '?'
  std::string accept;  // the header of that name, in lower case
};

struct ParsedRequest {
  bool is_whole = false;  // the head has ended, or cannot be one whatever follows
  int status = 200;       // else 400, 403 (another host's name), 405 or 431
  HttpRequest request;
};

// Longer heads are refused.
inline constexpr std::size_t kMostHead = 8 << 10;

// `loopback_alone`: refuses names of other hosts, so that no page of elsewhere can have its own
// name point here and read along.
[[nodiscard]] ParsedRequest parse_request(std::string_view bytes, bool loopback_alone);

// "OK", "Not Found".
[[nodiscard]] std::string_view status_text(int status);

}  // namespace loft::top
