#include "top/http_request.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace loft::top {
namespace {

constexpr std::size_t kMostPath = 1024;

// "127.0.0.1:9464" without its port.
std::string_view host_of(std::string_view text) {
  if (text.starts_with('[')) return text.substr(0, text.find(']') + 1);
  return text.substr(0, text.rfind(':'));
}

// Anybody can have a name that begins with "127." point here: an address has digits alone.
bool is_loopback_name(std::string_view text) {
  const std::string host = to_lower(host_of(text));
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

bool is_graphic(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

// "GET /metrics HTTP/1.1"
int parse_first_line(std::string_view line, HttpRequest& request) {
  const auto words = split(line, ' ');
  if (words.size() != 3 || !words[2].starts_with("HTTP/1.") || !is_graphic(words[0])) return 400;
  if (words[0] != "GET") return 405;
  if (!words[1].starts_with('/') || words[1].size() > kMostPath || !is_graphic(words[1]))
    return 400;
  request.path = words[1].substr(0, words[1].find_first_of("?#"));
  return 200;
}

ParsedRequest refused(int status) { return {true, status, {}}; }

}  // namespace

ParsedRequest parse_request(std::string_view bytes, bool loopback_alone) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos)
    return bytes.size() >= kMostHead ? refused(431) : ParsedRequest{};
  if (end + 4 > kMostHead) return refused(431);  // as it was refused before its end had come
  ParsedRequest parsed;
  parsed.is_whole = true;
  std::string_view rest = bytes.substr(0, end);
  bool is_first = true;
  while (!rest.empty()) {
    const auto line_end = std::min(rest.find("\r\n"), rest.size());
    const std::string_view line = rest.substr(0, line_end);
    rest.remove_prefix(std::min(line_end + 2, rest.size()));
    if (is_first) {
      is_first = false;
      parsed.status = parse_first_line(line, parsed.request);
      if (parsed.status != 200) return parsed;
      continue;
    }
    const auto colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos || !is_graphic(line.substr(0, colon)))
      return refused(400);
    const std::string name = to_lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "accept") parsed.request.accept = to_lower(value);
    if (name == "host" && loopback_alone && !is_loopback_name(value)) return refused(403);
  }
  return is_first ? refused(400) : parsed;
}

std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Error";
  }
}

}  // namespace loft::top
